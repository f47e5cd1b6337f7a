import { describe, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { isEmailVerified, parseIdentity } from '../../src/identity.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { EMAIL, makeEvent, makePost, SUB } from '../helpers/events.ts';

const withClaims = (claims: unknown) => (event: GatewayEvent) => ({
  ...event,
  requestContext: { ...event.requestContext, authorizer: { jwt: { claims } } },
});
const withAuthorizer = (authorizer?: object) => (event: GatewayEvent) => ({
  ...event,
  requestContext: { http: { ...event.requestContext?.http }, ...(authorizer && { authorizer }) },
});

describe.each([
  ['GET', makeEvent({})],
  ['POST', makePost({ subject: 's', body: 'b' })],
])('%s', (_, event) => {
  // The specification, "Authentication", 3.
  it.each([
    ['email is missing', withClaims({ sub: SUB })],
    ['email is empty', withClaims({ sub: SUB, email: '' })],
    ['email is not a text', withClaims({ sub: SUB, email: [EMAIL] })],
    ['email has a lone surrogate', withClaims({ sub: SUB, email: 'a\ud800@example.com' })],
    ['sub is missing', withClaims({ email: EMAIL })],
    ['sub is empty', withClaims({ email: EMAIL, sub: '' })],
    ['sub is not a text', withClaims({ email: EMAIL, sub: 1 })],
    ['sub is not a UUID', withClaims({ email: EMAIL, sub: 'not-a-uuid' })],
    ['sub is a UUID and more', withClaims({ email: EMAIL, sub: `${SUB}0` })],
    ['sub is a UUID with a digit too few', withClaims({ email: EMAIL, sub: SUB.slice(1) })],
    ['there are no claims', withClaims(undefined)],
    ['the claims are null', withClaims(null)],
    ['the authorizer has no token', withAuthorizer({})],
    ['no authorizer ran', withAuthorizer()],
  ])('answers 401 when %s, and asks the store nothing', async (_condition, change) => {
    const store = { put: vi.fn<() => never>(), list: vi.fn<() => never>() };
    const app = createApp({ inquiries: createInquiries(store), corsOrigin: '*' });
    const { statusCode, body } = await app(change(event));
    const message = 'Invalid or missing required JWT claims';
    expect([statusCode, JSON.parse(body)]).toEqual([401, { error: 'Unauthorized', message }]);
    expect([store.put, store.list].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });
});

it.each([
  ['upper case', SUB.toUpperCase(), SUB],
  ['32 digits', SUB.replaceAll('-', ''), SUB],
  ['braces', `{${SUB}}`, SUB],
  ['a URN', `URN:UUID:${SUB}`, SUB],
  ['another version and variant', '90cc89dc-2031-f0c6-f9f5-1d1d0a2d6a5e'],
  ['nil', '00000000-0000-0000-0000-000000000000'],
])('takes a sub of %s and makes it canonical lower case', (_, sub, canonical = sub) =>
  expect(parseIdentity({ sub, email: EMAIL }).sub).toBe(canonical),
);

it.each([
  ['true', true],
  [true, true],
  ['false', false],
  [undefined, false],
])('the claim email_verified %j is %j', (email_verified, expected) =>
  expect(isEmailVerified({ email_verified })).toBe(expected),
);
