/** A sandbox of the local Lambda runtime under Lambda's limits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startSandbox as startUnlimited } from '../scripts/local/lambda/sandbox.ts';
import type { Cost, Invocation } from '../scripts/local/lambda/sandbox.ts';
import { createLimits, readResidentMemory } from './limits.ts';
import type { Limits } from './limits.ts';

export type { Cost } from '../scripts/local/lambda/sandbox.ts';

/** Peak so far, in bytes. */
export interface Memory {
  /** Resident, pages shared with other processes included. */
  readonly resident: number;
  /** Counted against the limit; NaN without limits. */
  readonly counted: number;
}

export interface Sandbox {
  readonly initialisation: Cost;
  invoke(event: string): Promise<Invocation>;
  peakMemory(): Memory;
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** The module that exports `handler`. */
  readonly module: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether memory is limited, and CPU after initialisation. */
  readonly limited: boolean;
}

/** Starts a sandbox. @throws Error when its initialisation fails. */
export async function startSandbox({ module, environment, limited }: SandboxOptions): Promise<Sandbox> {
  const limits = limited ? createLimits() : undefined;
  try {
    const { pid, initialisation, invoke, close } = await startUnlimited({
      module,
      environment,
      before: limits?.enter,
    });
    limits?.throttle();
    return {
      initialisation,
      invoke: (event) => invoke(event),
      peakMemory: () => ({
        resident: readResidentMemory(pid),
        counted: limits?.peakMemory() ?? Number.NaN,
      }),
      async close() {
        await close();
        await remove(limits);
      },
    };
  } catch (error) {
    await remove(limits);
    throw error;
  }
}

/** Removes the group. The kernel empties it a moment after the end of its process. */
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
