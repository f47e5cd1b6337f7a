/** A stand-in for the Lambda service: runs the handler in a worker thread with an environment of its own. */
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import type { Invocation, InvocationResult, WorkerInput } from './function-worker.ts';

export interface LocalFunction {
  /**
   * Invokes the handler, which is initialised again first where the last initialisation failed.
   *
   * @param event - The event as JSON.
   * @returns What the handler resolved to, as JSON.
   * @throws FunctionTimeout when it did not answer in time; Error when it threw or could not be initialised.
   */
  invoke(event: string, requestId: string): Promise<string>;
  /** Lets running invocations end on the old code and starts the next ones on the new. */
  reload(): void;
  close(): Promise<void>;
}

export class FunctionTimeout extends Error {
  override readonly name = 'FunctionTimeout';
}

export interface FunctionOptions {
  /** URL of the module that exports `handler`. */
  readonly handler: URL;
  /** The whole environment of the function; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds an invocation may take. */
  readonly timeout: number;
  /** Receives each line the function writes. */
  readonly log: (line: string) => void;
}

/** One initialised copy of the function. Unlike Lambda's it serves many invocations at a time. */
interface Sandbox {
  readonly ready: Promise<void>;
  run(event: string, requestId: string): Promise<string>;
  /** Takes no more invocations; ends with the last one that is running, or when that must have timed out. */
  retire(): void;
  terminate(): Promise<unknown>;
}

/** Starts the function and waits for its initialisation. @throws Error that the handler's module threw. */
export async function startFunction(options: FunctionOptions): Promise<LocalFunction> {
  let current: Sandbox | undefined;
  const obtain = async (): Promise<Sandbox> => {
    const sandbox = (current ??= startSandbox(options, () => {
      if (current === sandbox) current = undefined;
    }));
    await sandbox.ready;
    return sandbox;
  };
  await obtain();

  return {
    invoke: async (event, requestId) => (await obtain()).run(event, requestId),
    reload: () => current?.retire(),
    close: async () => void (await current?.terminate()),
  };
}

/** @param onLeave - Called when the sandbox takes no more invocations. */
function startSandbox({ handler, environment, timeout, log }: FunctionOptions, onLeave: () => void): Sandbox {
  const worker = new Worker(new URL('function-worker.ts', import.meta.url), {
    workerData: { handler: handler.href } satisfies WorkerInput,
    env: { ...environment },
    stdout: true,
    stderr: true,
  });
  for (const output of [worker.stdout, worker.stderr]) createInterface(output).on('line', log);

  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);
  const running = new Map<number, PromiseWithResolvers<string>>();
  let lastId = 0;
  let retired = false;
  let failure: Error | undefined;

  const settle = (id: number): PromiseWithResolvers<string> | undefined => {
    const invocation = running.get(id);
    running.delete(id);
    if (retired && running.size === 0) void worker.terminate();
    return invocation;
  };
  const retire = (): void => {
    retired = true;
    onLeave();
    if (running.size === 0) void worker.terminate();
    else setTimeout(() => void worker.terminate(), timeout).unref();
  };

  worker.on('message', (message: InvocationResult | 'ready') => {
    if (message === 'ready') ready.resolve();
    else if (message.error === undefined) settle(message.id)?.resolve(message.result);
    else settle(message.id)?.reject(new Error(message.error));
  });
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  worker.on('exit', (code) => {
    onLeave();
    const error = failure ?? new Error(`Runtime exited with code ${code}`);
    ready.reject(error);
    for (const invocation of running.values()) invocation.reject(error);
  });

  return {
    ready: ready.promise,
    async run(event, requestId) {
      const id = ++lastId;
      const invocation = Promise.withResolvers<string>();
      running.set(id, invocation);
      const timer = setTimeout(() => {
        settle(id)?.reject(new FunctionTimeout(`Task timed out after ${timeout / 1000} seconds`));
        // What hung once may hang again, or block its thread for good.
        retire();
      }, timeout);
      const deadline = Date.now() + timeout;
      worker.postMessage({ id, event, requestId, deadline } satisfies Invocation);
      return invocation.promise.finally(() => clearTimeout(timer));
    },
    retire,
    terminate: () => worker.terminate(),
  };
}
