/** tests/security/fuzz.test.ts has claims that are refused, tests/security/owners.test.ts emails that look alike. */
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

it.each([
  ['true', true],
  [true, true],
  ['false', false],
  [undefined, false],
])('the claim email_verified %j is %j', (email_verified, expected) =>
  expect(isEmailVerified({ email_verified })).toBe(expected),
);
