/** Tokens that are wrong in every way known: 401 by the gateway, no connection to anywhere, and never a way in. */
import { createHmac, createSign, generateKeyPairSync, randomUUID, sign, constants } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CompactEncrypt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAuthorizer } from '../../scripts/local/authorizer.ts';
import { createGateway } from '../../scripts/local/gateway.ts';
import { close, listen } from '../../scripts/local/server.ts';
import { createApp } from '../../src/app.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { send } from '../helpers/http.ts';
import type { Answer } from '../helpers/http.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';
import { createSelfSigned } from '../helpers/self-signed.ts';
import { createTally } from '../helpers/tally.ts';

const AUDIENCE = 'client-1';
const now = (): number => Math.floor(Date.now() / 1000);
const rsa = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength });
const key = rsa();
const stranger = rsa();
const weak = rsa(1024);
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { publicKey: edKey, privateKey: edPrivate } = generateKeyPairSync('ed25519');
const jwkOf = (publicKey: KeyObject, more: object): object => ({
  ...publicKey.export({ format: 'jwk' }),
  ...more,
});

/** What the issuer publishes: one good key and many that may sign nothing here. */
const PUBLISHED = [
  jwkOf(key.publicKey, { kid: 'k1', alg: 'RS256', use: 'sig' }),
  jwkOf(stranger.publicKey, { kid: 'enc', use: 'enc' }),
  jwkOf(stranger.publicKey, { kid: 'ops', key_ops: ['encrypt'] }),
  jwkOf(stranger.publicKey, { kid: 'rs512', alg: 'RS512', use: 'sig' }),
  jwkOf(weak.publicKey, { kid: 'weak', use: 'sig' }),
  jwkOf(curve.publicKey, { kid: 'ec', use: 'sig' }),
  jwkOf(edKey, { kid: 'ed', use: 'sig' }),
  { kty: 'oct', k: 'c2VjcmV0', kid: 'oct', use: 'sig', alg: 'HS256' },
  { kty: 'RSA', kid: 'hollow', use: 'sig' },
];

/** What the world looks like from the authorizer; `outside` belongs to the attacker. */
const issued = {
  requests: 0,
  keys: (response: ServerResponse): unknown => response.end(JSON.stringify({ keys: PUBLISHED })),
};
const outside = { requests: 0 };
let issuer = '';
let evil = '';
let url = '';

const issuerServer = createServer((request, response) => {
  issued.requests++;
  if (request.url === '/jwks') void issued.keys(response);
  else response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }));
});
const evilServer = createServer((_request: IncomingMessage, response) => {
  outside.requests++;
  const keys = [jwkOf(stranger.publicKey, { kid: 'k1', alg: 'RS256', use: 'sig' })];
  response.end(JSON.stringify({ issuer: evil, jwks_uri: `${evil}/jwks`, keys }));
});
const store = createMemoryStore();
const app = createApp({ inquiries: createInquiries(store), corsOrigin: 'https://www.example.com' });
let invocations = 0;
let authorize: ReturnType<typeof createAuthorizer>;
const gateway = createGateway({
  authorize: (header) => authorize(header),
  invoke: async (event) => {
    invocations++;
    return JSON.stringify(await app(JSON.parse(event) as GatewayEvent));
  },
  corsOrigin: 'https://www.example.com',
  log: () => undefined,
});
beforeAll(async () => {
  issuer = `http://127.0.0.1:${await listen(issuerServer, 0)}`;
  evil = `http://127.0.0.1:${await listen(evilServer, 0)}`;
  url = `http://127.0.0.1:${await listen(gateway, 0)}/inquiries`;
});
afterAll(async () => {
  for (const server of [gateway, issuerServer, evilServer]) await close(server);
});
const publish = (body: string, status = 200) => {
  issued.keys = (response) => response.writeHead(status).end(body);
};
beforeEach(() => {
  authorize = createAuthorizer({ issuer, audience: [AUDIENCE, 'client-2'] });
  publish(JSON.stringify({ keys: PUBLISHED }));
  issued.requests = 0;
  outside.requests = 0;
  invocations = 0;
});

