/** Tokens at the local gateway; on AWS, API Gateway decides. */
import { createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { CompactSign, decodeJwt, type JWK } from 'jose';
import { afterAll, expect, it } from 'vitest';
import { createKey, readKey } from '../../lib/issuer-keys.ts';
import { createAuthorizer } from '../../local/authorizer.ts';
import { startIssuer } from '../../local/issuer/issuer-server.ts';
import { createFolder } from '../helpers/data-folder.ts';

const FUTURE = 9_999_999_999;
const keysFile = join(createFolder(afterAll), 'keys.json');
const { url: issuer, clientId, token, close } = await startIssuer({ port: 0, keysFile });
afterAll(close);
const authorize = createAuthorizer({ issuer, audience: [clientId, 'client-2'] });

const key = readKey(keysFile);
const other = createKey();
const toPublic = (jwk: JWK) => createPublicKey({ key: { ...jwk }, format: 'jwk' });
const accepted = decodeJwt(await token());
/** Undefined removes a claim or a field of the header. */
const sign = (claims: object = {}, header: object = {}, by: JWK | Uint8Array = key) =>
  new CompactSign(Buffer.from(JSON.stringify({ ...accepted, ...claims })))
    .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
    .sign(by);
const [, payload, signature] = (await sign()).split('.');
const none = Buffer.from(JSON.stringify({ alg: 'none', kid: key.kid })).toString('base64url');
const pem = Buffer.from(toPublic(key).export({ type: 'spki', format: 'pem' }));

it.each<[string, string | Promise<string>]>([
  ['alg none', [none, payload, signature].join('.')],
  ['HS256 with the public key', sign({}, { alg: 'HS256' }, pem)],
  ['no kid', sign({}, { kid: undefined })],
  ['an unknown kid', sign({}, { kid: 'k2' })],
  ['the signature of another key', sign({}, {}, other)],
  [
    'a key that the token has itself',
    sign({}, { jwk: toPublic(other).export({ format: 'jwk' }) }, other),
  ],
  ['another issuer', sign({ iss: 'https://evil.example' })],
  ['exp in the past', sign({ exp: 2 })],
  ['no exp', sign({ exp: undefined })],
  ['nbf in the future', sign({ nbf: FUTURE })],
  ['iat in the future', sign({ iat: FUTURE })],
  ['no audience', sign({ aud: undefined })],
  ['another audience', sign({ aud: ['other'], client_id: clientId })],
])('refuses %s', async (_, refused) => {
  const challenge = /^Bearer scope="" error="invalid_token" error_description="the token [\w ]+"$/;
  expect(await authorize(await refused)).toEqual({
    challenge: expect.stringMatching(challenge) as string,
  });
});

it.each<[string, claims?: object]>([
  ['Bearer '],
  ['bearer '],
  ['', { aud: ['other', 'client-2'] }],
  ['', { aud: undefined, client_id: clientId }],
])('accepts %j and a token with %j, and not two', async (prefix, claims) => {
  const taken = prefix + (await sign(claims));
  expect(await authorize(taken)).toHaveProperty('claims.sub');
  expect(await authorize(`${taken},${taken}`)).toHaveProperty('challenge');
});

it('answers a request without a token with a plain challenge', async () => {
  expect(await authorize(undefined)).toEqual({ challenge: 'Bearer' });
});

it('passes claims on as strings', async () => {
  const answer = await authorize(await sign({ iat: 1, email_verified: true }));
  expect(answer).toMatchObject({ claims: { aud: clientId, iat: '1', email_verified: 'true' } });
});
