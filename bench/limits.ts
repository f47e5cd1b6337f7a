/** Lambda's limits on a process, by Linux control groups (version 1 or 2) where they may be written. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
/** The function's memory in bytes. */
export const MEMORY = 128 * 1024 * 1024;
/** Lambda's share of a core is memory / 1769 MB: 7.2 %, here in periods of 20 ms. */
export const PERIOD = 20_000;
export const QUOTA = 1_440;

/** One group of limits around one process. */
export interface Limits {
  /** Shell code that puts the shell itself under the limits. */
  readonly enter: string;
  /** Most bytes that the limit has counted so far. */
  peakMemory(): number;
  /** From now on the group gets its share of a core; until then it may have all of it. */
  throttle(): void;
  /** Removes the group; its process must be gone. */
  close(): void;
}

/** What a version of control groups calls things. */
interface Dialect {
  /** The folders of a group of this name. */
  folders(name: string): string[];
  readonly memory: readonly (readonly [file: string, value: string | number])[];
  readonly throttle: readonly (readonly [file: string, value: string | number])[];
  /** The file that says how much memory has been counted at most. */
  readonly peak: string;
}

const version1: Dialect = {
  folders: (name) => [join(ROOT, 'memory', name), join(ROOT, 'cpu', name)],
  memory: [
    ['memory.limit_in_bytes', MEMORY],
    ['memory.swappiness', 0],
  ],
  throttle: [
    ['cpu.cfs_period_us', PERIOD],
    ['cpu.cfs_quota_us', QUOTA],
  ],
  peak: 'memory.max_usage_in_bytes',
};

const version2: Dialect = {
  folders: (name) => [join(ROOT, name)],
  memory: [
    ['memory.max', MEMORY],
    ['memory.swap.max', 0],
  ],
  throttle: [['cpu.max', `${QUOTA} ${PERIOD}`]],
  peak: 'memory.peak',
};

const dialect = existsSync(join(ROOT, 'cgroup.controllers')) ? version2 : version1;
let groups = 0;

/** Why processes cannot be limited here, in one sentence, or undefined when they can. */
export function limitsUnavailableReason(): string | undefined {
  try {
    if (dialect === version2) writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+cpu +memory');
    const limits = createLimits();
    try {
      limits.throttle();
    } finally {
      limits.close();
    }
    return undefined;
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    return `control groups cannot be written (${code ?? String(error)}${path === undefined ? '' : ` on ${path}`})`;
  }
}

/** Creates a group with the memory limit set. @throws Error where {@link limitsUnavailableReason} has an answer. */
export function createLimits(): Limits {
  const folders = dialect.folders(`inquiries-bench-${process.pid}-${groups++}`);
  const find = (file: string): string => {
    const path = folders.map((folder) => join(folder, file)).find((candidate) => existsSync(candidate));
    if (path === undefined) throw new Error(`${file} is missing`);
    return path;
  };
  const set = (settings: Dialect['memory']): void => {
    for (const [file, value] of settings) writeFileSync(find(file), String(value));
  };
  for (const folder of folders) mkdirSync(folder);
  set(dialect.memory);
  return {
    enter: folders.map((folder) => `echo $$ > ${join(folder, 'cgroup.procs')}`).join(' && '),
    peakMemory: () => Number(readFileSync(find(dialect.peak), 'utf8')),
    throttle: () => set(dialect.throttle),
    close() {
      for (const folder of folders) rmdirSync(folder);
    },
  };
}
