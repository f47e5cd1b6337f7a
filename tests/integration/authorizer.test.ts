import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAuthorizer } from '../../scripts/local/authorizer.ts';
import type { Authorize } from '../../scripts/local/authorizer.ts';
import { close, listen } from '../../scripts/local/server.ts';

const AUDIENCE = 'client-1';
const now = (): number => Math.floor(Date.now() / 1000);
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const key = await generateKeyPair('RS256', { extractable: true });
const stranger = await generateKeyPair('RS256');
const publicJwk = { ...(await exportJWK(key.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };

let issuer = '';
let authorize: Authorize;
let jwks: object | undefined;
let requests = 0;
const server = createServer((request, response) => {
  requests++;
  if (jwks === undefined) response.writeHead(500);
  response.end(JSON.stringify(request.url === '/jwks' ? jwks : { issuer, jwks_uri: `${issuer}/jwks` }));
});
beforeAll(async () => {
  issuer = `http://127.0.0.1:${await listen(server, 0)}`;
});
afterAll(() => close(server));
beforeEach(() => {
  jwks = { keys: [publicJwk] };
  requests = 0;
  authorize = createAuthorizer({ issuer, audience: [AUDIENCE, 'client-2'] });
});

/** Of any type, so that they can be wrong. */
type Claims = Record<string, unknown>;

/** A good token, with claims and header changed; undefined removes. */
const sign = (claims: Claims = {}, header: object = {}, signingKey = key.privateKey): Promise<string> =>
  new SignJWT({ iss: issuer, aud: AUDIENCE, sub: 's', iat: now(), exp: now() + 60, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header })
    .sign(signingKey);

/** A token whose claims are given as text, so that they can be what JSON.stringify does not write. */
async function signText(payload: string): Promise<string> {
  const input = `${encode({ alg: 'RS256', kid: 'k1' })}.${Buffer.from(payload).toString('base64url')}`;
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key.privateKey, Buffer.from(input));
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}

const INVALID = {
  challenge: expect.stringMatching(
    /^Bearer scope="" error="invalid_token" error_description="[\w ]+"$/,
  ) as string,
};

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

describe('refuses', () => {
  it.each([undefined, ''])('%j with a plain challenge', async (header) => {
    expect(await authorize(header)).toEqual({ challenge: 'Bearer' });
  });

  it.each(['Bearer', 'Bearer ', 'x', 'a.b.c', '..', 'Basic YTpi', 'null', 'x'.repeat(9000)])(
    '%j',
    async (header) => {
      expect(await authorize(header)).toEqual(INVALID);
    },
  );

  it.each<[string, Claims | ((issuer: string) => Claims)]>([
    ['exp missing', { exp: undefined }],
    ['exp past', { exp: now() - 1 }],
    ['exp as text', { exp: '9999999999' }],
    ['nbf in the future', { nbf: now() + 60 }],
    ['iat in the future', { iat: now() + 60 }],
    ['iat as text', { iat: '1' }],
    ['iss missing', { iss: undefined }],
    ['iss another', { iss: 'https://evil.example' }],
    ['iss with a slash', (ours) => ({ iss: `${ours}/` })],
    ['iss as an array', (ours) => ({ iss: [ours] })],
    ['aud missing', { aud: undefined }],
    ['aud another', { aud: 'other' }],
    ['aud another, client_id ours', { aud: 'other', client_id: AUDIENCE }],
    ['aud empty', { aud: [] }],
    ['aud a number', { aud: 7 }],
    ['aud ours in an inner array', { aud: [[AUDIENCE]] }],
    ['aud in other case', { aud: AUDIENCE.toUpperCase() }],
    ['client_id another', { aud: undefined, client_id: 'other' }],
  ])('%s', async (_, wrong) => {
    expect(await authorize(await sign(typeof wrong === 'function' ? wrong(issuer) : wrong))).toEqual(INVALID);
  });

  it('an expiry that is infinite', async () => {
    const claims = JSON.stringify({ iss: issuer, aud: AUDIENCE, exp: 0 });
    expect(await authorize(await signText(claims.replace('"exp":0', `"exp":${now() + 60}`)))).toHaveProperty(
      'claims',
    );
    expect(await authorize(await signText(claims.replace('"exp":0', '"exp":1e400')))).toEqual(INVALID);
  });

  it.each<[string, object]>([
    ['no kid', { kid: undefined }],
    ['an unknown kid', { kid: 'k2' }],
    ['an empty kid', { kid: '' }],
    ['a critical extension', { crit: ['x'], x: 1 }],
  ])('%s', async (_, header) => {
    const token = await sign({}, header).catch(async () => {
      const [, payload, signature] = (await sign()).split('.');
      return [encode({ alg: 'RS256', kid: 'k1', ...header }), payload, signature].join('.');
    });
    expect(await authorize(token)).toEqual(INVALID);
  });

  it('a signature by another key', async () => {
    expect(await authorize(await sign({}, {}, stranger.privateKey))).toEqual(INVALID);
  });

  it('a key that the token brings along', async () => {
    const jwk = await exportJWK(stranger.publicKey);
    expect(await authorize(await sign({}, { jwk, jku: `${issuer}/jwks` }, stranger.privateKey))).toEqual(
      INVALID,
    );
  });

  it('a payload that was changed after signing', async () => {
    const [header, , signature] = (await sign()).split('.');
    const forged = encode({ iss: issuer, aud: AUDIENCE, sub: 'other', exp: now() + 60 });
    expect(await authorize(`${header}.${forged}.${signature}`)).toEqual(INVALID);
  });

  it.each(['none', 'None', 'HS256', 'ES256', 'PS256', 'rs256'])('the algorithm %s', async (alg) => {
    const [, payload, signature] = (await sign()).split('.');
    for (const end of [signature, '']) {
      expect(await authorize([encode({ alg, kid: 'k1' }), payload, end].join('.'))).toEqual(INVALID);
    }
  });

  it.each([
    ['a space inside', (token: string) => token.replace('.', ' .')],
    ['two spaces after Bearer', (token: string) => `Bearer  ${token}`],
    ['two tokens', (token: string) => `${token},${token}`],
    ['padding', (token: string) => `${token}=`],
    ['a cut signature', (token: string) => token.slice(0, -8)],
    ['no signature', (token: string) => token.slice(0, token.lastIndexOf('.') + 1)],
  ])('a good token with %s', async (_, change) => {
    const token = await sign();
    expect(await authorize(token)).toHaveProperty('claims');
    expect(await authorize(change(token))).toEqual(INVALID);
  });
});

describe('keys', () => {
  it('are fetched once and go on working when the issuer is down', async () => {
    expect(await authorize(await sign())).toHaveProperty('claims');
    jwks = undefined;
    for (let index = 0; index < 3; index++) expect(await authorize(await sign())).toHaveProperty('claims');
    expect(requests).toBe(2);
  });

  it('are fetched again when the first attempt failed', async () => {
    jwks = undefined;
    expect(await authorize(await sign())).toEqual(INVALID);
    jwks = { keys: [publicJwk] };
    expect(await authorize(await sign())).toHaveProperty('claims');
  });

  it('are not fetched again and again for unknown kids', async () => {
    await authorize(await sign());
    for (let index = 0; index < 5; index++)
      expect(await authorize(await sign({}, { kid: `u${index}` }))).toEqual(INVALID);
    expect(requests).toBeLessThanOrEqual(3);
  });

  it.each([{}, { keys: 'x' }, { keys: [] }, { keys: [{}] }])(
    'never open the door when the JWKS is %j',
    async (garbage) => {
      jwks = garbage;
      expect(await authorize(await sign())).toEqual(INVALID);
    },
  );
});
