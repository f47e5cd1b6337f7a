import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, expect, it } from 'vitest';
import { startIssuer } from '../../local/issuer/issuer-server.ts';
import { createAuthorizer } from '../../local/authorizer.ts';
import { createKey } from '../../lib/issuer/issuer-keys.ts';
import { subOf } from '../../lib/issuer/issuer-tokens.ts';
import { main } from '../../local/token.ts';
import { createFolder, writeState } from './data-folder.ts';
import { run as runInProcess } from './io.ts';

const folder = createFolder(afterAll);
const keysFile = join(folder, 'keys.json');
const bad = join(folder, 'bad.json');
await (await startIssuer({ port: 0, keysFile })).close();
const issuer = await startIssuer({ port: 0, keysFile });
afterAll(issuer.close);

function run(args: readonly string[], change: object = {}) {
  writeState(folder, { issuer: issuer.url, keysFile, ...change });
  return runInProcess(main, ['--data', folder, ...args]);
}

it('prints a token that the API accepts, signed with a key that only its owner can read', async () => {
  const { stdout } = await run([]);
  const authorize = createAuthorizer({ issuer: issuer.url, audience: [issuer.clientId] });
  // Stored inquiries depend on this value.
  const sub = '1daae433-47cc-48ff-bf9b-73f530b9d7bc';
  expect(await authorize(stdout.trimEnd())).toMatchObject({
    claims: { sub, email: 'ana@example.com' },
  });
  expect(subOf('Ana@example.com')).not.toBe(sub);
  const { iat = 0, exp } = decodeJwt(stdout);
  expect(exp).toBe(iat + 3600);
  expect(statSync(keysFile).mode & 0o777).toBe(0o600);
});

it('prints a token with e-mail and claims; a claim of null is removed', async () => {
  const claims = ['--claims', '{"email_verified":null,"sub":"x","exp":7}'];
  const { stdout } = await run(['--email', 'ben@example.com', ...claims]);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const payload = decodeJwt(stdout);
  expect(payload).toMatchObject({ email: 'ben@example.com', sub: 'x', exp: 7 });
  expect(payload).not.toHaveProperty('email_verified');
});

const WITHOUT_ID = JSON.stringify({ jwk: { ...createKey(), kid: undefined } });
const PUBLIC_KEY = '{"jwk":{"kty":"RSA","kid":"secret-text","n":"AQAB","e":"AQAB"}}';
it.each<[text: string, args: string[], change?: object, key?: string]>([
  ['--claims must be a JSON object', ['--claims', '[]']],
  ['stack.json is running; start it', ['--data', 'no-such-folder']],
  ['stack.json is running; start it', [], { issuer: undefined }],
  ['stack.json is running; start it', [], { pid: 2 ** 22 + 1 }],
  ['none.json cannot be used: ENOENT', [], { keysFile: 'none.json' }],
  ['not a key file of this issuer; delete it', [], { keysFile: bad }, 'secret-text'],
  ['not a key file of this issuer; delete it', [], { keysFile: bad }, PUBLIC_KEY],
  ['not a key file of this issuer; delete it', [], { keysFile: bad }, WITHOUT_ID],
])('says in one line: %s (with %j)', async (text, args, change, key = '') => {
  writeFileSync(bad, key);
  const { code, stdout, stderr } = await run(args, change);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(text);
  expect(stderr).not.toContain('secret-text');
});