type Fields = Record<string, unknown>;
const encode = (value: string | Buffer): string => Buffer.from(value).toString('base64url');
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
/** `undefined` in a change removes the field. */
const header = (change: Fields = {}): Fields => ({ alg: 'RS256', kid: 'k1', ...change });
const payload = (change: Fields = {}): Fields => ({
  iss: issuer,
  aud: AUDIENCE,
  sub: '1f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b',
  email: 'ana@example.com',
  iat: now(),
  exp: now() + 60,
  ...change,
});
const rs256 =
  (privateKey: KeyObject = key.privateKey, hash = 'sha256') =>
  (input: string): Buffer =>
    createSign(hash).update(input).sign(privateKey);
const token = (head: unknown = header(), body: unknown = payload(), signer = rs256()): string => {
  const input = `${encode(text(head))}.${encode(Buffer.isBuffer(body) ? body : text(body))}`;
  return `${input}.${encode(signer(input))}`;
};
/** A good token whose claims, or header, are changed as text: what JSON.stringify does not write. */
const withClaim = (json: string): string => token(header(), text(payload()).replace(/}$/, `,${json}}`));
const parts = (): [string, string, string] => token().split('.') as [string, string, string];
const flip = (signature: string, at: number): string => {
  const bytes = Buffer.from(signature, 'base64url');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return encode(bytes);
};

const get = (authorization: string, more: string[] = []): Promise<Answer> =>
  send(url, { headers: ['Authorization', authorization, ...more] });

/** What the attacker can sign with of what is public. */
const PUBLIC_SECRETS: [string, () => string | Buffer][] = [
  ['the public key as SPKI PEM', () => key.publicKey.export({ type: 'spki', format: 'pem' })],
  ['the public key as PKCS #1 PEM', () => key.publicKey.export({ type: 'pkcs1', format: 'pem' })],
  ['the public key as DER', () => key.publicKey.export({ type: 'spki', format: 'der' })],
  ['the public key as JWK', () => JSON.stringify(key.publicKey.export({ format: 'jwk' }))],
  ['the modulus', () => Buffer.from(String(key.publicKey.export({ format: 'jwk' }).n), 'base64url')],
  ['an empty secret', () => ''],
  ['the published symmetric key', () => 'secret'],
];

