/** Which tokens the local gateway accepts and refuses; on AWS the authorizer of API Gateway decides. */
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createAuthorizer, type Authorize } from '../../local/authorizer.ts';
import { close, listen } from '../../lib/loopback-server.ts';

type Fields = Readonly<Record<string, unknown>>;
const FUTURE = 9_999_999_999;
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = rsa();
const other = rsa();

let issuer = '';
let authorize: Authorize;
let requests = 0;
const server = createServer((_request, response) => {
  requests++;
  const jwk = { ...key.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256' };
  response.end(JSON.stringify({ keys: [jwk] }));
});
beforeAll(async () => {
  issuer = `http://127.0.0.1:${await listen(server, 0)}`;
  authorize = createAuthorizer({ issuer, audience: ['client-1', 'client-2'] });
});
afterAll(() => server.listening && close(server));

const encode = (value: string | Buffer): string => Buffer.from(value).toString('base64url');
const bySigning =
  ({ privateKey } = key) =>
  (input: string): Buffer =>
    createSign('sha256').update(input).sign(privateKey);
/** A token with changes; undefined removes a field. */
function makeToken(claims: Fields | string = {}, header: Fields = {}, sign = bySigning()): string {
  const usual = { iss: issuer, aud: 'client-1', sub: 's', iat: 1, exp: FUTURE };
  const payload = typeof claims === 'string' ? claims : JSON.stringify({ ...usual, ...claims });
  const head = JSON.stringify({ alg: 'RS256', kid: 'k1', ...header });
  const input = `${encode(head)}.${encode(payload)}`;
  return `${input}.${encode(sign(input))}`;
}
const publicPem = key.publicKey.export({ type: 'spki', format: 'pem' });
const byHmac = (input: string): Buffer => createHmac('sha256', publicPem).update(input).digest();
const jwk = other.publicKey.export({ format: 'jwk' });

it.each<[string, () => string]>([
  ['two tokens', () => `${makeToken()},${makeToken()}`],
  ['alg none', () => makeToken({}, { alg: 'none' })],
  ['HS256 with the public key', () => makeToken({}, { alg: 'HS256' }, byHmac)],
  ['no kid', () => makeToken({}, { kid: undefined })],
  ['an unknown kid', () => makeToken({}, { kid: 'k2' })],
  ['the signature of another key', () => makeToken({}, {}, bySigning(other))],
  ['a key that the token has itself', () => makeToken({}, { jwk }, bySigning(other))],
  ['another issuer', () => makeToken({ iss: 'https://evil.example' })],
  ['exp in the past', () => makeToken({ exp: 2 })],
  ['no exp', () => makeToken({ exp: undefined })],
  ['exp infinite', () => makeToken(`{"iss":"${issuer}","aud":"client-1","exp":1e400}`)],
  ['nbf in the future', () => makeToken({ nbf: FUTURE })],
  ['iat in the future', () => makeToken({ iat: FUTURE })],
  ['no audience', () => makeToken({ aud: undefined })],
  ['another audience', () => makeToken({ aud: ['other'], client_id: 'client-1' })],
])('refuses %s', async (_, authorization) => {
  const challenge = /^Bearer scope="" error="invalid_token" error_description="the token [\w ]+"$/;
  const answer = await authorize(authorization());
  expect(answer).toEqual({ challenge: expect.stringMatching(challenge) as string });
});

it.each<[string, () => string]>([
  ['Bearer and a token', () => `Bearer ${makeToken()}`],
  ['bearer in lower case', () => `bearer ${makeToken()}`],
  ['one of several audiences', () => makeToken({ aud: ['other', 'client-2'] })],
  [
    'client_id without aud, as in an access token',
    () => makeToken({ aud: undefined, client_id: 'client-1' }),
  ],
])('accepts %s', async (_, authorization) => {
  expect(await authorize(authorization())).toMatchObject({ claims: { sub: 's' } });
});

it('answers a request without a token with a plain challenge', async () => {
  expect(await authorize(undefined)).toEqual({ challenge: 'Bearer' });
});

it('passes claims on as strings: numbers, booleans, arrays, objects; nulls are left out', async () => {
  const token = makeToken({ t: true, a: ['x', 1], o: { k: 'v' }, z: null });
  const texts = { aud: 'client-1', iat: '1', t: 'true', a: '[x 1]', o: '{"k":"v"}' };
  const answer = await authorize(token);
  expect(answer).toMatchObject({ claims: texts });
  expect(answer).not.toHaveProperty('claims.z');
});

it('asks the issuer once in 30 seconds for unknown keys, and keeps those it has while it is down', async () => {
  const authorizer = createAuthorizer({ issuer, audience: ['client-1'] });
  const start = Date.now();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(start);
  const known = async () => authorizer(makeToken());
  expect(await known()).toHaveProperty('claims');
  for (const [seconds, expected] of [
    [29, 0],
    [31, 1],
    [60, 0],
    [62, 1],
  ] as const) {
    clock.mockReturnValue(start + seconds * 1_000);
    requests = 0;
    for (const kid of ['a', 'b', 'c']) await authorizer(makeToken({}, { kid }));
    expect([seconds, requests]).toEqual([seconds, expected]);
  }
  await close(server);
  clock.mockReturnValue(start + 100_000);
  expect(await authorizer(makeToken({}, { kid: 'a' }))).toHaveProperty('challenge');
  expect(await known()).toHaveProperty('claims');
});
