import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { splitTarget } from '../lib/loopback-server.ts';
import type { Claims } from './authorizer.ts';

/** Content types sent as text; others are base64. */
const TEXT = /^(text\/.*|application\/(json|javascript|xml|.*\+json|.*\+xml))$/i;

/** Source: API Gateway Developer Guide, "Create AWS Lambda proxy integrations for HTTP APIs". */
export function toEvent(
  request: IncomingMessage,
  { routeKey, body, claims }: { routeKey: string; body: Buffer; claims: Claims },
) {
  const { rawPath, rawQueryString } = splitTarget(request);
  const now = new Date();
  const requestId = randomUUID();
  const { cookie, ...headers } = toHeaders(request);
  const host = headers['host'] ?? 'localhost';
  const sourceIp = request.socket.remoteAddress ?? '127.0.0.1';
  const query = new URLSearchParams(rawQueryString);
  const isText = TEXT.test((headers['content-type'] ?? '').split(';', 1).join('').trim());

  return {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString,
    ...(cookie !== undefined && { cookies: cookie.split(/[;,] */).filter((pair) => pair !== '') }),
    headers: {
      ...headers,
      'x-forwarded-for': [headers['x-forwarded-for'], sourceIp].filter(Boolean).join(', '),
      'x-forwarded-port': host.split(':')[1] ?? '80',
      'x-forwarded-proto': 'http',
    },
    ...(query.size > 0 && {
      queryStringParameters: Object.fromEntries(
        [...new Set(query.keys())].map((name) => [name, query.getAll(name).join(',')]),
      ),
    }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      authorizer: { jwt: { claims, scopes: null } },
      domainName: host,
      domainPrefix: host.split('.', 1).join(''),
      http: {
        method: request.method ?? '',
        path: rawPath,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey,
      stage: '$default',
      time: toLogTime(now),
      timeEpoch: now.getTime(),
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

/** Lower-case names, repeated ones joined by commas. */
export function toHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(',')]),
  );
}

/** Common Log Format: `20/Nov/2026:05:34:00 +0000`. */
function toLogTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