type Vector = [name: string, make: () => string | Promise<string>];
const vectors: Vector[] = [
  ...[
    'none',
    'None',
    'NONE',
    'nOnE',
    'none ',
    ' none',
    'none\0',
    'n\u043Ene',
    '',
    'rs256',
    'Rs256',
    'RS256 ',
    'RS1',
    'RSA256',
  ].flatMap((alg): Vector[] => [
    [`alg ${JSON.stringify(alg)}, signed well`, () => token(header({ alg }))],
    [
      `alg ${JSON.stringify(alg)}, not signed`,
      () => token(header({ alg }), payload(), () => Buffer.alloc(0)),
    ],
  ]),
  ...([null, 0, true, ['RS256'], ['none'], { RS256: 1 }, undefined] as const).map((alg): Vector => [
    `alg ${JSON.stringify(alg)}`,
    () => token(header({ alg })),
  ]),
  ...['sha256', 'sha384', 'sha512'].flatMap((hash) =>
    PUBLIC_SECRETS.map(([name, secret]): Vector => {
      const alg = hash.replace('sha', 'HS');
      const hmac = (input: string) => createHmac(hash, secret()).update(input).digest();
      return [
        `${alg} with ${name}`,
        () => token(header({ alg, ...(name.includes('symmetric') && { kid: 'oct' }) }), payload(), hmac),
      ];
    }),
  ),
  ...['sha256', 'sha384', 'sha512'].map((hash): Vector => {
    const pss = {
      key: key.privateKey,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    };
    return [
      `PS${hash.slice(3)} by the good key`,
      () =>
        token(header({ alg: hash.replace('sha', 'PS') }), payload(), (input) =>
          sign(hash, Buffer.from(input), pss),
        ),
    ];
  }),
  [
    'RS384 by a key that is for RS256',
    () => token(header({ alg: 'RS384' }), payload(), rs256(key.privateKey, 'sha384')),
  ],
  [
    'RS512 by a key that is for RS256',
    () => token(header({ alg: 'RS512' }), payload(), rs256(key.privateKey, 'sha512')),
  ],
  [
    'RS256 in the header, SHA-1 in the signature',
    () => token(header(), payload(), rs256(key.privateKey, 'sha1')),
  ],
  ['a key for encryption', () => token(header({ kid: 'enc' }), payload(), rs256(stranger.privateKey))],
  [
    'a key whose operations do not include verify',
    () => token(header({ kid: 'ops' }), payload(), rs256(stranger.privateKey)),
  ],
  ['a key for RS512', () => token(header({ kid: 'rs512' }), payload(), rs256(stranger.privateKey))],
  ['an RSA key of 1,024 bits', () => token(header({ kid: 'weak' }), payload(), rs256(weak.privateKey))],
  ['a key without a modulus', () => token(header({ kid: 'hollow' }))],
  [
    'ES256 by a published key',
    () =>
      token(header({ alg: 'ES256', kid: 'ec' }), payload(), (input) =>
        sign('sha256', Buffer.from(input), { key: curve.privateKey, dsaEncoding: 'ieee-p1363' }),
      ),
  ],
  [
    'EdDSA by a published key',
    () =>
      token(header({ alg: 'EdDSA', kid: 'ed' }), payload(), (input) =>
        sign(null, Buffer.from(input), edPrivate),
      ),
  ],
  [
    'RS256 in the header, an EC key',
    () =>
      token(header({ kid: 'ec' }), payload(), (input) =>
        sign('sha256', Buffer.from(input), curve.privateKey),
      ),
  ],

  ['the signature stripped', () => parts().slice(0, 2).join('.')],
  ['the signature empty', () => `${parts().slice(0, 2).join('.')}.`],
  ['the signature cut by a byte', () => token().slice(0, -2)],
  ['the signature cut by half', () => token().slice(0, -170)],
  ['the signature lengthened', () => `${token()}AAAA`],
  ['the signature doubled', () => `${token()}${parts()[2]}`],
  ['the first bit of the signature flipped', () => [...parts().slice(0, 2), flip(parts()[2], 0)].join('.')],
  [
    'the last byte of the signature flipped',
    () => {
      const [h, p, s] = parts();
      return [h, p, flip(s, 255)].join('.');
    },
  ],
  ['a signature of zeros', () => token(header(), payload(), () => Buffer.alloc(256))],
  ['a signature of ones', () => token(header(), payload(), () => Buffer.alloc(256, 0xff))],
  ['a signature of one byte', () => token(header(), payload(), () => Buffer.from([1]))],
  [
    'the signature of another token',
    () => {
      const [h, p] = token(header(), payload({ sub: randomUUID() })).split('.');
      return [h, p, parts()[2]].join('.');
    },
  ],
  [
    'the signature of the payload alone',
    () => token(header(), payload(), (input) => rs256()(input.split('.')[1] ?? '')),
  ],
  ['a signature by a stranger', () => token(header(), payload(), rs256(stranger.privateKey))],
  [
    'the payload changed after signing',
    () => {
      const [h, , s] = parts();
      return [h, encode(text(payload({ email: 'ben@example.com' }))), s].join('.');
    },
  ],
  [
    'the header changed after signing',
    () => {
      const [, p, s] = parts();
      return [encode(text(header({ typ: 'JWT' }))), p, s].join('.');
    },
  ],
  [
    'header and payload swapped',
    () => {
      const [h, p, s] = parts();
      return [p, h, s].join('.');
    },
  ],

  ...(['jwk', 'jku', 'x5u', 'x5c', 'all of them'] as const).flatMap((name) =>
    ['k1', 'stranger', undefined].map((kid): Vector => [
      `a key brought along in ${name}, kid ${kid}`,
      () => {
        const certificate = createSelfSigned().cert.replaceAll(/-----.*-----|\n/g, '');
        const all: Fields = {
          jwk: jwkOf(stranger.publicKey, { kid }),
          jku: `${evil}/jwks`,
          x5u: `${evil}/cert`,
          x5c: [certificate],
        };
        return token(
          header({ kid, ...(name === 'all of them' ? all : { [name]: all[name] }) }),
          payload(),
          rs256(stranger.privateKey),
        );
      },
    ]),
  ),
  [
    'a kid that is the URL of a key',
    () => token(header({ kid: `${evil}/jwks` }), payload(), rs256(stranger.privateKey)),
  ],
  [
    'an issuer of the attacker’s own',
    () => token(header(), payload({ iss: evil }), rs256(stranger.privateKey)),
  ],
  ['an issuer in the header', () => token(header({ iss: evil }), payload(), rs256(stranger.privateKey))],

  ...(
    [
      undefined,
      null,
      1,
      0,
      true,
      '',
      ['k1'],
      { kid: 'k1' },
      'k2',
      'K1',
      ' k1',
      'k1 ',
      'k1\0',
      '../k1',
      '/dev/null',
      '../../../../dev/null',
      "k1' OR '1'='1",
      'k1\n',
      '__proto__',
      'constructor',
      'toString',
      '*',
      'k'.repeat(2_000),
    ] as const
  ).map((kid): Vector => [`kid ${JSON.stringify(kid)?.slice(0, 30)}`, () => token(header({ kid }))]),
  ['crit that names nothing known', () => token(header({ crit: ['x'], x: 1 }))],
  ['crit that is empty', () => token(header({ crit: [] }))],
  ['crit that is text', () => token(header({ crit: 'exp' }))],
  ['crit that names a missing field', () => token(header({ crit: ['b64'] }))],
  ['an unencoded payload', () => token(header({ crit: ['b64'], b64: false }))],

  ...([undefined, null, '9999999999', true, false, [], [9_999_999_999], {}, 0, -1] as const).map(
    (exp): Vector => [`exp ${JSON.stringify(exp)}`, () => token(header(), payload({ exp }))],
  ),
  ['exp a second ago', () => token(header(), payload({ exp: now() - 1 }))],
  ['exp now', () => token(header(), payload({ exp: now() }))],
  ['exp infinite', () => withClaim('"exp":1e400')],
  ['exp minus infinite', () => withClaim('"exp":-1e400')],
  ['exp twice, the last one past', () => withClaim('"exp":1')],
  ['exp escaped, the last one past', () => withClaim(String.raw`"\u0065xp":1`)],
  ['nbf in the future', () => token(header(), payload({ nbf: now() + 60 }))],
  ['nbf as text', () => token(header(), payload({ nbf: '1' }))],
  ['nbf infinite', () => withClaim('"nbf":1e400')],
  ['nbf as an array', () => token(header(), payload({ nbf: [1] }))],
  ['iat in the future', () => token(header(), payload({ iat: now() + 60 }))],
  ['iat as text', () => token(header(), payload({ iat: '1' }))],
  ['iat infinite', () => withClaim('"iat":1e400')],
  ['iat as an object', () => token(header(), payload({ iat: {} }))],

  ...([undefined, null, '', 7, true] as const).map((iss): Vector => [
    `iss ${JSON.stringify(iss)}`,
    () => token(header(), payload({ iss })),
  ]),
  ...(
    [
      ['with a slash', (ours) => `${ours}/`],
      ['with a fragment', (ours) => `${ours}#`],
      ['with a query', (ours) => `${ours}?`],
      ['with a space', (ours) => ` ${ours}`],
      ['in upper case', (ours) => ours.toUpperCase()],
      ['over https', (ours) => ours.replace('http:', 'https:')],
      ['as user information', (ours) => ours.replace('//', '//user@')],
      ['cut', (ours) => ours.slice(0, -1)],
      ['as an array', (ours) => [ours]],
      ['as an object', (ours) => ({ url: ours })],
    ] as [string, (ours: string) => unknown][]
  ).map(([name, change]): Vector => [`iss ${name}`, () => token(header(), payload({ iss: change(issuer) }))]),
  ['iss twice, the last one foreign', () => withClaim('"iss":"https://evil.example"')],

  ...(
    [
      undefined,
      null,
      '',
      7,
      true,
      [],
      {},
      [7],
      [null],
      [[AUDIENCE]],
      'other',
      ['other'],
      ` ${AUDIENCE}`,
      `${AUDIENCE} `,
      `${AUDIENCE},client-2`,
      AUDIENCE.toUpperCase(),
      { 0: AUDIENCE, length: 1 },
    ] as const
  ).map((aud): Vector => [`aud ${JSON.stringify(aud)}`, () => token(header(), payload({ aud }))]),
  ['aud another, client_id ours', () => token(header(), payload({ aud: 'other', client_id: AUDIENCE }))],
  ['aud null, client_id ours', () => token(header(), payload({ aud: null, client_id: AUDIENCE }))],
  ['aud empty, client_id ours', () => token(header(), payload({ aud: [], client_id: AUDIENCE }))],
  ['client_id another', () => token(header(), payload({ aud: undefined, client_id: 'other' }))],
  ['client_id in an array', () => token(header(), payload({ aud: undefined, client_id: [AUDIENCE] }))],
  ['aud twice, the last one foreign', () => withClaim('"aud":"other"')],

  ['a payload that is null', () => token(header(), 'null')],
  ['a payload that is an array', () => token(header(), [payload()])],
  ['a payload that is a string', () => token(header(), JSON.stringify(text(payload())))],
  ['a payload that is not JSON', () => token(header(), `${text(payload())}}`)],
  [
    'a payload that is not UTF-8',
    () =>
      token(
        header(),
        Buffer.concat([Buffer.from(text(payload()).slice(0, -1)), Buffer.from(',"x":"\u00ff"}', 'latin1')]),
      ),
  ],
  ['a payload in UTF-16', () => token(header(), Buffer.from(text(payload()), 'utf16le'))],
  ['a payload with comments', () => token(header(), `${text(payload())}/**/`)],
  ['a header that is an array', () => token([header()])],
  ['a header that is null', () => token('null')],
  ['a header that is not JSON', () => token('{"alg":"RS256","kid":"k1"')],
  ['a nested token', () => token(header({ cty: 'JWT' }), token())],
  ['a nested token in a claim', () => token(header(), { jwt: token() })],
  [
    'an encrypted token',
    () =>
      new CompactEncrypt(Buffer.from(text(payload())))
        .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'k1' })
        .encrypt(key.publicKey),
  ],
  [
    'an encrypted token that holds a good one',
    () =>
      new CompactEncrypt(Buffer.from(token()))
        .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', cty: 'JWT', kid: 'k1' })
        .encrypt(key.publicKey),
  ],
  [
    'JSON serialization',
    () => {
      const [h, p, s] = parts();
      return JSON.stringify({ payload: p, signatures: [{ protected: h, signature: s }] });
    },
  ],
  [
    'flattened JSON serialization',
    () => {
      const [h, p, s] = parts();
      return JSON.stringify({ protected: h, payload: p, signature: s });
    },
  ],
  ['four parts', () => `${token()}.AAAA`],
  ['an empty part in front', () => `.${token()}`],
  ['nothing but dots', () => '..'],
  ['one word', () => 'x'],
  ['three words', () => 'a.b.c'],
  ['null', () => 'null'],
  ['9,000 letters', () => 'x'.repeat(9_000)],
  ['Bearer and a space', () => 'Bearer '],
  ['a space inside', () => token().replace('.', ' .')],
  ['a tab inside', () => token().replace('.', '.\t')],
  ['two spaces after Bearer', () => `Bearer  ${token()}`],
  ['a tab after Bearer', () => `Bearer\t${token()}`],
  ['Bearer twice', () => `Bearer Bearer ${token()}`],
  ['another scheme', () => `Token ${token()}`],
  ['basic authentication', () => `Basic ${Buffer.from(`ana:${token()}`).toString('base64')}`],
  ['DPoP', () => `DPoP ${token()}`],
  ['Bearer alone', () => 'Bearer'],
  ['two tokens', () => `${token()},${token()}`],
  ['two tokens with a space', () => `Bearer ${token()}, Bearer ${token()}`],
  ['padding', () => `${token()}=`],
  [
    'base64 in place of base64url',
    () =>
      token(header({ x: '???>>>' }))
        .replaceAll('-', '+')
        .replaceAll('_', '/')
        .concat('+'),
  ],
  ['quotes around it', () => `"${token()}"`],
  ['percent signs', () => token().replaceAll('.', '%2E')],
  ['letters of another alphabet', () => token().replace('e', '\u00e9')],
];

