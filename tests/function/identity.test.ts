import { expect, it } from 'vitest';
import { isEmailVerified, parseIdentity } from '../../src/identity.ts';
import { EMAIL, SUB } from '../helpers/events.ts';

it.each([
  ['upper case', SUB.toUpperCase(), SUB],
  ['32 digits', SUB.replaceAll('-', ''), SUB],
  ['braces', `{${SUB}}`, SUB],
  ['a URN', `URN:UUID:${SUB}`, SUB],
  ['another version', '018e5f3c-7d2e-fc4a-8f1b-3a2b1c0d9e8f'],
  ['a variant outside RFC 9562', '90cc89dc-2031-70c6-f9f5-1d1d0a2d6a5e'],
  ['nil', '00000000-0000-0000-0000-000000000000'],
])('takes a sub of %s and makes it canonical lower case', (_, sub, canonical = sub) => {
  expect(parseIdentity({ sub, email: EMAIL })).toEqual({ sub: canonical, email: EMAIL });
});

it.each([' Ana+tag#1$%@Example.COM ', 'ána', 'a\u0301na'])(
  'keeps the email %j byte for byte',
  (email) => expect(parseIdentity({ sub: SUB, email }).email).toBe(email),
);

it.each<[string, unknown[]]>([
  ['claims', [undefined, null, 'sub=1', {}]],
  ['emails', [undefined, '', [EMAIL], 'a\uD800@x'].map((email) => ({ sub: SUB, email }))],
  [
    'subs',
    [undefined, [SUB], `${SUB}0`, `${SUB}\n`, `{${SUB}`, SUB.replace('1', 'g')].map((sub) => ({
      sub,
      email: EMAIL,
    })),
  ],
])('answers 401 to other %s', (_, others) => {
  for (const claims of others) {
    expect(() => parseIdentity(claims)).toThrow(
      expect.objectContaining({ name: 'ApiError', status: 401 }) as Error,
    );
  }
});

it.each([
  [{ email_verified: 'true' }, true],
  [{ email_verified: true }, true],
  [{ email_verified: 'false' }, false],
  [undefined, false],
])('whether the email is verified by the claims %j: %j', (claims, expected) => {
  expect(isEmailVerified(claims)).toBe(expected);
});
