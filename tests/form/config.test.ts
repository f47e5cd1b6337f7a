import { expect, it } from 'vitest';
import { LANGUAGES } from '../../text/languages.ts';
import { ConfigError, loadConfig, parseConfig } from '../../web/src/config.ts';
import { signOutUrl } from '../../ui/sign-out.ts';

const REQUIRED = {
  issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc',
  clientId: 'client',
  apiUrl: 'http://127.0.0.1:3000',
};
const FULL = {
  ...REQUIRED,
  scopes: 'openid email',
  logout: 'oidc',
  name: 'Example GmbH',
  logo: 'images/logo.svg',
  accent: '#0A7d55',
  home: 'https://example.com',
  privacy: 'https://example.com/privacy',
  imprint: 'https://example.com/imprint',
  introduction: { en: 'Hello', de: 'Guten Tag' },
  expectation: 'We answer within two working days.',
  topics: ['Billing', { en: 'Delivery', de: 'Lieferung' }],
  languages: ['en'],
  answersFrom: 'support@example.com',
};

it('is taken as it is, but for the end of an address; three keys are enough', () => {
  const apiUrl = `${FULL.apiUrl}/inquiries/`;
  expect(parseConfig({ ...FULL, issuer: `${FULL.issuer}/`, apiUrl })).toEqual(FULL);
  expect(parseConfig(REQUIRED)).toMatchObject({ ...REQUIRED, languages: LANGUAGES });
});

it('is refused with the key and the reason, in one sentence', async () => {
  const said: string[] = [];
  const refuse = async (what: string, parse: () => unknown) => {
    const error = await (async () => parse())().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigError);
    said.push(`${what}\n${String(error)}\n`);
  };
  for (const json of [[], null]) await refuse(JSON.stringify(json), () => parseConfig(json));
  for (const [key, value] of [
    ['issuer', undefined],
    ['clientId', ' '],
    ['apiUrl', 'http://api.example.com'],
    ['apiUrl', 'http://localhost.example'],
    ['apiUrl', 'http://localhost:1@example'],
    ['apiUrl', 'https://'],
    ['scopes', 'email'],
    ['logout', 'aws'],
    ['toString', 'x'],
    ['logo', 'https://example.com/logo.svg'],
    ['accent', 'green'],
    ['home', 'javascript:alert(1)'],
    ['introduction', {}],
    ['introduction', { xx: 'Hello' }],
    ['expectation', { en: '' }],
    ['topics', Array<string>(13).fill('x')],
    ['topics', ['Billing', { en: 1 }]],
    ['languages', []],
    ['languages', ['en', 'en']],
    ['languages', ['xx']],
  ] as const) {
    await refuse(`${key}: ${JSON.stringify(value)}`, () => parseConfig({ ...FULL, [key]: value }));
  }
  for (const [what, answer] of [
    ['no answer', Promise.reject(new TypeError('Failed to fetch'))],
    ['403', new Response('', { status: 403 })],
    ['a page', new Response('<!doctype html>')],
    ['{}', Response.json({})],
  ] as const) {
    await refuse(what, () => loadConfig(Promise.resolve(answer)));
  }
  await expect(said.join('\n')).toMatchFileSnapshot('golden/refused-settings.txt');
});

it.each([
  [REQUIRED.issuer, 'logout?client_id=c&logout_uri=https%3A%2F%2Fform.example%2F'],
  [
    'https://id.example',
    'end?client_id=c&post_logout_redirect_uri=https%3A%2F%2Fform.example%2F&id_token_hint=token',
  ],
])('the way to sign out is that of the issuer %s, or of the other kind', (issuer, url) => {
  const metadata = {
    authorization_endpoint: 'https://sign-in.example/oauth2/authorize',
    end_session_endpoint: 'https://sign-in.example/end',
  };
  const read = (logout?: string) =>
    signOutUrl({ issuer, clientId: 'c', logout }, metadata, 'https://form.example/', 'token');
  expect(read()).toBe(`https://sign-in.example/${url}`);
  const other = issuer === REQUIRED.issuer ? 'oidc' : 'cognito';
  expect(read(other)).not.toBe(read());
});
