import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { closeServer, listen } from '../../lib/pages/loopback-server.ts';

/** Milliseconds. */
export interface Cost {
  wall: number;
  cpu: number;
}

export interface SandboxOptions {
  module: string;
  environment: Record<string, string>;
  /** Milliseconds, at most 2^31 - 1. Default: 30,000. */
  timeout?: number;
  nodeArguments?: readonly string[];
  /** A shell command before Node, such as one that enters a control group. */
  before?: string | undefined;
  log?: (line: string) => void;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

export class FunctionTimeout extends Error {
  override readonly name = 'FunctionTimeout';
}

/** Lambda's arguments for 128 MB. */
const NODE_ARGUMENTS = [
  '--expose-gc',
  '--max-http-header-size=81920',
  '--max-semi-space-size=6',
  '--max-old-space-size=116',
];
const BOOTSTRAP = join(import.meta.dirname, 'bootstrap.mjs');

/**
 * Waits for the initialisation, 30 s or the timeout if that is longer.
 *
 * @throws Error with the module's message; FunctionTimeout; Error when the process ends.
 */
export async function startSandbox({
  module,
  environment,
  timeout = 30_000,
  nodeArguments = [],
  before = ':',
  log = () => undefined,
}: SandboxOptions) {
  let next = Promise.withResolvers<{ cpu: number; response: ServerResponse }>();
  let answer: PromiseWithResolvers<{ at: number; body: string; errorType?: string }> | undefined;
  let failure: Error | undefined;
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    if (path.endsWith('/next')) {
      return next.resolve({ cpu: Number(request.headers['x-cpu']) / 1_000, response });
    }
    const body = await text(request);
    const at = performance.now();
    response.writeHead(202).end();
    if (path.endsWith('/response')) return answer?.resolve({ at, body });
    const reported = JSON.parse(body) as { errorType: string; errorMessage: string };
    if (path.endsWith('/init/error')) failure ??= new Error(reported.errorMessage);
    else answer?.resolve({ at, body, errorType: reported.errorType });
  };
  // A request is aborted when the process ends, which `exit` reports.
  const api = createServer(
    (request, response) => void receive(request, response).catch(() => undefined),
  );
  api.keepAliveTimeout = 0;
  // Thus no other client can take its events.
  api.maxConnections = 1;
  const port = await listen(api, 0);

  const start = performance.now();
  // The shell becomes Node. If this process ends first, pipe 3 ends without a line, and the subshell kills Node, even
  // if stopped.
  const command = `(read -r _ || kill -9 $$) <&3 >&- 2>&- & ${before} && exec "$0" "$@" 3<&-`;
  const args = [process.execPath, ...NODE_ARGUMENTS, ...nodeArguments, BOOTSTRAP, module];
  const child = spawn('/bin/sh', ['-c', command, ...args], {
    env: {
      ...environment,
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
      AWS_LAMBDA_FUNCTION_NAME: 'inquiries-local',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // `detached` keeps Ctrl-C for this process.
    detached: true,
  });
  const [, stdout, stderr, guard] = child.stdio as unknown as [null, Readable, Readable, Writable];
  for (const output of [stdout, stderr]) createInterface(output).on('line', log);

  const end = async (): Promise<void> => {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    failure ??= new Error(`Runtime exited with ${signal ?? `code ${code}`}`);
    clearTimeout(timer);
    next.reject(failure);
    answer?.reject(failure);
    guard.on('error', () => undefined).end('\n');
    await closeServer(api);
  };
  const ended = end();
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  const stopAfter = (milliseconds: number): NodeJS.Timeout =>
    setTimeout(() => {
      failure ??= new FunctionTimeout(`Task timed out after ${milliseconds / 1_000} seconds`);
      void stop();
    }, milliseconds);

  let timer = stopAfter(Math.max(timeout, 30_000));
  let idle = await next.promise;
  clearTimeout(timer);

  return {
    pid: child.pid ?? 0,
    /** Until the process asks for its first event. */
    initialisation: { wall: performance.now() - start, cpu: idle.cpu },
    ended,
    isRunning: () => failure === undefined,
    /**
     * Only one invocation runs at a time.
     *
     * @param options.remaining - Milliseconds that the handler is told. Default: the timeout.
     * @throws FunctionTimeout; Error when the process ends, or with the type of what the handler threw and the report
     * as cause.
     */
    async invoke(
      event: string,
      {
        requestId = randomUUID(),
        remaining = timeout,
      }: { requestId?: string; remaining?: number | undefined } = {},
    ): Promise<Cost & { result: string }> {
      if (failure !== undefined) throw failure;
      const { cpu, response } = idle;
      next = Promise.withResolvers();
      answer = Promise.withResolvers();
      timer = stopAfter(timeout);
      const from = performance.now();
      response
        .writeHead(200, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(event),
          'lambda-runtime-aws-request-id': requestId,
          'lambda-runtime-deadline-ms': Date.now() + remaining,
          'lambda-runtime-invoked-function-arn':
            'arn:aws:lambda:local:000000000000:function:inquiries-local',
        })
        .end(event);
      const [{ at, body, errorType }, following] = await Promise.all([
        answer.promise,
        next.promise,
      ]);
      clearTimeout(timer);
      idle = following;
      if (errorType !== undefined) throw new Error(errorType, { cause: body });
      return { result: body, wall: at - from, cpu: following.cpu - cpu };
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    close: stop,
  };
}
