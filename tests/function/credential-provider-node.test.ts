import { expect, it, vi } from 'vitest';
import { defaultProvider } from '../../src/shims/credential-provider-node.ts';

const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
it.each([
  ['id', 'secret', 'token', { ...keys, sessionToken: 'token' }],
  // A local engine has no session token.
  ['id', 'secret', '', keys],
  ['', 'secret', '', { name: 'CredentialsProviderError' }],
  ['id', '', '', { name: 'CredentialsProviderError' }],
])('credentials of the environment: %j, %j, %j', async (id, secret, token, expected) => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', id);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
  const outcome: unknown = await defaultProvider()().catch(({ name }: Error) => ({ name }));
  expect(outcome).toEqual(expected);
});
