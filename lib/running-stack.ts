import { join, resolve } from 'node:path';
import { parseObject, readIfThere, UsageError } from './terminal/command-line.ts';

export interface StackState {
  pid: number;
  gateway: string;
  form: string;
  inbox?: string | undefined;
  /** Absent on dynalite, which has no streams. */
  mailbox?: string | undefined;
  smtp?: string | undefined;
  mailStore?: string | undefined;
  issuer: string;
  /** Where users sign in; absent: the local issuer. */
  usersIssuer?: string | undefined;
  engine: string;
  /** Absent for an engine without a process. */
  enginePid?: number | undefined;
  keysFile: string;
  table: string;
}

/** The SDK's clients would otherwise take the user's settings, which they refuse with an endpoint. */
export const LOCAL = {
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  defaultsMode: 'standard',
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
} as const;

export const stateFileOf = (folder: string): string => join(folder, 'stack.json');

/** @throws UsageError without a valid file and its process. */
export function readRunningStack(folder: string): StackState {
  const state = readState(folder);
  if (state !== undefined && isAlive(state.pid)) return state;
  const file = stateFileOf(resolve(folder));
  throw new UsageError(
    `No stack of ${file} is running; start it with npm start, or pass the --data that it printed.`,
  );
}

/** Also reads the state of a killed stack. @returns undefined without a valid file. */
export function readState(folder: string): StackState | undefined {
  const state = parseObject(readIfThere(stateFileOf(folder)) ?? '') ?? {};
  const names = ['issuer', 'keysFile', 'engine', 'table'];
  const isWhole =
    typeof state['pid'] === 'number' && names.every((name) => typeof state[name] === 'string');
  return isWhole ? (state as unknown as StackState) : undefined;
}

/** Linux: whether a process has ended, and its parent does not ask for its exit code, as in a container without an init. */
const isZombie = (pid: number): boolean => /\) Z /.test(readIfThere(`/proc/${pid}/stat`) ?? '');

export function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0) && !isZombie(pid);
  } catch {
    return false;
  }
}
