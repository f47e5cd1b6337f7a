import { expect, it } from 'vitest';
import { parseToken } from '../../web/src/session/token.ts';

const toToken = (payload: string): string =>
  `e30.${Buffer.from(payload).toString('base64url')}.c2ln`;

it('the user of an ID token is what its claims say, in any characters', () => {
  // With both characters that base64url has instead of base64's.
  const user = { sub: '??>~~~ÿÿÿ', email: 'zoë+ニ@example.com' };
  const token = toToken(JSON.stringify({ ...user, token_use: 'id' }));
  expect(token).toMatch(/-.*_|_.*-/);
  expect(parseToken(token)).toEqual(user);
});

it.each([
  ['Bearer e30.e30.e30', 'must be a JWT'],
  [toToken('no'), 'must be a JWT'],
  ['e30.a.c2ln', 'must be a JWT'],
  [toToken('"text"'), 'must be a JWT'],
  [toToken('{"sub":"1"}'), 'lacks the claims “sub” and “email”'],
  [toToken('{"sub":1,"email":"a"}'), 'lacks the claims “sub” and “email”'],
])('no user can be read from %s', (token, reason) => {
  expect(() => parseToken(token)).toThrow(reason);
});
