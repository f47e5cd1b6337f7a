/**
 * Which tokens the local gateway accepts and refuses; on AWS the authorizer of API Gateway decides. Signatures are jose's: of
 * forged tokens there is one for each way in which jose is configured.
 */
import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAuthorizer, type Authorize } from '../../local/authorizer.ts';
import { close, listen } from '../../lib/loopback-server.ts';

type Fields = Record<string, unknown>;
const AUDIENCE = 'client-1';
const now = (): number => Math.floor(Date.now() / 1000);
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = rsa();
const other = rsa();
const jwk = (publicKey: KeyObject, more: Fields) => ({
  ...publicKey.export({ format: 'jwk' }),
  ...more,
});
const GOOD_KEY = jwk(key.publicKey, { kid: 'k1', alg: 'RS256', use: 'sig' });

/** The issuer's requests and its JWKS endpoint; `foreign` is a server that only tokens name. */
let issuer = '';
let foreign = '';
let issuerRequests = 0;
let foreignRequests = 0;
const describeIssuer = (response: ServerResponse): unknown =>
  response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }));
let respond = describeIssuer;
const publish = (...keys: Fields[]): void => {
  respond = (response) => response.end(JSON.stringify({ keys }));
};
const issuerServer = createServer((request, response) => {
  issuerRequests++;
  if (request.url === '/jwks') respond(response);
  else describeIssuer(response);
});
const foreignServer = createServer((_request, response) => {
  foreignRequests++;
  const keys = [jwk(other.publicKey, { kid: 'k1' })];
  response.end(JSON.stringify({ issuer: foreign, jwks_uri: `${foreign}/jwks`, keys }));
});
beforeAll(async () => {
  issuer = `http://127.0.0.1:${await listen(issuerServer, 0)}`;
  foreign = `http://127.0.0.1:${await listen(foreignServer, 0)}`;
});
afterAll(() => Promise.all([issuerServer, foreignServer].map(close)));

let authorize: Authorize;
beforeEach(() => {
  authorize = createAuthorizer({ issuer, audience: [AUDIENCE, 'client-2'] });
  publish(GOOD_KEY);
  issuerRequests = 0;
  foreignRequests = 0;
});

const text = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
const encode = (value: string | Buffer): string => Buffer.from(value).toString('base64url');
/** In a change, undefined removes the field. */
const header = (change: Fields = {}): Fields => ({ alg: 'RS256', kid: 'k1', ...change });
const payload = (change: Fields = {}): Fields => ({
  iss: issuer,
  aud: AUDIENCE,
  sub: 's',
  iat: now(),
  exp: now() + 60,
  ...change,
});
const by =
  (privateKey: KeyObject) =>
  (input: string): Buffer =>
    createSign('sha256').update(input).sign(privateKey);
const token = (
  head: unknown = header(),
  body: unknown = payload(),
  signer = by(key.privateKey),
): string => {
  const input = `${encode(text(head))}.${encode(text(body))}`;
  return `${input}.${encode(signer(input))}`;
};
const withHeader = (change: Fields, signer?: ReturnType<typeof by>) => (): string =>
  token(header(change), payload(), signer);
const withClaims = (change: Fields) => (): string => token(header(), payload(change));
const foreignKey = by(other.privateKey);
const publicPem = key.publicKey.export({ type: 'spki', format: 'pem' });
const hs256 = (input: string): Buffer => createHmac('sha256', publicPem).update(input).digest();

type Row = [name: string, authorization: () => string];
const each = (name: string, values: unknown[], change: (fields: Fields) => () => string): Row[] =>
  values.map((value) => [`${name} ${JSON.stringify(value)}`, change({ [name]: value })]);

const refused: Record<string, Row[]> = {
  'the token is malformed': [
    ['another scheme', () => `DPoP ${token()}`],
    ['two tokens', () => `${token()},${token()}`],
    ['no signature', () => token().replace(/\.[^.]*$/, '')],
    ['alg none and an empty signature', withHeader({ alg: 'none' }, () => Buffer.alloc(0))],
  ],
  'the token has no key identifier': each('kid', [undefined, 1], withHeader),
  'the token could not be verified': [
    ...each('alg', ['none'], withHeader),
    ['HS256 with the public key', withHeader({ alg: 'HS256' }, hs256)],
    ['the signature of an unknown key', withHeader({}, foreignKey)],
    ['the URL of a key (jku)', () => withHeader({ jku: `${foreign}/jwks` }, foreignKey)()],
    ['another issuer with its key', () => token(header(), payload({ iss: foreign }), foreignKey)],
    ...each('exp', ['9999999999', 0], withClaims),
    ...each('nbf', [9_999_999_999], withClaims),
  ],
  'the token must have an expiry': [
    ['no exp', withClaims({ exp: undefined })],
    ['exp infinite', () => token(header(), text(payload()).replace(/}$/, ',"exp":1e400}'))],
  ],
  'the token was issued in the future': [
    ['iat in the future', () => withClaims({ iat: now() + 60 })()],
  ],
  'the token has an invalid audience': [
    ...each('aud', [undefined, ['other'], [[AUDIENCE]]], withClaims),
    ['aud wrong, client_id right', withClaims({ aud: 'other', client_id: AUDIENCE })],
    ['client_id wrong', withClaims({ aud: undefined, client_id: 'other' })],
  ],
};

