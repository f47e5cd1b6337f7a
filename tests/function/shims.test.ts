import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultProvider } from '../../src/shims/credential-provider-node.ts';

afterEach(() => vi.unstubAllEnvs());

function stub(id: string, secret: string, token: string): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', id);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
}

describe('credentials in the bundle', () => {
  it('are those of the environment, with the session token that Lambda gives', async () => {
    stub('id', 'secret', 'token');
    const credentials = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' };
    expect(await defaultProvider()()).toEqual(credentials);
  });

  it('are those of the environment without a session token, as on a local engine', async () => {
    stub('id', 'secret', '');
    expect(await defaultProvider()()).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret' });
  });

  it.each([
    ['', 'secret'],
    ['id', ''],
  ])('are refused where one half is missing: "%s", "%s"', async (id, secret) => {
    stub(id, secret, 'token');
    await expect(defaultProvider()()).rejects.toMatchObject({ name: 'CredentialsProviderError' });
  });
});
