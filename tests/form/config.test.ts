import { expect, it } from 'vitest';
import { LANGUAGES } from '../../src/text/languages.ts';
import { ConfigError, loadConfig, parseConfig } from '../../web/src/config.ts';
import { signOutUrl } from '../../web/src/sign-out.ts';

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

it.each([[], null])('is refused when it is %j', (json) => {
  expect(() => parseConfig(json)).toThrow('must hold a JSON object');
});

it.each([
  ['issuer', undefined, 'missing'],
  ['clientId', ' ', 'text'],
  ['apiUrl', 'http://api.example.com', 'https'],
  ['apiUrl', 'http://localhost.example', 'https'],
  ['apiUrl', 'http://localhost:1@example', 'https'],
  ['apiUrl', 'https://', 'https'],
  ['scopes', 'email', 'openid'],
  ['logout', 'aws', 'cognito'],
  ['toString', 'x', 'unknown'],
  ['logo', 'https://example.com/logo.svg', 'file'],
  ['accent', 'green', 'not “green”'],
  ['home', 'javascript:alert(1)', 'https'],
  ['introduction', {}, 'text'],
  ['introduction', { xx: 'Hello' }, 'languages'],
  ['expectation', { en: '' }, 'expectation.en'],
  ['topics', Array<string>(13).fill('x'), '12'],
  ['topics', ['Billing', { en: 1 }], 'topics[1].en'],
  ['languages', [], 'languages'],
  ['languages', ['en', 'en'], 'once'],
  ['languages', ['xx'], 'languages'],
])('is refused with the key and the reason: %s, %j, %s', (key, value, reason) => {
  const parse = () => parseConfig({ ...FULL, [key]: value });
  for (const said of [ConfigError, key, reason, 'config.json']) expect(parse).toThrow(said);
});

it.each([
  [async () => Promise.reject(new TypeError('Failed to fetch')), 'the site does not answer'],
  [async () => new Response('', { status: 403 }), 'the site answered 403'],
  [async () => new Response('<!doctype html>'), 'is missing or is not JSON'],
  [async () => Response.json({}), 'is missing in config.json'],
])('is reported when it cannot be had: %s', async (respond, reason) => {
  await expect(loadConfig(respond())).rejects.toThrow(reason);
});

it.each([
  [
    'cognito',
    'https://sign-in.example/logout?client_id=c&logout_uri=https%3A%2F%2Fform.example%2F',
  ],
  [
    'oidc',
    'https://sign-in.example/end?client_id=c&post_logout_redirect_uri=https%3A%2F%2Fform.example%2F&id_token_hint=token',
  ],
])('the way to sign out is that of the issuer: %s', (logout, url) => {
  const metadata = {
    authorization_endpoint: 'https://sign-in.example/oauth2/authorize',
    end_session_endpoint: 'https://sign-in.example/end',
  };
  const found = signOutUrl({ clientId: 'c', logout }, metadata, 'https://form.example/', 'token');
  expect(found).toBe(url);
});
