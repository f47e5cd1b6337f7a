/**
 * The local HTTP API. Unlike API Gateway's, all its responses have Access-Control-Allow-Origin, and a result without a
 * status code is a 500. docs/adr/0017
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { inquiriesPath } from '../src/contract.ts';
import type { Authorize } from './authorizer.ts';
import { splitTarget } from '../lib/pages/loopback-server.ts';
import { toEvent, toHeaders } from './event.ts';
import { FunctionTimeout } from './lambda/sandbox.ts';
import { limits, replies, type Reply } from '../lib/contract/gateway-replies.ts';
import { CORS } from '../lib/aws/stages.ts';

/** An ANY route with an authorizer would also match preflights. */
const ROUTE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const ROUTES = new Set(ROUTE_METHODS.map((method) => `${method} ${inquiriesPath}`));
const PREFLIGHT = {
  'access-control-allow-methods': CORS.allow_methods.join(),
  'access-control-allow-headers': CORS.allow_headers.join(),
  'access-control-max-age': String(CORS.max_age),
};

/** Errors for which Node itself would not send 400, by code. */
const REFUSED_BY_NODE: Record<string, Reply> = {
  HPE_HEADER_OVERFLOW: replies.headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: replies.payloadTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'Request Timeout' },
};

export interface GatewayOptions {
  authorize: Authorize;
  invoke: (event: string, requestId: string) => Promise<string>;
  /** Responses to other origins name the first one. */
  corsOrigins: readonly [string, ...string[]];
  /** Whether the next request is throttled. Default: never. */
  throttle?: () => boolean;
  log: (line: string) => void;
  accessLog?: (line: string) => void;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export function createGateway({
  authorize,
  invoke,
  corsOrigins,
  throttle = () => false,
  log,
  accessLog = () => undefined,
}: GatewayOptions): Server {
  const options = {
    // `answer`, not Node, refuses large headers.
    maxHeaderSize: 1_000_000,
    // After Node's 5 s, a busy client may send a request just as the connection is closed.
    keepAliveTimeout: 60_000,
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // The client has left while its body was read.
    respond(request, response).catch(() => response.destroy());
  };
  const server = createServer(options, onRequest);
  // Node would answer 417. RFC 9110, 10.1.1, lets a server ignore an expectation.
  server.on('checkExpectation', onRequest);
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
    const reply = REFUSED_BY_NODE[code] ?? replies.badRequest;
    const { status, headers, body } = withOwnHeaders(toAnswer(reply));
    const lines = Object.entries({
      ...headers,
      'content-length': body.length,
      connection: 'close',
    });
    socket.end(
      [
        `HTTP/1.1 ${status} ${reply.message}`,
        ...lines.map(([name, value]) => `${name}: ${value}`),
        '',
        body,
      ].join('\r\n'),
    );
  });
  // A client may close its side after its request; Node would then drop the response.
  return Object.assign(server, { httpAllowHalfOpen: true });

  function withOwnHeaders({ status, headers, body }: Answer, origin = corsOrigins[0]): Answer {
    const own = {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': CORS.expose_headers.join(),
      vary: 'Origin',
      'apigw-requestid': randomUUID(),
    };
    return { status, headers: { ...headers, ...own }, body };
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    const origin = isAllowed(request) ? request.headers.origin : undefined;
    const { status, headers, body } = withOwnHeaders(await answer(request), origin);
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end(body);
    // Other paths may contain emails and escape sequences.
    const path = splitTarget(request).rawPath === inquiriesPath ? inquiriesPath : '(other path)';
    accessLog(`${request.method} ${path} ${status} ${Math.round(performance.now() - start)} ms`);
  }

  function isAllowed({ headers: { origin = '' } }: IncomingMessage): boolean {
    return corsOrigins.includes(origin);
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    if (headerSize(request) > limits.headers) return toAnswer(replies.headersTooLarge);
    if (isPreflight(request)) {
      return { status: 204, headers: isAllowed(request) ? PREFLIGHT : {}, body: '' };
    }
    const routeKey = `${request.method} ${splitTarget(request).rawPath}`;
    if (!ROUTES.has(routeKey)) return toAnswer(replies.notFound);
    if (throttle()) return toAnswer(replies.tooManyRequests);
    const authorization = await authorize(toHeaders(request)['authorization']);
    if ('challenge' in authorization) {
      return toAnswer(replies.unauthorized, { 'www-authenticate': authorization.challenge });
    }

    const { claims } = authorization;
    const event = JSON.stringify(
      toEvent(request, { routeKey, body: await buffer(request), claims }),
    );
    if (Buffer.byteLength(event) > limits.lambdaPayload) return toAnswer(replies.payloadTooLarge);
    const requestId = randomUUID();
    try {
      return parseResult(await invoke(event, requestId));
    } catch (error) {
      log(`function: ${error instanceof Error ? error.message : 'failed'} (request ${requestId})`);
      return toAnswer(
        error instanceof FunctionTimeout ? replies.unavailable : replies.internalError,
      );
    }
  }
}

const toAnswer = ({ status, message }: Reply, headers: Answer['headers'] = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ message }),
});

function headerSize({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): number {
  const requestLine = `${method} ${url} HTTP/${httpVersion}\r\n`.length;
  return requestLine + rawHeaders.reduce((sum, part) => sum + part.length + 2, 0);
}

const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && 'origin' in headers && 'access-control-request-method' in headers;

/** @throws Error for a result that Lambda or the gateway would refuse. */
function parseResult(json: string): Answer {
  if (Buffer.byteLength(json) > limits.lambdaPayload) {
    throw new Error('Function.ResponseSizeTooLarge');
  }
  const {
    statusCode: status = 0,
    headers = {},
    body = '',
  } = (JSON.parse(json) ?? {}) as Partial<Answer & { statusCode: number }>;
  if (!(status >= 200 && status <= 599 && typeof body === 'string')) {
    throw new Error('the handler returned a malformed response');
  }
  // Only successes contain inquiries. docs/contract.md
  const noStore = status < 300 && { 'Cache-Control': 'no-store' };
  return { status, headers: { ...headers, ...noStore }, body };
}
