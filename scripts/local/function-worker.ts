/** Runs in a worker thread: the part of the Lambda runtime that calls the handler and formats its log lines. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { replaceConsole } from './lambda-console.ts';

export interface WorkerInput {
  /** URL of the module that exports `handler`. */
  readonly handler: string;
}

export interface Invocation {
  readonly id: number;
  /** The event as JSON. */
  readonly event: string;
  readonly requestId: string;
  /** When it times out, in milliseconds since the epoch. */
  readonly deadline: number;
}

/** What became of an invocation: the result as JSON, or the name of the error that the handler threw. */
export type InvocationResult =
  | { readonly id: number; readonly result: string; readonly error?: never }
  | { readonly id: number; readonly error: string };

type Handler = (event: unknown, context: object) => Promise<unknown>;

const requests = new AsyncLocalStorage<string>();

replaceConsole((level, message) => ({
  timestamp: new Date().toISOString(),
  level,
  requestId: requests.getStore(),
  message,
}));

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the module exports is not known before
const { handler } = (await import((workerData as WorkerInput).handler)) as { handler: Handler };

parentPort?.on('message', ({ id, event, requestId, deadline }: Invocation) => {
  const context = {
    awsRequestId: requestId,
    functionName: 'inquiries-local',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:local:000000000000:function:inquiries-local',
    logGroupName: '/aws/lambda/inquiries-local',
    logStreamName: 'local',
    memoryLimitInMB: '128',
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
  void requests.run(requestId, async () => {
    let outcome: InvocationResult;
    try {
      outcome = { id, result: JSON.stringify(await handler(JSON.parse(event), context)) ?? 'null' };
    } catch (error) {
      outcome = { id, error: error instanceof Error ? error.name : 'Error' };
    }
    parentPort?.postMessage(outcome);
  });
});
parentPort?.postMessage('ready');
