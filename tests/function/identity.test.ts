import { expect, it } from 'vitest';
import { isEmailVerified, parseIdentity } from '../../src/identity.ts';
import { EMAIL, SUB } from '../helpers/events.ts';

const UNAUTHORIZED = {
  name: 'ApiError',
  status: 401,
  code: 'Unauthorized',
  message: 'Invalid or missing required JWT claims',
};

it.each([
  ['8-4-4-4-12 digits', SUB],
  ['upper case', SUB.toUpperCase()],
  ['32 digits', SUB.replaceAll('-', '')],
  ['braces', `{${SUB}}`],
  ['a URN', `urn:uuid:${SUB}`],
  ['an upper case URN', `URN:UUID:${SUB.toUpperCase()}`],
])('takes a sub as %s and makes it canonical lower case', (_, sub) => {
  expect(parseIdentity({ sub, email: EMAIL })).toEqual({ sub: SUB, email: EMAIL });
});

it.each([
  ['version 1', '2c1d43b8-e6d7-11ee-b62f-0242ac120002'],
  ['version 15', '018e5f3c-7d2e-fc4a-8f1b-3a2b1c0d9e8f'],
  ['a variant outside RFC 9562', '90cc89dc-2031-70c6-f9f5-1d1d0a2d6a5e'],
  ['nil', '00000000-0000-0000-0000-000000000000'],
  ['max', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
])('takes a sub of %s', (_, sub) => {
  expect(parseIdentity({ sub, email: EMAIL })).toEqual({ sub, email: EMAIL });
});

it.each(['Ana@Example.COM', ' ana+tag#1$%@example.com ', 'ána', 'a\u0301na', 'x'.repeat(3000)])(
  'keeps the email %j byte for byte',
  (email) => {
    expect(parseIdentity({ sub: SUB, email }).email).toBe(email);
  },
);

it.each([
  ['there are no claims', undefined],
  ['the claims are null', null],
  ['the claims are a string', 'sub=1'],
  ['the claims are empty', {}],
  ['the email is missing', { sub: SUB }],
  ['the email is empty', { sub: SUB, email: '' }],
  ['the email is an array', { sub: SUB, email: [EMAIL] }],
  ['the email has a lone surrogate', { sub: SUB, email: 'a\uD800@example.com' }],
  ...[undefined, '', null, 1, [SUB], 'ana', `${SUB}0`, `${SUB}\n`, ` ${SUB}`, `{${SUB}`].map(
    (sub): [string, unknown] => [`sub is ${JSON.stringify(sub)}`, { sub, email: EMAIL }],
  ),
  ['sub has a digit that is not hexadecimal', { sub: SUB.replace('1', 'g'), email: EMAIL }],
  ['sub has misplaced hyphens', { sub: '1f0d2c3b4-a59-4687-9a5b-c6d7e8f90a1b', email: EMAIL }],
])('answers 401 when %s', (_, claims) => {
  expect(() => parseIdentity(claims)).toThrow(expect.objectContaining(UNAUTHORIZED) as Error);
});

it.each([
  ['true', true],
  [true, true],
  ['false', false],
  ['TRUE', false],
  ['', false],
  [false, false],
  [undefined, false],
])(
  'the email is verified when the claim email_verified is true: %j',
  (email_verified, expected) => {
    expect(isEmailVerified({ email_verified })).toBe(expected);
  },
);

it.each([undefined, null, 'sub=1'])(
  'the email is not verified when the claims are %j',
  (claims) => {
    expect(isEmailVerified(claims)).toBe(false);
  },
);
