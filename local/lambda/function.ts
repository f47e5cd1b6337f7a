import { limits } from '../../lib/contract/gateway-replies.ts';
import { FunctionTimeout, startSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';

export interface FunctionOptions extends SandboxOptions {
  timeout: number;
  /** Default: 4. */
  concurrency?: number;
  lazy?: boolean;
}

/** @throws Error if the initialisation fails. */
export async function startFunction({
  concurrency = 4,
  lazy = false,
  ...options
}: FunctionOptions) {
  const integrationTimeout = Math.max(limits.timeout, options.timeout);
  let free = concurrency;
  const queue: (() => void)[] = [];
  const sandboxes = new Set<Promise<Sandbox>>();
  /** As on Lambda, the one used last is next. */
  let idle: Sandbox[] = [];
  let isClosed = false;

  const start = async (): Promise<Sandbox> => {
    const sandbox = startSandbox(options);
    sandboxes.add(sandbox);
    const forget = () => void sandboxes.delete(sandbox);
    sandbox.then(({ ended }) => ended).then(forget, forget);
    return sandbox;
  };

  const run = async (
    event: string,
    requestId: string,
    isDropped: () => boolean,
  ): Promise<string> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => queue.push(resolve));
    const pool = idle;
    let sandbox: Sandbox | undefined;
    try {
      if (isClosed || isDropped()) throw new Error('The invocation was dropped.');
      do sandbox = pool.pop();
      while (sandbox?.isRunning() === false);
      sandbox ??= await start();
      return (await sandbox.invoke(event, { requestId })).result;
    } finally {
      if (pool === idle && sandbox?.isRunning()) idle.push(sandbox);
      else void sandbox?.close();
      const next = queue.shift();
      if (next === undefined) free++;
      else next();
    }
  };

  if (!lazy) idle.push(await start());

  return {
    /**
     * Waits for API Gateway's timeout of 30 s, or the function's if longer. Then a queued invocation is dropped and a
     * running one goes on, as on AWS.
     *
     * @throws FunctionTimeout after either; Error if handler, process or initialisation fails.
     */
    async invoke(event: string, requestId: string): Promise<string> {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(new FunctionTimeout(`No answer within ${integrationTimeout / 1_000} seconds`));
      }, integrationTimeout);
      run(event, requestId, () => isLate).then(resolve, reject);
      return promise.finally(() => clearTimeout(timer));
    },
    reload() {
      for (const sandbox of idle) void sandbox.close();
      idle = [];
    },
    async close() {
      isClosed = true;
      await Promise.allSettled([...sandboxes].map(async (sandbox) => (await sandbox).close()));
    },
  };
}
