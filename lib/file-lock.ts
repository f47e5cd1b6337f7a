import { DatabaseSync } from 'node:sqlite';

/**
 * Locks a file, which is created, with SQLite: the operating system releases the lock when the process ends.
 *
 * @returns Releases it; undefined if another process has it.
 * @throws Error if the file cannot be locked.
 */
export function lockFile(file: string): (() => void) | undefined {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file);
    // No journal beside it.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return () => lock?.close();
  } catch (error) {
    lock?.close();
    // SQLITE_BUSY
    if ((error as { errcode?: number }).errcode === 5) return undefined;
    throw error;
  }
}
