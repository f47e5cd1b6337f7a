import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/**
 * Creates and locks a file with SQLite. The operating system releases the lock when the process ends.
 *
 * @returns A function that unlocks it; undefined if another process has the lock.
 * @throws Error if the file cannot be locked.
 */
export function lockFile(file: string): (() => void) | undefined {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file);
    // This avoids a second file for the journal.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return () => lock?.close();
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}
