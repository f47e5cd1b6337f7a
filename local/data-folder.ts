import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFile } from '../lib/file-lock.ts';
import { openFolder, UsageError } from '../lib/terminal/command-line.ts';
import { isListening } from '../lib/pages/loopback-server.ts';
import { isAlive, readState } from '../lib/running-stack.ts';

const toError = (folder: string, reason: string): UsageError =>
  new UsageError(`The data folder ${folder} ${reason}.`);

/** In a folder of another user, links could lead elsewhere. @throws UsageError */
export function openDataFolder(folder: string): void {
  openFolder(folder);
  if (statSync(folder).uid !== process.getuid?.()) throw toError(folder, 'belongs to another user');
  if (isOpenToOthers(folder) && hasModes(folder)) {
    throw toError(folder, `is open to other users; close it with: chmod 700 '${folder}'`);
  }
}

const isOpenToOthers = (folder: string): boolean => (statSync(folder).mode & 0o077) !== 0;

/** Windows drives have one mode for everything (learn.microsoft.com/windows/wsl/file-permissions). */
function hasModes(folder: string): boolean {
  const created = mkdtempSync(join(folder, '.mode-test-'));
  const isClosed = !isOpenToOthers(created);
  rmSync(created, { recursive: true });
  return isClosed;
}

/**
 * Locks the folder until the process ends.
 *
 * @returns Unlocks it.
 * @throws UsageError if another stack runs or is starting, or the folder cannot be locked.
 */
export function lockDataFolder(folder: string): () => void {
  let unlock: (() => void) | undefined;
  try {
    unlock = lockFile(join(folder, 'lock'));
  } catch (error) {
    throw toError(folder, `has a “lock” that cannot be used (${(error as Error).message})`);
  }
  if (unlock !== undefined) return unlock;
  const { pid, gateway, form } = readState(folder) ?? {};
  throw toError(
    folder,
    isAlive(pid)
      ? `is in use by a running stack (process ${pid}, API ${gateway}/inquiries, form ${form})`
      : 'is in use by a stack that is starting',
  );
}

/**
 * Waits for the engine of a killed stack, which ends just after it unless it hangs.
 *
 * @throws UsageError
 */
export async function waitForEndOfEngine(folder: string): Promise<void> {
  const { enginePid, engine = '' } = readState(folder) ?? {};
  // Process ids are reused, so the process must also listen.
  const runs = async () => isAlive(enginePid) && isListening(Number(URL.parse(engine)?.port ?? 0));
  for (let waits = 0; await runs(); waits++) {
    if (waits === 50) {
      const advice = `end it with kill -9 ${enginePid}`;
      throw toError(folder, `is in use by DynamoDB Local, whose stack has ended; ${advice}`);
    }
    await sleep(100);
  }
}
