/** Tokens without the sign-in page: npm run token, and the key file that it shares with the issuer. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startIssuer, type Issuer } from '../../local/issuer/issuer-server.ts';
import { createAuthorizer } from '../../local/authorizer.ts';
import { subOf } from '../../lib/issuer-tokens.ts';
import { main } from '../../local/token.ts';
import { run as runInProcess } from '../helpers/io.ts';

const ANA = 'ana@example.com';
const folder = mkdtempSync(join(tmpdir(), 'inquiries-token-'));
const keysFile = join(folder, 'new', 'keys.json');
let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ port: 0, keysFile });
});
afterAll(async () => {
  await issuer.close();
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]) => runInProcess(main, ['--data', folder, ...args]);
const state = (change: object = {}): string => {
  const rest = { issuer: issuer.url, keysFile, engine: '-', table: '-' };
  return JSON.stringify({ pid: process.pid, ...rest, ...change });
};
const stateFile = join(folder, 'stack.json');
beforeEach(() => writeFileSync(stateFile, state()));

it('sub is made from the e-mail address', () => {
  // Fixed: stored inquiries belong to it.
  expect(subOf(ANA)).toBe('1daae433-47cc-48ff-bf9b-73f530b9d7bc');
  expect(subOf('Ana@example.com')).not.toBe(subOf(ANA));
});

it('the key file keeps tokens valid over a restart and is readable by its owner only', async () => {
  const restarted = await startIssuer({ port: 0, keysFile });
  const authorize = createAuthorizer({ issuer: restarted.url, audience: [issuer.clientId] });
  const token = await issuer.token({ claims: { iss: restarted.url } });
  expect(await authorize(token)).toMatchObject({ claims: { sub: subOf(ANA) } });
  await restarted.close();
  expect(statSync(keysFile).mode & 0o777).toBe(0o600);
});

it('prints a token with e-mail, sub, claims and lifetime; a claim of null is removed', async () => {
  const claims = ['--claims', '{"email_verified":null,"aud":7}', '--expires-in=-60'];
  const { stdout } = await run('--email', 'ben@example.com', '--sub', 'x', ...claims);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const { iat = 0, ...payload } = decodeJwt(stdout);
  const expected = { iss: issuer.url, email: 'ben@example.com', sub: 'x', aud: 7, exp: iat - 60 };
  expect(payload).toMatchObject(expected);
  expect(payload).not.toHaveProperty('email_verified');
});

const PUBLIC_KEY = '{"jwk":{"kty":"RSA","kid":"secret-text","n":"AQAB","e":"AQAB"}}';
it.each<[text: string, args: string[], content?: (() => string) | undefined, key?: string]>([
  ['--claims must be a JSON object', ['--claims', '[]']],
  ['--expires-in must be a whole number of seconds', ['--expires-in', '1.5']],
  ['No local stack is running', ['--data', 'no-such-folder']],
  ['does not describe a local stack', [], () => state({ issuer: undefined })],
  ['No local stack is running', [], () => state({ pid: 2 ** 22 + 1 })],
  ['none.json cannot be used: ENOENT', [], () => state({ keysFile: 'none.json' })],
  ['not a key file of this issuer; delete it', [], undefined, 'secret-text'],
  ['not a key file of this issuer; delete it', [], undefined, PUBLIC_KEY],
])('says in one line: %s (with %j)', async (text, args, content, key) => {
  const bad = join(folder, 'bad.json');
  writeFileSync(bad, key ?? '');
  writeFileSync(stateFile, content?.() ?? state(key === undefined ? {} : { keysFile: bad }));
  const { code, stdout, stderr } = await run(...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(text);
  expect(stderr).not.toContain('secret-text');
  expect(readFileSync(bad, 'utf8')).toBe(key ?? '');
});
