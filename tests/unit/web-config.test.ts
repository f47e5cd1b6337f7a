/** config.json of the contact form, and where it signs out. */
import { describe, expect, it } from 'vitest';
import { loadConfig, parseConfig } from '../../web/src/config.ts';
import { signOutUrl } from '../../web/src/sign-out.ts';

const FULL = {
  issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc',
  clientId: 'client',
  apiUrl: 'https://api.example.com/v1',
  scopes: 'openid email',
  logout: 'oidc',
};
const { scopes: _scopes, logout: _logout, ...REQUIRED } = FULL;

describe('config.json', () => {
  it('is taken as it is', () => {
    expect(parseConfig(FULL)).toEqual(FULL);
  });

  it('needs three keys; scopes and logout are those of Cognito by default', () => {
    expect(parseConfig(REQUIRED)).toEqual({ ...REQUIRED, scopes: 'openid email', logout: 'cognito' });
  });

  it('may have a slash at the end of an address', () => {
    const { issuer, apiUrl } = parseConfig({
      ...FULL,
      issuer: 'https://i.example/',
      apiUrl: 'https://a.example/',
    });
    expect([issuer, apiUrl]).toEqual(['https://i.example', 'https://a.example']);
  });

  it.each(['http://localhost:3000', 'http://127.0.0.1:3000'])(
    'may name %s: plain http on this machine',
    (apiUrl) => {
      expect(parseConfig({ ...FULL, apiUrl }).apiUrl).toBe(apiUrl);
    },
  );

  it.each([[], null])('is refused when it is %j', (json) => {
    expect(() => parseConfig(json)).toThrow('must hold a JSON object');
  });

  it.each([
    [{ issuer: undefined }, '“issuer” is missing'],
    [{ clientId: ' ' }, '“clientId” in config.json must be a text'],
    [{ clientId: 7 }, '“clientId” in config.json must be a text'],
    [{ apiUrl: 'api.example.com' }, '“apiUrl” in config.json must be an https address'],
    [{ apiUrl: 'http://api.example.com' }, '“apiUrl” in config.json must be an https address'],
    [{ apiUrl: 'http://localhost.example' }, '“apiUrl” in config.json must be an https address'],
    [{ issuer: 'javascript:alert(1)' }, '“issuer” in config.json must be an https address'],
    [{ scopes: 'email' }, '“scopes” in config.json lacks “openid”'],
    [{ logout: 'aws' }, '“logout” in config.json must be'],
    [{ logOut: 'oidc' }, 'unknown key “logOut”'],
  ])('is refused with its reason: %j', (change, reason) => {
    expect(() => parseConfig({ ...FULL, ...change })).toThrow(reason);
  });

  it.each([
    ['unreachable', async () => Promise.reject(new TypeError('Failed to fetch')), 'the site does not answer'],
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
