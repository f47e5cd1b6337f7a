/** config.json of the contact form, and where it signs out. */
import { describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/languages.ts';
import { ConfigError, loadConfig, parseConfig } from '../../web/src/config.ts';
import { signOutUrl } from '../../web/src/sign-out.ts';

const FULL = {
  issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc',
  clientId: 'client',
  apiUrl: 'https://api.example.com/v1',
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
const { issuer, clientId, apiUrl } = FULL;
const REQUIRED = { issuer, clientId, apiUrl };
describe('config.json', () => {
  it('is taken as it is', () => {
    expect(parseConfig(FULL)).toEqual(FULL);
  });

  it('needs three keys; all languages are offered by default', () => {
    expect(parseConfig(REQUIRED)).toMatchObject({ ...REQUIRED, languages: LANGUAGES });
  });

  it('may have a slash at the end of an address, and plain http on this machine', () => {
    const local = { issuer: 'https://a.example/', apiUrl: 'http://127.0.0.1:3000' };
    expect(parseConfig({ ...FULL, ...local })).toEqual({
      ...FULL,
      ...local,
      issuer: 'https://a.example',
    });
  });

  it.each([[], null])('is refused when it is %j', (json) => {
    expect(() => parseConfig(json)).toThrow('must hold a JSON object');
  });

  it.each([
    ['issuer', undefined, 'missing'],
    ['clientId', ' ', 'text'],
    ['apiUrl', 'http://api.example.com', 'https'],
    ['apiUrl', 'http://localhost.example', 'https'],
    ['issuer', 'javascript:alert(1)', 'https'],
    ['scopes', 'email', 'openid'],
    ['logout', 'aws', 'cognito'],
    ['logOut', 'oidc', 'unknown'],
    ['toString', 'x', 'unknown'],
    ['logo', 'https://example.com/logo.svg', 'file'],
    ['accent', 'green', 'not “green”'],
    ['home', 'javascript:alert(1)', 'https'],
    ['introduction', {}, 'text'],
    ['introduction', { xx: 'Hello' }, 'languages'],
    ['expectation', { en: '' }, 'expectation.en'],
    ['topics', 'Billing', '12'],
    ['topics', Array<string>(13).fill('x'), '12'],
    ['topics', ['Billing', 1], 'topics[1]'],
    ['languages', [], 'languages'],
    ['languages', ['xx'], 'languages'],
  ])('is refused with the key and the reason: %s, %j, %s', (key, value, reason) => {
    const parse = () => parseConfig({ ...FULL, [key]: value });
    for (const said of [ConfigError, key, reason, 'config.json']) expect(parse).toThrow(said);
  });

  it.each([
    [
      'unreachable',
      async () => Promise.reject(new TypeError('Failed to fetch')),
      'the site does not answer',
    ],
    ['missing', async () => new Response('', { status: 403 }), 'the site answered 403'],
    ['the start page', async () => new Response('<!doctype html>'), 'is missing or is not JSON'],
    ['incomplete', async () => Response.json({}), 'is missing in config.json'],
  ])('is reported as %s', async (_, fetchText, reason) => {
    await expect(loadConfig(fetchText)).rejects.toThrow(reason);
  });
});

describe('signing out', () => {
  const metadata = {
    authorization_endpoint: 'https://sign-in.example/oauth2/authorize',
    end_session_endpoint: 'https://sign-in.example/end',
  };
  const home = 'https://form.example/contact/';

  it('the Cognito way: /logout on the domain of the sign-in pages, with the client and the way back', () => {
    expect(signOutUrl({ clientId: 'c', logout: 'cognito' }, metadata, home, 'token')).toBe(
      'https://sign-in.example/logout?client_id=c&logout_uri=https%3A%2F%2Fform.example%2Fcontact%2F',
    );
  });

  it('the way of OpenID Connect: end_session_endpoint, with the ID token where there is one', () => {
    const url = new URL(signOutUrl({ clientId: 'c', logout: 'oidc' }, metadata, home, 'token'));
    expect(url.origin + url.pathname).toBe('https://sign-in.example/end');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'c',
      post_logout_redirect_uri: home,
      id_token_hint: 'token',
    });
  });
});
