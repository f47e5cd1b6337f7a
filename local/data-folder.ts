/** The data folder of the local stack: who uses it. */
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
  const isRunning = await listens(pid, gateway);
  // An engine ends a moment after its stack, unless it hangs.
  if (!isRunning && !(await listens(enginePid, engine))) return;
  const user = isRunning
    ? `a running stack (process ${pid}, API ${gateway}/inquiries, form ${form})`
    : `DynamoDB Local, whose stack has ended; end it with kill -9 ${enginePid}`;
  throw new UsageError(`The data folder ${folder} is in use by ${user}.`);
}
