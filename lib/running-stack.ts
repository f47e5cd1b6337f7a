/** The state file of a running local stack (npm start), by which other commands find it. */
import { join, resolve } from 'node:path';
import { parseObject, readIfThere, UsageError } from './command-line.ts';

export interface StackState {
  readonly pid: number;
  /** Addresses. */
  readonly gateway: string;
  readonly form: string;
  readonly mailbox: string | undefined;
  readonly issuer: string;
  readonly engine: string;
  readonly keysFile: string;
  /** The table's name. */
  readonly table: string;
}

export const stateFileOf = (folder: string): string => join(folder, 'stack.json');

/**
 * Reads the state file in a data folder.
 *
 * @throws UsageError when there is none or its process has ended.
 */
export function readRunningStack(folder: string): StackState {
  const file = stateFileOf(resolve(folder));
  const text = readIfThere(file);
  if (text === undefined) {
    throw new UsageError(
      `No local stack is running (cannot read ${file}); start it with npm start, or pass the --data that it printed.`,
    );
  }
  const state = parseObject(text) ?? {};
  const names = ['issuer', 'keysFile', 'engine', 'table'];
  if (typeof state['pid'] !== 'number' || !names.every((name) => typeof state[name] === 'string')) {
    throw new UsageError(`${file} does not describe a local stack; restart it with npm start.`);
  }
  try {
    process.kill(state['pid'], 0);
  } catch {
    throw new UsageError(
      `No local stack is running (process ${state['pid']} of ${file} has ended); start it with npm start.`,
    );
  }
  return state as unknown as StackState;
}
