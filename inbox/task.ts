import { isConfirmed } from '../lib/terminal/command-line.ts';
import { wrapLine } from '../lib/terminal/terminal-text.ts';
import type { Command } from './options.ts';
import { toJsonLine } from './output.ts';

export const UNCHANGED = 'Nothing was deleted.';
export const DRY_RUN = 'This was a dry run; nothing was deleted. --yes deletes.';

/** What a verb needs that deletes: its connection, and how it says, prints and asks. */
export type Task = ReturnType<typeof createTask>;

type Consent = 'given' | 'asked' | 'absent';

function consentOf({ io, values }: Command): Consent {
  if (values.yes === true) return 'given';
  return io.stdin.isTTY === true && io.stderr.isTTY === true ? 'asked' : 'absent';
}

export function createTask(command: Command) {
  const { io, isInteractive } = command;
  const { stdin, stdout, stderr } = io;
  const consent = consentOf(command);
  const connection = command.connect();
  /** @returns Whether it was asked and the answer was another one than `expected`. */
  const isRefused = async (expected: string, purpose: string): Promise<boolean> => {
    if (consent !== 'asked') return false;
    const streams = { stdin, stdout: stderr };
    return !(await isConfirmed(`Type ${expected} to ${purpose}: `, expected, undefined, streams));
  };
  const say = (text: string): void => {
    for (const line of text.split('\n')) {
      // Commands stay whole, to be copied.
      stderr.write(`${line.includes('npm run') ? line : wrapLine(line, stderr.columns)}\n`);
    }
  };
  return {
    io,
    connection,
    consent,
    isRefused,
    say,
    /** @returns Whether to go on, or this was a dry run. @throws Error if the question is answered otherwise. */
    async isAgreed(purpose: string): Promise<boolean> {
      if (consent === 'absent') say(DRY_RUN);
      else if (await isRefused(connection.stage, purpose)) throw new Error(UNCHANGED);
      return consent !== 'absent';
    },
    print: (text: string, data: object): boolean =>
      stdout.write(isInteractive ? text : toJsonLine(data)),
  };
}
