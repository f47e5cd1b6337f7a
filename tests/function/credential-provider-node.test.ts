import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultProvider } from '../../src/shims/credential-provider-node.ts';

afterEach(() => vi.unstubAllEnvs());

function stub(id: string, secret: string, token: string): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', id);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
}

describe('credentials in the bundle', () => {
  it.each([
    ['with the session token that Lambda gives', 'token', { sessionToken: 'token' }],
    ['without one, as on a local engine', '', {}],
  ])('are those of the environment, %s', async (_, token, session) => {
    stub('id', 'secret', token);
    const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
    expect(await defaultProvider()()).toEqual({ ...keys, ...session });
  });

  it.each([
    ['', 'secret'],
    ['id', ''],
  ])('are refused where one half is missing: "%s", "%s"', async (id, secret) => {
    stub(id, secret, 'token');
    await expect(defaultProvider()()).rejects.toMatchObject({ name: 'CredentialsProviderError' });
  });
});
