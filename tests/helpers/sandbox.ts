import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { GatewayResponse } from '../../src/http.ts';

export interface SandboxRequest {
  readonly id: number;
  /** The event as JSON; without one the answer is the size of the heap. */
  readonly event?: string;
  /** Milliseconds until Lambda's own timeout. */
  readonly remaining: number;
}

export interface SandboxReply {
  readonly id: number;
  readonly result?: string;
  /** What the handler threw, which it never may. */
  readonly thrown?: string;
  readonly milliseconds: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: unknown;
  /** How long the handler took, by the clock of its own process. */
  readonly milliseconds: number;
}

export interface Sandbox {
  /** Invokes the handler. @throws Error when it throws or the process ends. */
  invoke(event: object, remaining?: number): Promise<Answer>;
  /** Bytes on the heap after a collection. */
  heap(): Promise<number>;
  /** What the function wrote, line by line. */
  readonly lines: readonly string[];
  /** SIGSTOP freezes it as Lambda does between invocations, SIGCONT thaws it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  close(): Promise<void>;
}

const BUILT = new URL('../../dist/handler.mjs', import.meta.url);
/** What Lambda gives an invocation: the timeout of the function. */
const TIMEOUT = 30_000;

/**
 * Starts the built handler in a process of its own, with nothing in its environment but what is given.
 *
 * @param flags - Of Node, to bound its memory for example.
 */
export async function startSandbox(
  environment: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<Sandbox> {
  const child = fork(join(import.meta.dirname, 'sandbox-process.ts'), [BUILT.href], {
    env: { CORS_ORIGIN: 'https://www.example.com', ...environment },
    execArgv: ['--expose-gc', '--no-warnings', ...flags],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    let rest = '';
    output?.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = `${rest}${chunk}`.split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
  }
  const running = new Map<number, PromiseWithResolvers<SandboxReply>>();
  const expectReply = (id: number): Promise<SandboxReply> => {
    const reply = Promise.withResolvers<SandboxReply>();
    running.set(id, reply);
    return reply.promise;
  };
  child.on('message', (reply: SandboxReply) => running.get(reply.id)?.resolve(reply));
  const ended = once(child, 'exit');
  child.once('exit', (code) => {
    for (const { reject } of running.values()) reject(new Error(`ended with ${code}: ${lines.join('\n')}`));
  });
  let lastId = 0;
  const ask = async (event: object | undefined, remaining: number): Promise<SandboxReply> => {
    const id = ++lastId;
    const reply = expectReply(id);
    child.send({ id, remaining, ...(event && { event: JSON.stringify(event) }) } satisfies SandboxRequest);
    const answer = await reply;
    running.delete(id);
    return answer;
  };
  await expectReply(0);
  running.delete(0);

  return {
    lines,
    async invoke(event, remaining = TIMEOUT) {
      const { result, thrown, milliseconds } = await ask(event, remaining);
      if (result === undefined) throw new Error(`The handler threw ${thrown}`);
      const { statusCode, headers, body } = JSON.parse(result) as GatewayResponse;
      return { status: statusCode, headers, text: body, json: JSON.parse(body) as unknown, milliseconds };
    },
    heap: async () => Number((await ask(undefined, 0)).result),
    signal: (signal) => void child.kill(signal),
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
