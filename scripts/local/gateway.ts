/**
 * A stand-in for an API Gateway HTTP API with a JWT authorizer and CORS in front of one Lambda function.
 * Where it differs from AWS: every response carries Access-Control-Allow-Origin, so that a client without an
 * Origin sees it too, and a handler result without a status code is refused instead of guessed at. docs/adr/0017
 */
import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Authorize } from './authorizer.ts';
import { splitTarget, toEvent, toHeaders } from './event.ts';
import { FunctionTimeout } from './function.ts';

/** Explicit methods and no ANY: an ANY route with an authorizer would swallow preflights. */
const ROUTE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const ROUTES = new Set(ROUTE_METHODS.map((method) => `${method} /inquiries`));

/** Limits in bytes. Source: API Gateway quotas for HTTP APIs, Lambda quotas. */
const HEADER_LIMIT = 10_240;
const BODY_LIMIT = 10 * 1024 * 1024;
const LAMBDA_PAYLOAD_LIMIT = 6_291_556;

export interface GatewayOptions {
  readonly authorize: Authorize;
  /** Invokes the function with an event as JSON and resolves to its result as JSON. */
  readonly invoke: (event: string, requestId: string) => Promise<string>;
  /** The one allowed origin. */
  readonly corsOrigin: string;
  /** Receives one line about each invocation that failed. */
  readonly log: (line: string) => void;
}

/** A reply that the gateway gives itself: `{"message":"…"}`. */
interface Reply {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the function answered. */
interface FunctionResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: Buffer;
}

/** Creates the gateway; the caller lets it listen. */
export function createGateway({ authorize, invoke, corsOrigin, log }: GatewayOptions): Server {
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    response.setHeader('access-control-allow-origin', corsOrigin);
    response.setHeader('access-control-expose-headers', 'link');
    response.setHeader('apigw-requestid', randomUUID());
    answer(request, response).catch((error: unknown) => {
      log(`gateway: ${error instanceof Error ? error.name : 'error'}`);
      if (!response.headersSent) reply(response, { status: 500, message: 'Internal Server Error' });
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable) return;
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
    const body = JSON.stringify({ message: STATUS_CODES[status] });
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
        `Access-Control-Allow-Origin: ${corsOrigin}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  return server;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (headerSize(request) > HEADER_LIMIT) {
      return reply(response, { status: 431, message: 'Request Header Fields Too Large' });
    }
    const headers = toHeaders(request.rawHeaders);
    if (isPreflight(request, headers)) return preflight(response, headers['origin'] === corsOrigin);

    const routeKey = `${request.method} ${splitTarget(request).rawPath}`;
    if (!ROUTES.has(routeKey)) return reply(response, { status: 404, message: 'Not Found' });

    const authorization = await authorize(headers['authorization']);
    if (!('claims' in authorization)) {
      const challenge = { 'www-authenticate': authorization.challenge };
      return reply(response, { status: 401, message: 'Unauthorized', headers: challenge });
    }

    const body = await readBody(request);
    if (body === undefined) return reply(response, { status: 413, message: 'Request Entity Too Large' });
    const event = JSON.stringify(toEvent(request, { routeKey, body, claims: authorization.claims }));
    if (Buffer.byteLength(event) > LAMBDA_PAYLOAD_LIMIT) {
      return reply(response, { status: 413, message: 'Request Entity Too Large' });
    }

    const requestId = randomUUID();
    try {
      const result = await invoke(event, requestId);
      if (Buffer.byteLength(result) > LAMBDA_PAYLOAD_LIMIT) throw new Error('Function.ResponseSizeTooLarge');
      const { statusCode, cookies, body: content, ...answered } = parseFunctionResponse(result);
      for (const [name, value] of Object.entries(answered.headers)) response.setHeader(name, value);
      if (cookies.length > 0) response.setHeader('set-cookie', cookies);
      response.setHeader('access-control-allow-origin', corsOrigin);
      response.writeHead(statusCode, { 'content-length': content.length }).end(content);
    } catch (error) {
      log(`function: ${error instanceof Error ? error.message : 'failed'} (request ${requestId})`);
      return reply(
        response,
        error instanceof FunctionTimeout
          ? { status: 503, message: 'Service Unavailable' }
          : { status: 500, message: 'Internal Server Error' },
      );
    }
  }
}

function reply(response: ServerResponse, { status, message, headers = {} }: Reply): void {
  const body = JSON.stringify({ message });
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': body.length, ...headers })
    .end(body);
}

/** Bytes of the request line and of the header lines, as they were sent. */
function headerSize({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): number {
  const requestLine = `${method} ${url} HTTP/${httpVersion}\r\n`.length;
  // Node decodes header bytes as latin1: one character, one byte. Each pair adds a colon, a space and a line end.
  return requestLine + rawHeaders.reduce((sum, part) => sum + part.length + 2, 0);
}

function isPreflight(request: IncomingMessage, headers: Readonly<Record<string, string>>): boolean {
  return (
    request.method === 'OPTIONS' &&
    headers['origin'] !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/** Answers a preflight before any route or authorizer; a foreign origin learns nothing of what is allowed. */
function preflight(response: ServerResponse, allowed: boolean): void {
  if (allowed) {
    response.setHeader('access-control-allow-methods', 'GET,POST,PUT,DELETE,OPTIONS');
    response.setHeader('access-control-allow-headers', 'authorization,content-type');
    response.setHeader('access-control-max-age', '300');
  }
  response.writeHead(204).end();
}

/** The whole body, or undefined when it is over the limit; the rest is then read and dropped. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > BODY_LIMIT ? undefined : Buffer.concat(chunks);
}

/** Narrows the function's result to the proxy response form. @throws Error when it is not of that form. */
function parseFunctionResponse(json: string): FunctionResponse {
  const malformed = new Error('the handler returned a malformed response');
  const result: unknown = JSON.parse(json);
  if (typeof result !== 'object' || result === null) throw malformed;
  const {
    statusCode,
    headers = {},
    cookies = [],
    body = '',
    isBase64Encoded,
  } = result as Partial<Record<string, unknown>>;
  if (!Number.isInteger(statusCode) || Number(statusCode) < 200 || Number(statusCode) > 599) throw malformed;
  if (typeof body !== 'string' || typeof headers !== 'object' || headers === null) throw malformed;
  if (!Array.isArray(cookies)) throw malformed;
  return {
    statusCode: Number(statusCode),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    cookies: cookies.map(String),
    body: Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}