describe('a bad token', () => {
  const tally = createTally('2a token vectors refused');

  it('is a vector only once', () => {
    expect(new Set(vectors.map(([name]) => name)).size).toBe(vectors.length);
  });

  it.each(vectors)('is refused: %s', async (_, make) =>
    tally(async () => {
      const refused = await get(await make());
      expect(refused).toMatchObject({ status: 401, json: { message: 'Unauthorized' } });
      expect(refused.headers['www-authenticate']).toMatch(
        /^Bearer scope="" error="invalid_token" error_description="[\w ]+"$/,
      );
      expect(invocations).toBe(0);
      // Nothing that a token names is ever asked; the issuer is asked for its document and its keys, once each.
      expect(outside.requests).toBe(0);
      expect(issued.requests).toBeLessThanOrEqual(2);
      expect((await get(token())).status).toBe(200);
    }),
  );

  it.each<[string, () => Promise<Answer>, number]>([
    ['over the limit of headers', () => get(token(header(), payload({ x: 'x'.repeat(12_000) }))), 431],
    ['of 100 KB', () => get(token(header(), payload({ x: 'x'.repeat(75_000) }))), 431],
    ['in the query', () => send(`${url}?access_token=${token()}&token=${token()}`), 401],
    ['in a cookie', () => send(url, { headers: ['Cookie', `access_token=${token()}`] }), 401],
    ['in X-Authorization', () => send(url, { headers: ['X-Authorization', token()] }), 401],
    ['in Proxy-Authorization', () => send(url, { headers: ['Proxy-Authorization', token()] }), 401],
    ['in the body', () => send(url, { method: 'POST', body: `access_token=${token()}` }), 401],
    ['twice, the first one bad', () => get('x', ['Authorization', token()]), 401],
    ['twice, the second one bad', () => get(token(), ['Authorization', 'x']), 401],
  ])('is no way in, even a good one %s', async (_, ask, status) =>
    tally(async () => {
      expect((await ask()).status).toBe(status);
      expect(invocations).toBe(0);
    }),
  );

  it.each([undefined, null, '', 1, ['k1']])(
    'is refused with kid %j where the issuer has one key only',
    async (kid) =>
      tally(async () => {
        publish(JSON.stringify({ keys: PUBLISHED.slice(0, 1) }));
        expect((await get(token())).status).toBe(200);
        expect((await get(token(header({ kid })))).status).toBe(401);
      }),
  );

  it('is refused for every method', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
      const headers = ['Authorization', token(header({ alg: 'none' }))];
      await tally(async () => expect((await send(url, { method, headers })).status).toBe(401));
    }
    expect(invocations).toBe(0);
  });
});

