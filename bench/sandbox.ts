/** A sandbox of the local Lambda runtime, with Lambda's limits on its memory and CPU. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startSandbox as startUnlimited } from '../local/lambda/sandbox.ts';
import { createLimits } from './limits.ts';
import type { Limits } from './limits.ts';

export type { Cost } from '../local/lambda/sandbox.ts';

export interface SandboxOptions {
  /** The module that exports `handler`. */
  readonly module: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limited: boolean;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** Starts a sandbox; its share of the CPU is limited after initialisation. @throws Error when that fails. */
export async function startSandbox({ module, environment, limited }: SandboxOptions) {
  const limits = limited ? createLimits() : undefined;
  const starting = startUnlimited({ module, environment, before: limits?.enter });
  const sandbox = await starting.catch(async (error: unknown) => {
    await remove(limits);
    throw error;
  });
  limits?.throttle();
  return {
    ...sandbox,
    /** Peak of the bytes that are counted against the limit; NaN without limits. */
    peakMemory: (): number => limits?.peakMemory() ?? Number.NaN,
    async close() {
      await sandbox.close();
      await remove(limits);
    },
  };
}

/** The kernel empties a group a moment after the end of its process. */
async function remove(limits: Limits | undefined): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      limits?.close();
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(10);
    }
  }
}
