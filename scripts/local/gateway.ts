/**
 * A stand-in for an API Gateway HTTP API with a JWT authorizer and CORS in front of one Lambda function.
 * Where it differs from AWS: every response carries Access-Control-Allow-Origin, so that a client without an
 * Origin sees it too, and a handler result without a status code is refused instead of guessed at. docs/adr/0017
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { operations } from '../../src/app.ts';
import { inquiriesPath } from '../../src/contract.ts';
import type { Authorize } from './authorizer.ts';
import { splitTarget, toEvent, toHeaders } from './event.ts';
import { FunctionTimeout } from './lambda/sandbox.ts';
import { limits, replies } from './replies.ts';
import type { Reply } from './replies.ts';

/** Explicit methods and no ANY: an ANY route with an authorizer would swallow preflights. */
const ROUTE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const ROUTES = new Set(ROUTE_METHODS.map((method) => `${method} ${inquiriesPath}`));
/** Statuses of answers that hold inquiries. */
const SUCCESSES = new Set([...operations.values()].map(({ status }) => status));

export interface GatewayOptions {
  readonly authorize: Authorize;
  /** Invokes the function with an event as JSON and resolves to its result as JSON. */
  readonly invoke: (event: string, requestId: string) => Promise<string>;
  /** The one allowed origin. */
  readonly corsOrigin: string;
  /** Whether the next request is over the stage's throttling limits. Default: never. */
  readonly throttle?: () => boolean;
  /** Receives one line about each invocation that failed. */
  readonly log: (line: string) => void;
}

/** What the function answered. */
interface FunctionResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: Buffer;
}

/** Creates the gateway; the caller lets it listen. */
export function createGateway({
  authorize,
  invoke,
  corsOrigin,
  throttle = () => false,
  log,
}: GatewayOptions): Server {
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    response.setHeader('access-control-allow-origin', corsOrigin);
    response.setHeader('access-control-expose-headers', 'link');
    response.setHeader('apigw-requestid', randomUUID());
    answer(request, response).catch((error: unknown) => {
      log(`gateway: ${error instanceof Error ? error.name : 'error'}`);
      if (!response.headersSent) reply(response, replies.internalError);
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable) return;
    const { status, message } =
      error.code === 'HPE_HEADER_OVERFLOW' ? replies.headersTooLarge : replies.badRequest;
    const body = JSON.stringify({ message });
    socket.end(
      `HTTP/1.1 ${status} ${message}\r\nContent-Type: application/json\r\n` +
        `Access-Control-Allow-Origin: ${corsOrigin}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  return server;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (headerSize(request) > limits.headers) {
      return reply(response, replies.headersTooLarge);
    }
    const headers = toHeaders(request.rawHeaders);
    if (isPreflight(request, headers)) return preflight(response, headers['origin'] === corsOrigin);

    const routeKey = `${request.method} ${splitTarget(request).rawPath}`;
    if (!ROUTES.has(routeKey)) return reply(response, replies.notFound);

    if (throttle()) return reply(response, replies.tooManyRequests);
    const authorization = await authorize(headers['authorization']);
    if (!('claims' in authorization)) {
      response.setHeader('www-authenticate', authorization.challenge);
      return reply(response, replies.unauthorized);
    }

    const body = await readBody(request);
    if (body === undefined) return reply(response, replies.payloadTooLarge);
    const event = JSON.stringify(toEvent(request, { routeKey, body, claims: authorization.claims }));
    if (Buffer.byteLength(event) > limits.lambdaPayload) {
      return reply(response, replies.payloadTooLarge);
    }

    const requestId = randomUUID();
    try {
      const result = await invoke(event, requestId);
      if (Buffer.byteLength(result) > limits.lambdaPayload) throw new Error('Function.ResponseSizeTooLarge');
      const { statusCode, cookies, body: content, ...answered } = parseFunctionResponse(result);
      for (const [name, value] of Object.entries(answered.headers)) response.setHeader(name, value);
      if (cookies.length > 0) response.setHeader('set-cookie', cookies);
      response.setHeader('access-control-allow-origin', corsOrigin);
      // docs/adr/0032
      if (SUCCESSES.has(statusCode)) response.setHeader('cache-control', 'no-store');
      response.writeHead(statusCode, { 'content-length': content.length }).end(content);
    } catch (error) {
      log(`function: ${error instanceof Error ? error.message : 'failed'} (request ${requestId})`);
      return reply(response, error instanceof FunctionTimeout ? replies.unavailable : replies.internalError);
    }
  }
}

function reply(response: ServerResponse, { status, message }: Reply): void {
  const body = JSON.stringify({ message });
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
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
    response.setHeader('access-control-max-age', '3600');
  }
  response.writeHead(204).end();
}

/** The whole body, or undefined when it is over the limit; the rest is then read and dropped. */
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
