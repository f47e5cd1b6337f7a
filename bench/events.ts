/** Payload 2.0 events as the gateway sends them, with everything a framework might read. */
import type { Owner } from './database.ts';

export interface EventOptions {
  readonly method?: string;
  /** Absent: no authorizer ran. */
  readonly claims?: Readonly<Record<string, string>> | undefined;
  readonly body?: string;
  readonly base64?: boolean;
  readonly query?: Readonly<Record<string, string>>;
}

/** An event as JSON. */
export function makeEvent({ method = 'GET', claims, body, base64 = false, query }: EventOptions): string {
  return JSON.stringify({
    version: '2.0',
    routeKey: `${method} /inquiries`,
    rawPath: '/inquiries',
    rawQueryString: new URLSearchParams(query).toString(),
    headers: {
      accept: '*/*',
      authorization: `Bearer ${'eyJraWQiOiJleGFtcGxlIiwiYWxnIjoiUlMyNTYifQ'.repeat(20)}`,
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      'content-type': 'application/json',
      host: 'api.example.com',
      'user-agent': 'bench',
      'x-amzn-trace-id': 'Root=1-5e1b4151-5ac6c58dc39a6c9c0ec5e5b1',
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
    },
    ...(query !== undefined && { queryStringParameters: query }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'example',
      ...(claims !== undefined && { authorizer: { jwt: { claims, scopes: null } } }),
      domainName: 'api.example.com',
      domainPrefix: 'api',
      http: { method, path: '/inquiries', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'bench' },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey: `${method} /inquiries`,
      stage: '$default',
      time: '01/Jan/2026:00:00:00 +0000',
      timeEpoch: 1_767_225_600_000,
    },
    ...(body !== undefined && { body: base64 ? Buffer.from(body).toString('base64') : body }),
    isBase64Encoded: base64,
  });
}

/** The claims of an owner's token, as the gateway hands them on. */
export const claimsOf = ({ sub, email }: Owner): Record<string, string> => ({
  aud: '7a8b9c0d1e2f3g4h5i6j7k8l9m',
  auth_time: '1767225600',
  email,
  email_verified: 'true',
  exp: '1767229200',
  iat: '1767225600',
  iss: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example',
  sub,
  token_use: 'id',
});

export const getEvent = (owner: Owner, query?: Record<string, string>): string =>
  makeEvent({ claims: claimsOf(owner), ...(query !== undefined && { query }) });

export const postEvent = (owner: Owner, body: string, base64 = false): string =>
  makeEvent({ method: 'POST', claims: claimsOf(owner), body, base64 });
