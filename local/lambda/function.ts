/** The Lambda service for one function: a pool of sandboxes, and a queue while all of them are busy. */
import { limits } from '../../lib/gateway-replies.ts';
import { FunctionTimeout, startSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';

export type LocalFunction = Awaited<ReturnType<typeof startFunction>>;

export interface FunctionOptions extends SandboxOptions {
  timeout: number;
  /** Most processes at a time. Default: 4. */
  concurrency?: number;
  /** Starts the first sandbox with the first invocation. */
  lazy?: boolean;
}

interface Queued {
  event: string;
  requestId: string;
  answer: PromiseWithResolvers<string>;
}

/** Starts the function with one sandbox, or with none (`lazy`). @throws Error when its initialisation fails. */
export async function startFunction({
  concurrency = 4,
  lazy = false,
  ...options
}: FunctionOptions) {
  const integrationTimeout = Math.max(limits.timeout, options.timeout);
  let capacity = concurrency;
  const queue = new Set<Queued>();
  const sandboxes = new Set<Promise<Sandbox>>();
  /** The last one used comes last and is used next, as on Lambda. A reload puts a new set in its place. */
  let idle = new Set<Sandbox>();

  const start = (): Promise<Sandbox> => {
    const sandbox = startSandbox(options);
    const forget = (): void => {
      sandboxes.delete(sandbox);
      runQueued();
    };
    sandbox.then(({ ended }) => ended).then(forget, forget);
    sandboxes.add(sandbox);
    return sandbox;
  };

  const run = async ({ event, requestId, answer }: Queued, warm?: Sandbox): Promise<void> => {
    const pool = idle;
    let sandbox = warm;
    try {
      sandbox ??= await start();
      answer.resolve((await sandbox.invoke(event, { requestId })).result);
    } catch (error) {
      answer.reject(error);
    }
    if (pool === idle && sandbox?.isRunning()) idle.add(sandbox);
    else void sandbox?.close();
    runQueued();
  };

  const runQueued = (): void => {
    for (const queued of queue) {
      const warm = [...idle].findLast((sandbox) => sandbox.isRunning());
      if (warm === undefined && sandboxes.size >= capacity) return;
      if (warm !== undefined) idle.delete(warm);
      queue.delete(queued);
      void run(queued, warm);
    }
  };

  if (!lazy) idle.add(await start());

  return {
    /**
     * Runs the handler in a warm sandbox or a new one, or waits in the queue (first in, first out).
     *
     * The function's timeout starts with the handler; time in the queue does not count. The caller waits no longer than
     * API Gateway's integration timeout of 30 s (or the function's, if that is longer), queue and cold start included.
     * After it, a queued invocation is dropped, and a running one goes on without its caller, as on AWS.
     *
     * @param event - The event as JSON.
     * @returns What the handler resolved to, as JSON.
     * @throws FunctionTimeout after either timeout; Error when the handler throws, the process ends, or initialisation
     * fails, which the next invocation tries again.
     */
    async invoke(event: string, requestId: string): Promise<string> {
      const queued: Queued = { event, requestId, answer: Promise.withResolvers() };
      const timer = setTimeout(() => {
        queue.delete(queued);
        queued.answer.reject(
          new FunctionTimeout(`No answer within ${integrationTimeout / 1_000} seconds`),
        );
      }, integrationTimeout);
      queue.add(queued);
      runQueued();
      return queued.answer.promise.finally(() => clearTimeout(timer));
    },
    /** Runs the next invocations on the code as it is now; running ones end on the old code. */
    reload() {
      for (const sandbox of idle) void sandbox.close();
      idle = new Set();
    },
    async close() {
      capacity = 0;
      for (const { answer } of queue) answer.reject(new Error('The function is closed.'));
      queue.clear();
      await Promise.allSettled([...sandboxes].map(async (sandbox) => (await sandbox).close()));
    },
  };
}
