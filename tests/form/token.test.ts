/** The user of the custom element, whose page hands over its tokens. */
import { expect, it } from 'vitest';
import { ConfigError } from '../../web/src/config.ts';
import { parseToken } from '../../web/src/token.ts';

const toToken = (payload: string): string =>
  `e30.${Buffer.from(payload).toString('base64url')}.c2ln`;

it('the user of an ID token is what its claims say, in any characters', () => {
  // The text has both characters of base64url that base64 does not have.
  const user = { sub: '??>~~~ÿÿÿ', email: 'zoë+ニ@example.com' };
  const token = toToken(JSON.stringify({ ...user, token_use: 'id' }));
  expect(token).toMatch(/-.*_|_.*-/);
  expect(parseToken(token)).toEqual(user);
});

it.each([
  ['a header with its scheme', `Bearer ${toToken('{"sub":"1","email":"a@example.com"}')}`],
  ['an opaque token', 'abc'],
  ['a payload that is not JSON', toToken('no')],
  ['a payload that is not base64', 'e30.a.c2ln'],
  ['a payload that is no object', toToken('"text"')],
])('no user can be read from what is not a JWT: %s', (_name, token) => {
  expect(() => parseToken(token)).toThrow(new ConfigError('The token must be a JWT.'));
});

it.each(['{"sub":"1"}', '{"sub":1,"email":"a"}'])(
  'no user can be read without sub and email, as in an access token: %s',
  (payload) => {
    expect(() => parseToken(toToken(payload))).toThrow('lacks the claims “sub” and “email”');
  },
);
