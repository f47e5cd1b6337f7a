/** The data folder of the local stack: who uses it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../lib/command-line.ts';
import { isListening } from '../lib/loopback-server.ts';
import { isAlive, readState } from '../lib/running-stack.ts';

/** Whether a process runs and listens: process ids are reused. */
const listens = async (pid: number | undefined, url: string): Promise<boolean> =>
  isAlive(pid) && isListening(Number(URL.parse(url)?.port ?? 0));

/** @throws UsageError when a running stack, or an engine that has outlived its stack, uses a data folder. */
export async function refuseFolderInUse(folder: string): Promise<void> {
  const state = readState(folder);
  if (state === undefined) return;
  const { pid, enginePid, gateway, engine, form } = state;
  const inUse = `The data folder ${folder} is in use by`;
  if (await listens(pid, gateway)) {
    throw new UsageError(
      `${inUse} a running stack (process ${pid}, API ${gateway}/inquiries, form ${form}).`,
    );
  }
  // An engine ends a moment after its stack, unless it hangs.
  for (let waits = 0; await listens(enginePid, engine); waits++) {
    if (waits === 50) {
      throw new UsageError(
        `${inUse} DynamoDB Local, whose stack has ended; end it with kill -9 ${enginePid}.`,
      );
    }
    await sleep(100);
  }
}
