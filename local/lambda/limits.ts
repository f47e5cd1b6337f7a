/** Applies Lambda's limits to a process with Linux control groups (version 1 or 2). */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = '/sys/fs/cgroup';
/** Microseconds. */
const PERIOD = 20_000;
/** Lambda's share of a core. */
export const shareOf = (memoryMb: number): number => memoryMb / 1_769;
const isVersion2 = existsSync(join(ROOT, 'cgroup.controllers'));
let groups = 0;

/** Says in one sentence why processes cannot be limited; undefined if they can. */
export async function limitsUnavailableReason(): Promise<string | undefined> {
  try {
    if (isVersion2) writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+cpu +memory');
    await createLimits().remove();
    return undefined;
  } catch (error) {
    return `control groups cannot be written (${(error as Error).message})`;
  }
}

/**
 * Creates a control group with the memory limit.
 *
 * @throws Error if {@link limitsUnavailableReason} gives a reason.
 */
export function createLimits(memoryMb = 128) {
  const name = `inquiries-${process.pid}-${groups++}`;
  const folders = (isVersion2 ? [''] : ['memory', 'cpu']).map((controller) =>
    join(ROOT, controller, name),
  );
  const find = (...names: string[]): string => {
    const files = folders.flatMap((folder) => names.map((file) => join(folder, file)));
    const found = files.find((file) => existsSync(file));
    if (found === undefined) throw new Error(`there is no ${names.join(' or ')}`);
    return found;
  };
  for (const folder of folders) mkdirSync(folder);
  writeFileSync(find('memory.max', 'memory.limit_in_bytes'), String(memoryMb * 1024 * 1024));
  writeFileSync(find('memory.swap.max', 'memory.swappiness'), '0');
  return {
    enter: folders.map((folder) => `echo $$ > ${join(folder, 'cgroup.procs')}`).join(' && '),
    /** Bytes, as the limit counts. */
    peakMemory: () =>
      Number(readFileSync(find('memory.peak', 'memory.max_usage_in_bytes'), 'utf8')),
    throttle() {
      const quota = Math.round(shareOf(memoryMb) * PERIOD);
      if (isVersion2) return writeFileSync(find('cpu.max'), `${quota} ${PERIOD}`);
      writeFileSync(find('cpu.cfs_period_us'), String(PERIOD));
      return writeFileSync(find('cpu.cfs_quota_us'), String(quota));
    },
    /** The process must have ended. The kernel empties the group a moment later. */
    async remove(): Promise<void> {
      for (const folder of folders) {
        for (let attempt = 1; existsSync(folder); attempt++) {
          try {
            rmdirSync(folder);
          } catch (error) {
            if (attempt === 100) throw error;
            await sleep(10);
          }
        }
      }
    },
  };
}
