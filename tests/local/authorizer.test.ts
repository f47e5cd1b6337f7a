/** How the local gateway takes tokens. On AWS, API Gateway decides. */
import { constants, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { createAuthorizer } from '../../local/authorizer.ts';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';

type Fields = Record<string, unknown>;
const FUTURE = 9_999_999_999;
const key = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });

const server = createServer((_request, response) => {
  const jwk = { ...key.publicKey.export({ format: 'jwk' }), kid: 'k1' };
  response.end(JSON.stringify({ keys: [jwk] }));
});
const issuer = await serve(server);
const authorize = createAuthorizer({ issuer, audience: ['client-1', 'client-2'] });
afterAll(() => closeServer(server));

type Sign = (input: Buffer) => Buffer;
const encode = (value: string | Buffer): string => Buffer.from(value).toString('base64url');
const byKey: Sign = (input) => sign('sha256', input, key.privateKey);
const byOther: Sign = (input) => sign('sha256', input, other.privateKey);
const publicPem = key.publicKey.export({ type: 'spki', format: 'pem' });
const byHmac: Sign = (input) => createHmac('sha256', publicPem).update(input).digest();
const byPss: Sign = (input) =>
  sign('sha256', input, {
    key: key.privateKey,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  });
/** An undefined value removes a field. */
function makeToken(claims: Fields = {}, header: Fields = {}, signer = byKey): string {
  const head = { alg: 'RS256', kid: 'k1', ...header };
  const payload = { iss: issuer, aud: 'client-1', sub: 's', iat: 1, exp: FUTURE, ...claims };
  // JSON.stringify would not write this number.
  const text = JSON.stringify(payload).replace('"1e400"', '1e400');
  const input = `${encode(JSON.stringify(head))}.${encode(text)}`;
  return `${input}.${encode(signer(Buffer.from(input)))}`;
}
const jwk = other.publicKey.export({ format: 'jwk' });

it.each<[string, claims?: Fields, header?: Fields, signer?: Sign]>([
  ['alg none', {}, { alg: 'none' }],
  ['HS256 with the public key', {}, { alg: 'HS256' }, byHmac],
  ['RSA-PSS, which API Gateway does not know', {}, { alg: 'PS256' }, byPss],
  ['no kid', {}, { kid: undefined }],
  ['an unknown kid', {}, { kid: 'k2' }],
  ['the signature of another key', {}, {}, byOther],
  ['a key that the token has itself', {}, { jwk }, byOther],
  ['another issuer', { iss: 'https://evil.example' }],
  ['exp in the past', { exp: 2 }],
  ['no exp', { exp: undefined }],
  ['exp infinite', { exp: '1e400' }],
  ['nbf in the future', { nbf: FUTURE }],
  ['iat in the future', { iat: FUTURE }],
  ['no audience', { aud: undefined }],
  ['another audience', { aud: ['other'], client_id: 'client-1' }],
])('refuses %s', async (_, ...changes) => {
  const challenge = /^Bearer scope="" error="invalid_token" error_description="the token [\w ]+"$/;
  const token = makeToken(...changes);
  expect(await authorize(token)).toEqual({ challenge: expect.stringMatching(challenge) as string });
});

it.each<[string, claims?: Fields]>([
  ['Bearer '],
  ['bearer '],
  ['', { aud: ['other', 'client-2'] }],
  ['', { aud: undefined, client_id: 'client-1' }],
])('accepts %j and a token with %j, and not two', async (prefix, claims) => {
  const token = prefix + makeToken(claims);
  expect(await authorize(token)).toMatchObject({ claims: { sub: 's' } });
  expect(await authorize(`${token},${token}`)).toHaveProperty('challenge');
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
