/** Events of the gateway, built as the local gateway builds them. */
import type { IncomingMessage } from 'node:http';
import type { ServiceRequest } from '../lib/contract-checks.ts';
import { toEvent } from '../local/event.ts';
import type { Owner } from './database.ts';

export interface EventOptions extends ServiceRequest {
  /** Absent: without claims. */
  owner?: Owner;
  /** Value of the header Idempotency-Key. */
  key?: string | undefined;
}

/** An event as JSON, with the claims of an ID token as the gateway passes them on. */
export function makeEvent({ method, owner, body = '', key, query = '' }: EventOptions): string {
  const headers = {
    accept: '*/*',
    authorization: `Bearer ${'eyJraWQiOiJleGFtcGxlIiwiYWxnIjoiUlMyNTYifQ'.repeat(20)}`,
    'content-type': 'application/json',
    host: 'api.example.com',
    'user-agent': 'bench',
    ...(key !== undefined && { 'idempotency-key': key }),
  };
  const request = {
    method,
    url: `/inquiries?${query}`,
    httpVersion: '1.1',
    headersDistinct: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value]]),
    ),
    socket: { remoteAddress: '192.0.2.1' },
  } as IncomingMessage;
  const claims = {
    aud: '7a8b9c0d1e2f3g4h5i6j7k8l9m',
    auth_time: '1767225600',
    email_verified: 'true',
    exp: '1767229200',
    iat: '1767225600',
    iss: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example',
    token_use: 'id',
    ...owner,
  };
  const routeKey = `${method} /inquiries`;
  return JSON.stringify(toEvent(request, { routeKey, body: Buffer.from(body), claims }));
}