const accepted: Row[] = [
  ['a bare token', () => token()],
  ['Bearer and a token', () => `Bearer ${token()}`],
  ['bearer in lower case', () => `bearer ${token()}`],
  ['each configured audience', withClaims({ aud: 'client-2' })],
  ['one of several audiences in the token', withClaims({ aud: ['other', AUDIENCE] })],
  [
    'client_id without aud, as in an access token',
    withClaims({ aud: undefined, client_id: AUDIENCE }),
  ],
  ['nbf now', () => withClaims({ nbf: now() })()],
  ['no iat', withClaims({ iat: undefined })],
];

describe('the authorizer', () => {
  describe.each(Object.entries(refused))('refuses, because %s:', (reason, rows) => {
    it.each(rows)('%s', async (_name, authorization) => {
      const challenge = `Bearer scope="" error="invalid_token" error_description="${reason}"`;
      expect(await authorize(authorization())).toEqual({ challenge });
      expect(await authorize(token())).toHaveProperty('claims');
      // The issuer's discovery document and JWKS, once each, and nothing that the token names.
      expect([issuerRequests, foreignRequests]).toEqual([2, 0]);
    });
  });

  it.each(accepted)('accepts %s', async (_name, authorization) => {
    expect(await authorize(authorization())).toMatchObject({ claims: { sub: 's' } });
  });

  it.each([undefined, ''])('refuses %j with a plain challenge', async (authorization) => {
    expect(await authorize(authorization)).toEqual({ challenge: 'Bearer' });
  });

  it('passes claims on as strings: numbers, booleans, arrays, objects; nulls are left out', async () => {
    const claims = { n: 7, t: true, a: ['x', 1], o: { k: 'v' }, z: null, s: 'ä "quoted"' };
    const answer = await authorize(
      withClaims({ ...claims, iat: 1_718_722_804, exp: 9_999_999_999 })(),
    );
    expect(answer).toEqual({
      claims: {
        iss: issuer,
        aud: AUDIENCE,
        sub: 's',
        iat: '1718722804',
        exp: '9999999999',
        n: '7',
        t: 'true',
        a: '[x 1]',
        o: '{"k":"v"}',
        s: 'ä "quoted"',
      },
    });
  });
});

it('asks the issuer once in 30 seconds, however many tokens name unknown keys', async () => {
  const start = Date.now();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(start);
  await authorize(token());
  for (const [seconds, requests] of [
    [29, 0],
    [31, 1],
    [60, 0],
    [62, 1],
  ] as const) {
    clock.mockReturnValue(start + seconds * 1_000);
    issuerRequests = 0;
    for (const kid of ['a', 'b', 'c']) await authorize(withHeader({ kid }, foreignKey)());
    expect([seconds, issuerRequests]).toEqual([seconds, requests]);
  }
});

it.each<[string, (response: ServerResponse) => unknown]>([
  ['is down', (response) => response.destroy()],
  ['publishes no keys', (response) => response.end('{"keys":[null,"k2"]}')],
])(
  'when the issuer %s, cached keys stay valid, and no other token is accepted',
  async (_name, failing) => {
    const isAccepted = async (authorization = token()) =>
      'claims' in (await authorize(authorization));
    respond = failing;
    expect(await isAccepted()).toBe(false);
    publish(GOOD_KEY);
    expect(await isAccepted()).toBe(true);
    // Past the time in which an unknown kid does not fetch the keys again.
    const later = Date.now() + 31_000;
    vi.spyOn(Date, 'now').mockReturnValue(later);
    issuerRequests = 0;
    respond = failing;
    expect(await isAccepted(withHeader({ kid: 'k2' }, foreignKey)())).toBe(false);
    expect(await isAccepted()).toBe(true);
    expect([issuerRequests, foreignRequests]).toEqual([1, 0]);
  },
);
