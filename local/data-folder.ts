/** The data folder of the local stack: who uses it, who may read it, and what lies in it. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { UsageError } from '../lib/command-line.ts';
import { isListening } from '../lib/loopback-server.ts';
import { isAlive, readState } from '../lib/running-stack.ts';
import { engineNames, startEngine, type EngineName } from './database/engines.ts';
import { createClient } from './database/table.ts';

/** Whether a process runs and listens: process ids are reused. */
async function listens(pid: number | undefined, url: string): Promise<boolean> {
  return isAlive(pid) && isListening(Number(URL.parse(url)?.port ?? 0));
}

/** @throws UsageError when a running stack, or an engine that has outlived its stack, uses a data folder. */
export async function refuseFolderInUse(folder: string): Promise<void> {
  const state = readState(folder);
  if (state === undefined) return;
  const { pid, enginePid, gateway, engine, form } = state;
  if (await listens(pid, gateway)) {
    throw new UsageError(
      `The data folder ${folder} is in use by a running stack (process ${pid}, API ${gateway}/inquiries, form ${form}).`,
    );
  }
  // An engine ends a moment after its stack, unless it hangs.
  for (let waits = 0; await listens(enginePid, engine); waits++) {
    if (waits === 50) {
      throw new UsageError(
        `The data folder ${folder} is in use by DynamoDB Local (process ${enginePid}), whose stack has ended; end it with kill -9 ${enginePid}.`,
      );
    }
    await sleep(100);
  }
}

/**
 * Takes the rights of other users from what a stack with another umask has left in a data folder, and from the folder.
 * A folder with other things in it, such as a home, keeps its own rights.
 */
export function makePrivate(folder: string): void {
  const names = readdirSync(folder);
  const own = names.filter((name) =>
    [...engineNames, 'stack.json', 'issuer-keys.json', 'erasure-key'].includes(name),
  );
  const restrict = (path: string): void => {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return;
    chmodSync(path, stat.mode & 0o700);
    if (stat.isDirectory()) for (const name of readdirSync(path)) restrict(join(path, name));
  };
  if (own.length === names.length) restrict(folder);
  else for (const name of own) restrict(join(folder, name));
}

/** Removes a folder also when this process is killed: a pipe to the shell then ends. @returns Ends the shell without removing. */
export function removeWithProcess(folder: string): () => void {
  const shell = spawn('/bin/sh', ['-c', 'read -r _; rm -rf "$0"', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl-C in a terminal is for this process.
    detached: true,
  });
  shell.unref();
  (shell.stdin as Socket).unref();
  return () => void shell.kill('SIGKILL');
}

/** Whether a data folder has rows that the engine stored. DynamoDB Local, which may not run here, keeps them in SQLite. */
export async function hasRows(folder: string, engine: EngineName, table: string): Promise<boolean> {
  if (!existsSync(join(folder, engine))) return false;
  if (engine === 'dynamodb-local') {
    const file = join(folder, engine, 'shared-local-instance.db');
    if (!existsSync(file)) return false;
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return database.prepare(`SELECT 1 FROM "${table}" LIMIT 1`).get() !== undefined;
    } catch {
      return false; // no such table
    } finally {
      database.close();
    }
  }
  const { url, close } = await startEngine(engine, folder);
  const client = createClient(url);
  try {
    const { Count = 0 } = await client.send(new ScanCommand({ TableName: table, Limit: 1 }));
    return Count > 0;
  } catch {
    return false; // no such table
  } finally {
    client.destroy();
    await close();
  }
}
