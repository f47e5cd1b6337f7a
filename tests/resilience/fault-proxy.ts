/** Stands between function and engine, and treats each exchange as the test plans. */
import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';

interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  socket: Socket;
  /** Reads the whole request, which can then be forwarded even if its sender gives up. */
  receive: () => Promise<Buffer>;
  forward: () => Promise<Reply>;
}

/** What happens to a request. A retry is another request. */
export type Fault = (exchange: Exchange) => unknown;
/** The fault of request `attempt`, counted from 0. Undefined passes the request on. */
export type Plan = (attempt: number, operation: string) => Fault | undefined;

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

export const never: Plan = () => undefined;
export const always =
  (fault: Fault): Plan =>
  () =>
    fault;
export const first =
  (count: number, fault: Fault): Plan =>
  (attempt) =>
    attempt < count ? fault : undefined;

/**
 * @param engine - Gets the requests.
 * @param pageSize - The most items of a page. Default: the engine's limit, 1 MB.
 */
export async function startFaultProxy(engine: string, pageSize?: number) {
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  const lost = new WeakSet<Socket>();
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
      forward: async () => forward(incoming, await receive()),
    };
    // The function may have closed the connection.
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
    get attempts(): number {
      return attempts;
    },
    connections: (): number => sockets.size,
    cut(how: 'close' | 'reset' | 'black hole'): void {
      for (const socket of sockets) {
        if (how === 'black hole') lost.add(socket);
        else if (how === 'reset') socket.resetAndDestroy();
        else socket.end();
      }
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

const JSON_TYPE = { 'content-type': 'application/x-amz-json-1.0' };

/** Answers in the engine's place, so nothing is stored. */
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

export const refuse = (status: number, type: string): Fault => answer(status, toError(type));

export const cancelTransaction = (...codes: string[]): Fault => {
  const CancellationReasons = codes.map((Code) => ({ Code, Message: 'A secret.' }));
  return answer(400, toError('TransactionCanceledException', { CancellationReasons }));
};

export const answerAfter =
  (change: (reply: Reply) => Partial<Reply>): Fault =>
  async ({ response, forward }) => {
    const reply = await forward();
    const { status, headers, body } = { ...reply, ...change(reply) };
    response.writeHead(status, { ...headers, 'content-length': String(body.length) }).end(body);
  };

export const pass = answerAfter(() => ({}));

export const hang: Fault = async ({ receive }) => void (await receive());

export const RESET: Fault = async ({ forward, socket }) => {
  await forward();
  socket.resetAndDestroy();
};
