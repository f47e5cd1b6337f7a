import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAuthorizer } from '../../scripts/local/authorizer.ts';
import type { Authorize } from '../../scripts/local/authorizer.ts';
import { close, listen } from '../../scripts/local/server.ts';

const AUDIENCE = 'client-1';
const now = (): number => Math.floor(Date.now() / 1000);

const key = await generateKeyPair('RS256', { extractable: true });
const publicJwk = { ...(await exportJWK(key.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };

let issuer = '';
let authorize: Authorize;
let requests = 0;
const server = createServer((request, response) => {
  requests++;
  response.end(
    JSON.stringify(request.url === '/jwks' ? { keys: [publicJwk] } : { issuer, jwks_uri: `${issuer}/jwks` }),
  );
});
beforeAll(async () => {
  issuer = `http://127.0.0.1:${await listen(server, 0)}`;
});
afterAll(() => close(server));
beforeEach(() => {
  requests = 0;
  authorize = createAuthorizer({ issuer, audience: [AUDIENCE, 'client-2'] });
});

/** Of any type, so that they can be wrong. */
type Claims = Record<string, unknown>;

/** A good token, with claims changed; undefined removes. */
const sign = (claims: Claims = {}): Promise<string> =>
  new SignJWT({ iss: issuer, aud: AUDIENCE, sub: 's', iat: now(), exp: now() + 60, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
    .sign(key.privateKey);

describe('accepts', () => {
  it.each([
    ['a bare token', ''],
    ['Bearer and a token', 'Bearer '],
    ['bearer in lower case', 'bearer '],
  ])('%s', async (_, scheme) => {
    expect(await authorize(scheme + (await sign()))).toMatchObject({ claims: { sub: 's' } });
  });

  it.each([
    ['one of several audiences in the token', { aud: ['other', AUDIENCE] }],
    ['each configured audience', { aud: 'client-2' }],
    ['client_id where there is no aud, as in an access token', { aud: undefined, client_id: AUDIENCE }],
    ['nbf now', { nbf: now() }],
  ])('%s', async (_, claims) => {
    expect(await authorize(await sign(claims))).toHaveProperty('claims');
  });

  it('hands claims on as strings: numbers, booleans, arrays, objects; nulls are left out', async () => {
    const claims = { n: 7, t: true, f: false, a: ['x', 'y', 1], o: { k: 'v' }, z: null, s: 'ä "quoted"' };
    const token = await sign({ ...claims, iat: 1_718_722_804 });
    expect(await authorize(token)).toEqual({
      claims: {
        iss: issuer,
        aud: AUDIENCE,
        sub: 's',
        iat: '1718722804',
        exp: expect.stringMatching(/^\d{10}$/) as string,
        n: '7',
        t: 'true',
        f: 'false',
        a: '[x y 1]',
        o: '{"k":"v"}',
        s: 'ä "quoted"',
      },
    });
  });
});

// What is refused, and how keys are fetched, kept and found again: tests/security/tokens.test.ts.
it.each([undefined, ''])('refuses %j with a plain challenge', async (header) => {
  expect(await authorize(header)).toEqual({ challenge: 'Bearer' });
});

it('fetches the keys once, and they go on working when the issuer is down', async () => {
  expect(await authorize(await sign())).toHaveProperty('claims');
  await close(server);
  for (let index = 0; index < 3; index++) expect(await authorize(await sign())).toHaveProperty('claims');
  expect(requests).toBe(2);
});
