import { expect, it } from 'vitest';
import { isEmailVerified, parseIdentity } from '../../src/identity.ts';
import { EMAIL, SUB } from '../helpers/events.ts';

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

it.each([' Ana+tag#1$%@Example.COM ', 'ána', 'a\u0301na'])(
  'keeps the email %j byte for byte',
  (email) => expect(parseIdentity({ sub: SUB, email }).email).toBe(email),
);

const SUBS = [undefined, [SUB], `${SUB}0`, `${SUB}\n`, `{${SUB}`, SUB.replace('1', 'g')];
const EMAILS = [undefined, '', [EMAIL], 'a\uD800@x'];
it.each([
  undefined,
  null,
  'sub=1',
  ...SUBS.map((sub) => ({ sub, email: EMAIL })),
  ...EMAILS.map((email) => ({ sub: SUB, email })),
])('answers 401 to %j', (claims) =>
  expect(() => parseIdentity(claims)).toThrow(expect.objectContaining({ status: 401 }) as Error),
);

it.each([
  ['true', true],
  [true, true],
  ['false', false],
  [undefined, false],
])('the claim email_verified %j is %j', (email_verified, expected) =>
  expect(isEmailVerified({ email_verified })).toBe(expected),
);
