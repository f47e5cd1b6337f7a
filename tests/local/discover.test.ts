/** Tests with another issuer: oidc-provider with its own addresses. */
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';
import { afterAll, expect, it } from 'vitest';
import { createAuthorizer } from '../../local/authorizer.ts';
import { discoverIssuer } from '../../local/issuer/discover.ts';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';

const { privateKey } = await generateKeyPair('RS256', { extractable: true });
const jwk = { ...(await exportJWK(privateKey)), kid: 'own', alg: 'RS256', use: 'sig' };
const server = createServer((request, response) => void provider.callback()(request, response));
const issuer = await serve(server);
const provider = new Provider(issuer, { jwks: { keys: [jwk] } });
afterAll(() => closeServer(server));

it('verifies tokens with the keys that the issuer’s metadata names', async () => {
  const found = await discoverIssuer({ issuer, clientId: 'form' });
  expect(found).toMatchObject({ keysUrl: `${issuer}/jwks` });
  const authorize = createAuthorizer(found);
  const sign = async (audience: string) =>
    new SignJWT({ sub: 's', email: 'ana@example.com' })
      .setProtectedHeader({ alg: 'RS256', kid: 'own' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey);
  expect(await authorize(`Bearer ${await sign('form')}`)).toMatchObject({ claims: { sub: 's' } });
  expect(await authorize(await sign('other'))).toHaveProperty('challenge');
});

it.each(['/other', ''])(
  'refuses an address that is not an issuer of this name (%j)',
  async (path) => {
    const named = path === '' ? 'http://127.0.0.1:9' : issuer + path;
    await expect(discoverIssuer({ issuer: named, clientId: 'form' })).rejects.toThrow(
      'does not describe an issuer with this name',
    );
  },
);
