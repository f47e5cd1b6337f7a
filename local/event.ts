import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { splitTarget } from '../lib/pages/loopback-server.ts';
import { createGatewayEvent } from '../src/gateway-event.ts';
import type { Claims } from './authorizer.ts';

/**
 * Content types that are sent as text. Others, and other charsets, are sent as base64, as measured on AWS
 * (floci-io/floci#2172).
 */
const TEXT = /^(text\/.*|application\/(json|javascript|xml|.*\+json|.*\+xml))$/i;
const OTHER_CHARSET = /;\s*charset=(?!"?utf-8\b)/i;

export function toEvent(
  request: IncomingMessage,
  { routeKey, body, claims }: { routeKey: string; body: Buffer; claims: Claims },
) {
  const { rawPath, rawQueryString } = splitTarget(request);
  const now = new Date();
  const { cookie, ...headers } = toHeaders(request);
  const host = headers['host'] ?? 'localhost';
  const sourceIp = request.socket.remoteAddress ?? '127.0.0.1';
  const type = headers['content-type'] ?? '';
  const isText = TEXT.test(type.split(';', 1).join('').trim()) && !OTHER_CHARSET.test(type);
  const event = createGatewayEvent({
    method: request.method ?? '',
    path: rawPath,
    query: rawQueryString,
    headers: {
      ...headers,
      'x-forwarded-for': [headers['x-forwarded-for'], sourceIp].filter(Boolean).join(', '),
      'x-forwarded-port': host.split(':')[1] ?? '80',
      'x-forwarded-proto': 'http',
    },
    claims,
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  });
  return {
    ...event,
    routeKey,
    ...(cookie !== undefined && { cookies: cookie.split(/[;,] */).filter((pair) => pair !== '') }),
    requestContext: {
      ...event.requestContext,
      accountId: '000000000000',
      apiId: 'local',
      domainName: host,
      domainPrefix: host.split('.', 1).join(''),
      http: {
        ...event.requestContext.http,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey,
      stage: '$default',
      time: toLogTime(now),
      timeEpoch: now.getTime(),
    },
  };
}

export function toHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(',')]),
  );
}

function toLogTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