describe('a good token', () => {
  const tally = createTally('2b good tokens served as the right owner');
  const SUB = '2b0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b';
  it.each<[string, () => string]>([
    ['with one of several audiences', () => token(header(), payload({ aud: ['other', AUDIENCE] }))],
    ['with client_id and an email', () => token(header(), payload({ aud: undefined, client_id: AUDIENCE }))],
    ['with a header of more fields', () => token(header({ typ: 'JWT', x5t: 'x', cty: 'x' }))],
    ['with nbf now and iat now', () => token(header(), payload({ nbf: now(), iat: now() }))],
    ['without iat', () => token(header(), payload({ iat: undefined }))],
    ['with a fraction in exp', () => token(header(), payload({ exp: now() + 60.5 }))],
    ['with the last of two exp good', () => token(header(), `{"exp":1,${text(payload()).slice(1)}`)],
    ['with the last of two kid good', () => token(`{"kid":"k2",${text(header()).slice(1)}`)],
    ['with a kid in the header as an escape', () => token('{"alg":"RS256","k\\u0069d":"k1"}')],
    ['of 7 KB', () => token(header(), payload({ x: 'x'.repeat(5_000) }))],
  ])('%s', async (_, make) => tally(async () => expect((await get(make())).status).toBe(200)));

  it('with email twice is the last one’s, and nobody else’s', async () =>
    tally(async () => {
      const json = (await get(withClaim(`"email":"ben@example.com","sub":"${SUB}"`))).json;
      expect(json).toMatchObject({ email: 'ben@example.com' });
    }));

  it.each<[string, Fields]>([
    [
      'an access token: no email',
      { aud: undefined, client_id: AUDIENCE, token_use: 'access', email: undefined },
    ],
    ['an empty email', { email: '' }],
    ['an email that is null', { email: null }],
    ['no sub', { sub: undefined }],
    ['a sub that is no UUID', { sub: 'ana' }],
    ['a sub that is a number', { sub: 7 }],
    ['a sub in an array', { sub: [SUB] }],
    ['a sub with a line end', { sub: `${SUB}\n` }],
  ])('with claims that name nobody is refused by the function: %s', async (_, change) =>
    tally(async () => {
      const refused = await get(token(header(), payload(change)));
      expect(refused).toMatchObject({ status: 401, json: { error: 'Unauthorized' } });
    }),
  );
});

