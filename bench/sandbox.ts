/** One execution environment as Lambda has it: a process under limits, and the Runtime API it talks to. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { close, listen } from '../scripts/local/server.ts';
import { createLimits, readResidentMemory } from './limits.ts';
import type { Limits } from './limits.ts';

/** Milliseconds. */
export interface Cost {
  readonly wall: number;
  /** All threads of the process. */
  readonly cpu: number;
}

export interface Invocation extends Cost {
  /** What the handler returned, as JSON. */
  readonly result: string;
}

/** Bytes at most, so far. */
export interface Memory {
  /** In memory, Node's own program included, of which the processes of a machine share one copy. */
  readonly resident: number;
  /** Counted against the limit: what is the process's alone. NaN without limits. */
  readonly counted: number;
}

export interface Sandbox {
  /** From the start of the process until the function is ready for its first event. */
  readonly initialisation: Cost;
  /** @throws Error when the handler throws or the process ends. */
  invoke(event: string): Promise<Invocation>;
  peakMemory(): Memory;
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** The module that exports `handler`. */
  readonly module: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether memory and CPU are limited. */
  readonly limited: boolean;
}

/** What Lambda's Node runtimes pass for 128 MB: young generation a tenth of the memory, old generation the rest. */
const NODE_ARGUMENTS = [
  '--expose-gc',
  '--max-http-header-size=81920',
  '--max-semi-space-size=6',
  '--max-old-space-size=116',
];
const BOOTSTRAP = join(import.meta.dirname, 'bootstrap.mjs');
/** Milliseconds until an invocation is given up; Lambda's limit, as the function has it. */
const TIMEOUT = 30_000;

/** Starts a process and waits for the end of its initialisation. @throws Error when that fails. */
export async function startSandbox({ module, environment, limited }: SandboxOptions): Promise<Sandbox> {
  const limits = limited ? createLimits() : undefined;
  let next = expect<{ cpu: number; response: ServerResponse }>();
  let answer = expect<{ at: number; result: string }>();
  const fail = (error: Error): void => {
    next.reject(error);
    answer.reject(error);
  };

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    if (path.endsWith('/invocation/next')) {
      next.resolve({ cpu: Number(request.headers['x-cpu']) / 1_000, response });
      return;
    }
    // A request that breaks off is the end of the process, which is reported elsewhere.
    const result = await readBody(request).catch(() => undefined);
    if (result === undefined) return;
    const at = performance.now();
    response.writeHead(202).end();
    if (path.endsWith('/response')) answer.resolve({ at, result });
    else fail(new Error(result));
  };
  const api = createServer((request, response) => void receive(request, response));
  api.keepAliveTimeout = 0;
  const port = await listen(api, 0);

  const start = performance.now();
  const child = startProcess(limits?.enter ?? 'true', [...NODE_ARGUMENTS, BOOTSTRAP, module], {
    ...environment,
    AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
    AWS_LAMBDA_FUNCTION_NAME: 'inquiries',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += String(text)));
  const exit = once(child, 'exit');
  child.once('exit', (code, signal) => {
    const how = signal === null ? `ended with code ${code}` : `was killed by ${signal}`;
    fail(new Error(`the process ${how}${output === '' ? '' : `: ${output.slice(-2_000)}`}`));
  });

  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exit;
    await close(api);
    if (limits !== undefined) await remove(limits);
  };

  try {
    let idle = await next.promise;
    limits?.throttle();
    const initialisation = { wall: performance.now() - start, cpu: idle.cpu };
    return {
      initialisation,
      async invoke(event) {
        const { cpu, response } = idle;
        next = expect();
        answer = expect();
        const timer = setTimeout(() => fail(new Error(`no answer within ${TIMEOUT} ms`)), TIMEOUT);
        try {
          const from = performance.now();
          response
            .writeHead(200, {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(event),
              'lambda-runtime-aws-request-id': randomUUID(),
              'lambda-runtime-deadline-ms': Date.now() + TIMEOUT,
              'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:local:000000000000:function:inquiries',
            })
            .end(event);
          const { at, result } = await answer.promise;
          idle = await next.promise;
          return { result, wall: at - from, cpu: idle.cpu - cpu };
        } finally {
          clearTimeout(timer);
        }
      },
      peakMemory: () => ({
        resident: readResidentMemory(child.pid ?? 0),
        counted: limits?.peakMemory() ?? Number.NaN,
      }),
      close: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts Node through a shell that first puts itself, and so Node, under the limits. */
function startProcess(enter: string, args: string[], env: Record<string, string>): ChildProcess {
  return spawn('sh', ['-c', `${enter} && exec "$0" "$@"`, process.execPath, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** A promise that may fail without anybody waiting for it. */
function expect<Value>(): PromiseWithResolvers<Value> {
  const expected = Promise.withResolvers<Value>();
  expected.promise.catch(() => undefined);
  return expected;
}

/** The kernel empties a group a moment after the end of its process. */
async function remove(limits: Limits): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      limits.close();
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(10);
    }
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
