import { Lambda, LambdaServiceException } from '@aws-sdk/client-lambda';
import { NETWORK } from '../../lib/aws/aws.ts';
import { assert } from '../../lib/contract/contract-checks.ts';
import { parseObject } from '../../lib/terminal/command-line.ts';
import { Pending } from './run-checks.ts';

/** More than the function's own timeout of 30 s. */
const TIMEOUT_MS = 35_000;
const lambda = new Lambda({
  ...NETWORK,
  requestHandler: {
    ...NETWORK.requestHandler,
    requestTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  },
});

export type Invoke = (event: object) => Promise<{
  result: Record<string, unknown>;
  /** The end of the invocation's log: lines of JSON. */
  log: Record<string, unknown>[];
}>;

/** AWS or the function has failed, so that the check may pass later. */
export class Unavailable extends Error {}

/** @throws {@link Unavailable} when the invocation fails, or Lambda does not run it. */
export const createInvoke =
  (FunctionName: string): Invoke =>
  async (event) => {
    const request = { FunctionName, LogType: 'Tail', Payload: JSON.stringify(event) } as const;
    const found = await lambda.invoke(request).catch((error: Error) => {
      // A version that was idle for weeks is 409 at first; permissions take effect after seconds.
      const isOfAws = error instanceof LambdaServiceException || error.name === 'TimeoutError';
      throw isOfAws ? new Unavailable(`${error.name}: ${error.message}`, { cause: error }) : error;
    });
    const text = found.Payload?.transformToString() ?? '';
    if (found.FunctionError !== undefined) throw new Unavailable(`${FunctionName} failed: ${text}`);
    const lines = String(Buffer.from(found.LogResult ?? '', 'base64')).split('\n');
    return {
      result: parseObject(text) ?? {},
      log: lines.map(parseObject).filter((line) => line !== undefined),
    };
  };

/** Megabytes above which the alarm function-memory is raised. */
const MOST_MEMORY_MB = 115;

export interface Line {
  record?: { metrics?: { maxMemoryUsedMB?: number; initDurationMs?: number } };
}

/** Lambda's measurements in the log of invocations. @throws {@link Pending} if it has none. */
export function readMetrics(log: Line[]) {
  const metrics = log.flatMap(({ record }) => record?.metrics ?? []);
  if (metrics.length > 0) return metrics;
  throw new Pending('the log of an invocation ends without platform.report');
}

/** @throws Error if instances of the function used more than they should. @returns Most megabytes. */
export function checkMemory(log: Line[]): number {
  const memory = Math.max(...readMetrics(log).map(({ maxMemoryUsedMB = 0 }) => maxMemoryUsedMB));
  assert(memory <= MOST_MEMORY_MB, `${memory} of 128 MB: docs/runbook.md, "function-memory"`);
  return memory;
}
