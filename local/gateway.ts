/**
 * The local API Gateway HTTP API: a JWT authorizer and CORS in front of one Lambda function. It differs from AWS in
 * two points: every response carries Access-Control-Allow-Origin, also to a client that sends no Origin, and a
 * function response without a status code is a 500. docs/adr/0017
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { inquiriesPath } from '../src/contract.ts';
import type { Authorize } from './authorizer.ts';
import { splitTarget } from '../lib/loopback-server.ts';
import { toEvent, toHeaders } from './event.ts';
import { FunctionTimeout } from './lambda/sandbox.ts';
import { limits, replies, type Reply } from '../lib/gateway-replies.ts';
import { CORS } from '../lib/stages.ts';

/** Explicit methods, because an ANY route with an authorizer also matches preflights. */
const ROUTE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const ROUTES = new Set(ROUTE_METHODS.map((method) => `${method} ${inquiriesPath}`));
const PREFLIGHT = {
  'access-control-allow-methods': CORS.allow_methods.join(),
  'access-control-allow-headers': CORS.allow_headers.join(),
  'access-control-max-age': String(CORS.max_age),
};

export interface GatewayOptions {
  readonly authorize: Authorize;
  /** Invokes the function with an event as JSON and resolves to its result as JSON. */
  readonly invoke: (event: string, requestId: string) => Promise<string>;
  /** The allowed origins. The first is named in responses to any other origin, and where a request has none. */
  readonly corsOrigins: readonly [string, ...string[]];
  /** Whether the next request exceeds the stage's throttling limits. Default: never. */
  readonly throttle?: () => boolean;
  /** Receives one line for each failed invocation. */
  readonly log: (line: string) => void;
  /** Called for each response that has been sent. */
  readonly onResponse?: ((response: CompletedResponse) => void) | undefined;
}

export interface CompletedResponse {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
}

/** Creates the gateway, which does not listen yet. */
export function createGateway({
  authorize,
  invoke,
  corsOrigins,
  throttle = () => false,
  log,
  onResponse,
}: GatewayOptions): Server {
  const allowOrigin = (request: IncomingMessage, response: ServerResponse): void => {
    const { origin = '' } = request.headers;
    const allowed = corsOrigins.includes(origin) ? origin : corsOrigins[0];
    response.setHeader('access-control-allow-origin', allowed);
    response.setHeader('vary', 'Origin');
  };
  const server = createServer(
    { maxHeaderSize: 64 * 1024, requireHostHeader: false },
    (request, response) => {
      const start = performance.now();
      response.once('finish', () => {
        const { rawPath: path } = splitTarget(request);
        const milliseconds = performance.now() - start;
        onResponse?.({
          method: request.method ?? '',
          path,
          status: response.statusCode,
          milliseconds,
        });
      });
      allowOrigin(request, response);
      response.setHeader('access-control-expose-headers', CORS.expose_headers.join());
      response.setHeader('apigw-requestid', randomUUID());
      answer(request, response).catch((error: unknown) => {
        log(`gateway: ${error instanceof Error ? error.name : 'error'}`);
        if (!response.headersSent) reply(response, replies.internalError);
      });
    },
  );
  server.on('checkExpectation', (request, response) => {
    allowOrigin(request, response);
    reply(response, replies.expectationFailed);
  });
  // Requests that Node's HTTP parser rejects.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const isOverflow = error.code === 'HPE_HEADER_OVERFLOW';
    const { status, message } = isOverflow ? replies.headersTooLarge : replies.badRequest;
    const body = JSON.stringify({ message });
    if (!socket.writable) return;
    socket.end(
      `HTTP/1.1 ${status} ${message}\r\nContent-Type: application/json\r\n` +
        `Access-Control-Allow-Origin: ${corsOrigins[0]}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  return server;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.host === undefined) return reply(response, replies.badRequest);
    if (headerSize(request) > limits.headers) return reply(response, replies.headersTooLarge);
    if (isPreflight(request)) {
      // Before routing and authorization. Another origin is sent no CORS settings.
      const isAllowed = corsOrigins.includes(request.headers.origin ?? '');
      response.writeHead(204, isAllowed ? PREFLIGHT : {}).end();
      return;
    }

    const routeKey = `${request.method} ${splitTarget(request).rawPath}`;
    if (!ROUTES.has(routeKey)) return reply(response, replies.notFound);

    if (throttle()) return reply(response, replies.tooManyRequests);
    const authorization = await authorize(toHeaders(request)['authorization']);
    if (!('claims' in authorization)) {
      response.setHeader('www-authenticate', authorization.challenge);
      return reply(response, replies.unauthorized);
    }

    const body = await readBody(request);
    if (body === undefined) return reply(response, replies.payloadTooLarge);
    const event = JSON.stringify(
      toEvent(request, { routeKey, body, claims: authorization.claims }),
    );
    if (Buffer.byteLength(event) > limits.lambdaPayload) {
      return reply(response, replies.payloadTooLarge);
    }

    const requestId = randomUUID();
    try {
      const result = await invoke(event, requestId);
      if (Buffer.byteLength(result) > limits.lambdaPayload) {
        throw new Error('Function.ResponseSizeTooLarge');
      }
      const { statusCode, headers, body: content } = parseFunctionResponse(result);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      allowOrigin(request, response);
      // Only successes contain inquiries. docs/contract.md
      if (statusCode < 300) response.setHeader('cache-control', 'no-store');
      const length = Buffer.byteLength(content);
      response.writeHead(statusCode, { 'content-length': length }).end(content);
    } catch (error) {
      log(`function: ${error instanceof Error ? error.message : 'failed'} (request ${requestId})`);
      const isLate = error instanceof FunctionTimeout;
      return reply(response, isLate ? replies.unavailable : replies.internalError);
    }
  }
}

function reply(response: ServerResponse, { status, message }: Reply): void {
  const body = JSON.stringify({ message });
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': body.length })
    .end(body);
}

/** Bytes of the request line and the header lines as sent. */
function headerSize({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): number {
  const requestLine = `${method} ${url} HTTP/${httpVersion}\r\n`.length;
  // Node decodes header bytes as latin1: one character, one byte. Each pair adds a colon, a space and a line end.
  return requestLine + rawHeaders.reduce((sum, part) => sum + part.length + 2, 0);
}

const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && 'origin' in headers && 'access-control-request-method' in headers;

/** Reads the body. @returns undefined when it is over the limit; the rest is read and discarded. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limits.body) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > limits.body ? undefined : Buffer.concat(chunks);
}

interface FunctionResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @throws Error when the function's result is no proxy response with a status and a text. */
function parseFunctionResponse(json: string): FunctionResponse {
  const result = JSON.parse(json) as Partial<FunctionResponse> | null;
  const { statusCode = 0, headers = {}, body = '' } = result ?? {};
  if (statusCode >= 200 && statusCode <= 599 && typeof body === 'string') {
    return { statusCode, headers, body };
  }
  throw new Error('the handler returned a malformed response');
}
