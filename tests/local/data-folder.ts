import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stateFileOf } from '../../lib/running-stack.ts';

/** @param onEnd - Default: the test's end removes the folder. */
export function createFolder(onEnd: (remove: () => void) => void = onTestFinished): string {
  const { path, remove } = mkdtempDisposableSync(join(tmpdir(), 'inquiries-test-'));
  onEnd(remove);
  return path;
}

export function writeState(folder: string, changes: object): void {
  const names = { issuer: '-', keysFile: '-', engine: '-', table: '-' };
  const state = { pid: process.pid, ...names, ...changes };
  writeFileSync(stateFileOf(folder), JSON.stringify(state));
}
