import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFolder, UsageError } from '../lib/command-line.ts';
import { isListening } from '../lib/loopback-server.ts';
import { isAlive, readState } from '../lib/running-stack.ts';

const toError = (folder: string, reason: string): UsageError =>
  new UsageError(`The data folder ${folder} ${reason}.`);

/** In others' folders, links could lead elsewhere. @throws UsageError */
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
 * Locks the folder until the stack's state file does. The lock is a folder with the process id, which can only be
 * renamed onto an empty one: no two processes take over a killed one's lock.
 *
 * @returns Unlocks.
 * @throws UsageError if another process is starting.
 */
export function lockDataFolder(folder: string): () => void {
  const lock = join(folder, 'starting.lock');
  const own = mkdtempSync(`${lock}-`);
  writeFileSync(join(own, `${process.pid}`), '', { flag: 'wx' });
  try {
    while (!isRenamed(own, lock)) {
      for (const holder of readdirSync(lock)) {
        if (isHeld(lock, holder)) {
          throw toError(folder, `is in use by a stack that is starting (process ${holder})`);
        }
        rmSync(join(lock, holder), { force: true });
      }
    }
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    throw error;
  }
  return () => rmSync(lock, { recursive: true, force: true });
}

/** @returns False if the target is not empty. */
function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOTEMPTY', 'EEXIST'].includes(code)) return false;
    throw error;
  }
}

/** Whether the process runs, and the machine was not restarted. */
function isHeld(lock: string, holder: string): boolean {
  const { mtimeMs = 0 } = statSync(join(lock, holder), { throwIfNoEntry: false }) ?? {};
  return isAlive(Number(holder)) && mtimeMs > Date.now() - uptime() * 1_000;
}

/** Process ids are reused, so it must listen, too. */
async function runs(pid: number | undefined, url: string): Promise<boolean> {
  return isAlive(pid) && isListening(Number(URL.parse(url)?.port ?? 0));
}

/** @throws UsageError if a stack, or an engine that outlived its stack, uses the folder. */
export async function refuseFolderInUse(folder: string): Promise<void> {
  const state = readState(folder);
  if (state === undefined) return;
  const { pid, enginePid, gateway, engine, form } = state;
  if (await runs(pid, gateway)) {
    const stack = `a running stack (process ${pid}, API ${gateway}/inquiries, form ${form})`;
    throw toError(folder, `is in use by ${stack}`);
  }
  // An engine ends just after its stack, unless it hangs.
  for (let waits = 0; await runs(enginePid, engine); waits++) {
    if (waits === 50) {
      const advice = `end it with kill -9 ${enginePid}`;
      throw toError(folder, `is in use by DynamoDB Local, whose stack has ended; ${advice}`);
    }
    await sleep(100);
  }
}