describe('keys of the issuer', () => {
  const tally = createTally('2c the issuer down, slow, rotated, garbage');
  const rotated = () =>
    publish(JSON.stringify({ keys: [jwkOf(stranger.publicKey, { kid: 'k2', use: 'sig' })] }));
  const byNewKey = () => token(header({ kid: 'k2' }), payload(), rs256(stranger.privateKey));
  const later = (seconds: number) => {
    const shifted = Date.now() + seconds * 1_000;
    const real = performance.now();
    vi.spyOn(Date, 'now').mockImplementation(() => shifted + Math.floor(performance.now() - real));
  };
  afterEach(() => vi.restoreAllMocks());
  /** Keys are fetched, and 31 s have passed: an unknown kid may ask for them again. */
  const warm = async () => {
    expect((await get(token())).status).toBe(200);
    later(31);
    issued.requests = 0;
  };

  const GARBAGE = [
    '',
    '{',
    'null',
    '[]',
    '7',
    '{}',
    '{"keys":null}',
    '{"keys":{}}',
    '{"keys":[null]}',
    '{"keys":["k1"]}',
    '<html>',
  ];
  it.each(GARBAGE)('that are garbage (%j) let nobody in, and cached ones go on working', async (garbage) =>
    tally(async () => {
      publish(garbage);
      expect((await get(token())).status).toBe(401);
      expect((await get(byNewKey())).status).toBe(401);
      publish(JSON.stringify({ keys: PUBLISHED }));
      await warm();
      publish(garbage);
      expect((await get(byNewKey())).status).toBe(401);
      expect((await get(token())).status).toBe(200);
    }),
  );

  it.each([301, 302, 401, 404, 429, 500, 503])(
    'answered with %i: cached ones go on working',
    async (status) =>
      tally(async () => {
        await warm();
        issued.keys = (response) => response.writeHead(status, { location: `${evil}/jwks` }).end();
        expect((await get(byNewKey())).status).toBe(401);
        expect((await get(token())).status).toBe(200);
        expect(issued.requests).toBe(1);
        expect(outside.requests).toBe(0);
      }),
  );

  it('that nobody answers: the door stays shut, and opens when they come', async () =>
    tally(async () => {
      issued.keys = (response) => response.socket?.destroy();
      expect((await get(token())).status).toBe(401);
      publish(JSON.stringify({ keys: PUBLISHED }));
      expect((await get(token())).status).toBe(200);
    }));

  it('that are slow: a good token does not wait for an unknown one', async () =>
    tally(async () => {
      await warm();
      let release: () => void = () => undefined;
      issued.keys = (response) => {
        release = () => response.end(JSON.stringify({ keys: PUBLISHED }));
      };
      const unknown = get(byNewKey());
      await expect.poll(() => issued.requests).toBe(1);
      expect((await get(token())).status).toBe(200);
      release();
      expect((await unknown).status).toBe(401);
    }));

  it('that never come: 401 after five seconds, not for ever', async () =>
    tally(async () => {
      issued.keys = () => undefined;
      expect((await get(token())).status).toBe(401);
    }));

  it('that were rotated: the new one is found with one request, the old one is no longer taken', async () =>
    tally(async () => {
      await warm();
      rotated();
      expect((await get(byNewKey())).status).toBe(200);
      expect(issued.requests).toBe(1);
      expect((await get(token())).status).toBe(401);
      expect(issued.requests).toBe(1);
    }));

  it('are asked for at most once for any number of unknown kids', async () =>
    tally(async () => {
      await warm();
      const kids = Array.from({ length: 100 }, (_, index) => token(header({ kid: `unknown-${index}` })));
      const answers = await Promise.all(kids.map((unknown) => get(unknown)));
      expect(answers.every(({ status }) => status === 401)).toBe(true);
      expect(issued.requests).toBe(1);
      expect((await get(token())).status).toBe(200);
    }));

  it('of one kid twice: nobody gets in by the wrong one', async () =>
    tally(async () => {
      const twice = [jwkOf(stranger.publicKey, { kid: 'k1', use: 'enc' }), ...PUBLISHED];
      publish(JSON.stringify({ keys: twice }));
      expect((await get(token(header(), payload(), rs256(stranger.privateKey)))).status).toBe(401);
      expect((await get(token())).status).toBe(200);
    }));

  it('named by a discovery document that is garbage let nobody in', async () => {
    for (const document of GARBAGE) {
      await tally(async () => {
        const server = createServer((_, response) => response.end(document));
        const address = `http://127.0.0.1:${await listen(server, 0)}`;
        authorize = createAuthorizer({ issuer: address, audience: [AUDIENCE] });
        expect((await get(token(header(), payload({ iss: address })))).status).toBe(401);
        await close(server);
      });
    }
  });
});
