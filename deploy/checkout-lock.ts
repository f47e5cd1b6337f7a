import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '../lib/file-lock.ts';
import { MODULE } from '../lib/paths.ts';
import { isAlive } from '../lib/running-stack.ts';
import { parseObject, readIfThere, UsageError } from '../lib/terminal/command-line.ts';

const FOLDER = join(MODULE, '.terraform');

interface Holder {
  command: string;
  pid: number;
  /** The process of the program that it runs, which may outlive it. */
  program?: number | undefined;
}

/**
 * Locks what two commands of one checkout share: the packages, the form, and Terraform's folders.
 *
 * @param command - The npm command, which is named to whoever is refused.
 * @throws UsageError if another command, or a program that a killed one has left, uses the checkout.
 */
export function lockCheckout(command: string) {
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, 'holder.json');
  const unlock = lockFile(join(FOLDER, 'lock'));
  const holder = parseObject(readIfThere(file) ?? '') as Holder | undefined;
  if (unlock === undefined) {
    const user = holder ? `${holder.command} (process ${holder.pid})` : 'Another command';
    throw new UsageError(`${user} uses this checkout. Wait for its end, or work in another clone.`);
  }
  if (isAlive(holder?.program)) {
    unlock();
    throw new UsageError(
      `Process ${holder?.program}, which the killed ${holder?.command} has left, still uses this checkout. Wait for its end. If it is another program by now, remove ${file}.`,
    );
  }
  const tell = (program?: number): void =>
    writeFileSync(file, JSON.stringify({ command, pid: process.pid, program } satisfies Holder));
  tell();
  return {
    /** Names the program that runs now. */
    tell,
    release: (): void => {
      rmSync(file, { force: true });
      unlock();
    },
  };
}
