/** Stands between the function and a real engine and does to each exchange what its plan says. */
import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { closeServer, serve } from '../../lib/loopback-server.ts';

interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  socket: Socket;
  /** Reads the whole request: from then on it can be forwarded even if its sender has given it up. */
  receive: () => Promise<Buffer>;
  /** Hands the whole request to the engine: from then on what it asked for is done. */
  forward: () => Promise<Reply>;
}

/** What happens to one request of the function; that of a retry is another. */
export type Fault = (exchange: Exchange) => unknown;
/** The fault of the n-th request, counted from 0 since the plan was made; undefined passes it on. */
export type Plan = (attempt: number, operation: string) => Fault | undefined;

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

export const never: Plan = () => undefined;
export const always =
  (fault: Fault): Plan =>
  () =>
    fault;
/** The first `count` requests meet the fault, later ones pass. */
export const first =
  (count: number, fault: Fault): Plan =>
  (attempt) =>
    attempt < count ? fault : undefined;

/**
 * @param engine - Where requests are forwarded to.
 * @param pageSize - The most items that a page of a query or a scan has; the engine's own limit is 1 MB.
 */
export async function startFaultProxy(engine: string, pageSize?: number) {
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  const lost = new WeakSet<Socket>();
  const running = new Set<Promise<Reply>>();
  let plan: Plan = never;
  let attempts = 0;

  const forward = async (incoming: IncomingMessage, asked: Buffer): Promise<Reply> => {
    const isLimited = pageSize !== undefined && ['Query', 'Scan'].includes(operationOf(incoming));
    const body = isLimited ? withLimit(asked, pageSize) : asked;
    const outgoing = request(engine, {
      method: incoming.method,
      path: incoming.url,
      headers: { ...incoming.headers, host: new URL(engine).host, 'content-length': body.length },
      agent,
    });
    // After the response has begun, too.
    outgoing.on('error', () => undefined).end(body);
    const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
    const {
      connection: _,
      'keep-alive': __,
      'transfer-encoding': ___,
      ...headers
    } = reply.headers as Record<string, string>;
    return { status: reply.statusCode ?? 0, headers, body: await buffer(reply) };
  };

  const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, response) => {
    const { socket } = incoming;
    if (lost.has(socket)) return;
    const fault = plan(attempts++, operationOf(incoming)) ?? pass;
    let received: Promise<Buffer> | undefined;
    const receive = () => (received ??= buffer(incoming));
    const exchange: Exchange = {
      request: incoming,
      response,
      socket,
      receive,
      async forward() {
        const reply = receive().then(async (asked) => forward(incoming, asked));
        running.add(reply);
        return reply.finally(() => running.delete(reply));
      },
    };
    // A connection that the function has given up is no news.
    Promise.resolve(fault(exchange)).catch(() => socket.destroy());
  });
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    sockets.add(socket);
  });

  const proxy = {
    url: await serve(server),
    set plan(next: Plan) {
      plan = next;
      attempts = 0;
    },
    /** Requests that have arrived since the plan was made. */
    get attempts(): number {
      return attempts;
    },
    /** Idle connections are closed, or reset, or never answered again. */
    cut(how: 'close' | 'reset' | 'black hole'): void {
      for (const socket of sockets) {
        if (how === 'black hole') lost.add(socket);
        else if (how === 'reset') socket.resetAndDestroy();
        else socket.end();
      }
    },
    /** Resolves when the engine has answered all that was forwarded, also what its sender has given up. */
    async settled(): Promise<void> {
      while (running.size > 0) await Promise.allSettled(running);
    },
    async close(): Promise<void> {
      await closeServer(server);
      agent.destroy();
    },
  };
  return proxy;
}

const operationOf = ({ headers }: IncomingMessage): string =>
  String(headers['x-amz-target']).split('.').at(-1) ?? '';

function withLimit(query: Buffer, limit: number): Buffer {
  const { Limit = limit, ...rest } = JSON.parse(query.toString()) as { Limit?: number };
  return Buffer.from(JSON.stringify({ ...rest, Limit: Math.min(Limit, limit) }));
}

export const JSON_TYPE = { 'content-type': 'application/x-amz-json-1.0' };

/** Answers in the engine's place; nothing is stored. */
export const answer =
  (status: number, body: string, headers: Record<string, string> = JSON_TYPE): Fault =>
  async ({ receive, response }) => {
    await receive();
    response.writeHead(status, headers).end(body);
  };

const toError = (type: string, more: object = {}): string =>
  JSON.stringify({
    __type: `com.amazonaws.dynamodb.v20120810#${type}`,
    message: 'A message with a secret.',
    ...more,
  });

/** An error in the form of DynamoDB. */
export const refuse = (status: number, type: string): Fault => answer(status, toError(type));

/** Cancels a transaction with a reason for each of its writes, as DynamoDB does. */
export const cancelTransaction = (...codes: string[]): Fault => {
  const CancellationReasons = codes.map((Code) => ({ Code, Message: 'A secret.' }));
  return answer(400, toError('TransactionCanceledException', { CancellationReasons }));
};

/** What DynamoDB answers to a transaction while another one with the same item runs; DynamoDB Local has no such answer. */
export const refuseAsConflict = cancelTransaction('TransactionConflict', 'None');

/** Lets the engine do what was asked and answers something else. */
export const answerAfter =
  (change: (reply: Reply) => Partial<Reply>): Fault =>
  async ({ response, forward }) => {
    const reply = await forward();
    const { status, headers, body } = { ...reply, ...change(reply) };
    response.writeHead(status, { ...headers, 'content-length': String(body.length) }).end(body);
  };

export const pass = answerAfter(() => ({}));

/** Ends the connection: before the request is read, in the middle of it, or after the engine has done it. */
export const cutConnection =
  (when: 'before' | 'during' | 'after', how: 'reset' | 'close'): Fault =>
  async ({ request: incoming, socket, forward }) => {
    if (when === 'during') for await (const _ of incoming) break;
    if (when === 'after') await forward();
    if (how === 'reset') socket.resetAndDestroy();
    else socket.end();
  };

/** Reads the request and never answers. */
export const hang: Fault = async ({ receive }) => void (await receive());

export const EMPTY: Fault = answerAfter(() => ({ body: Buffer.alloc(0) }));
export const RESET = cutConnection('after', 'reset');
