/** Tokens without the sign-in page: token(), npm run token, and the key file that both sign with. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startIssuer, type Issuer } from '../../local/issuer/issuer-server.ts';
import { subOf } from '../../lib/issuer-tokens.ts';
import { main } from '../../local/token.ts';
import { run as runInProcess } from '../helpers/io.ts';
import { paths, removeProject } from '../helpers/project.ts';

vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);

const ANA = 'ana@example.com';
const BEN = 'ben@example.com';
const folder = mkdtempSync(join(tmpdir(), 'inquiries-token-'));
const keysFile = join(folder, 'new', 'keys.json');
let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ port: 0, keysFile });
});
afterAll(async () => {
  await issuer.close();
  rmSync(folder, { recursive: true });
  removeProject();
});

const verify = (token: string, { url, clientId: audience }: Issuer) =>
  jwtVerify(token, createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`)), { audience });

it('sub is made from the spelling of the e-mail address: a UUID in version-4 form', () => {
  const emails = [ANA, 'Ana@example.com', '', 'ö@example.com'];
  for (const email of emails) {
    expect(subOf(email)).toMatch(
      /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
    );
  }
  expect(new Set(emails.map(subOf)).size).toBe(emails.length);
  expect(subOf(ANA)).toBe('1daae433-47cc-48ff-bf9b-73f530b9d7bc'); // fixed: stored inquiries belong to it
});

describe('the key file', () => {
  it('keeps tokens valid over a restart and is readable by its owner only', async () => {
    const token = await issuer.token();
    const restarted = await startIssuer({ port: 0, keysFile });
    expect((await verify(token, restarted)).payload.sub).toBe(subOf(ANA));
    await restarted.close();
    expect(statSync(keysFile).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'new'))).toEqual(['keys.json']);
  });

  it.each(['secret-text', '{"jwk":{"kty":"RSA","kid":"k","n":"AQAB","e":"AQAB"}}'])(
    'is kept and named in one line that quotes none of it when it holds %j',
    async (content) => {
      const bad = join(folder, 'bad.json');
      writeFileSync(bad, content);
      const error: unknown = await startIssuer({ port: 0, keysFile: bad }).catch(
        (caught: unknown) => caught,
      );
      expect(String(error)).toMatch(
        /^UsageError: [^\n]*bad\.json cannot be used: [^\n]*delete it[^\n]*$/,
      );
      expect(String(error)).not.toContain('secret-text');
      expect(readFileSync(bad, 'utf8')).toBe(content);
    },
  );
});

describe('npm run token', () => {
  const stateFile = join(folder, 'stack.json');
  const run = (...args: string[]) => runInProcess(main, ['--data', folder, ...args]);
  const state = (change: object = {}): string =>
    JSON.stringify({
      pid: process.pid,
      issuer: issuer.url,
      keysFile,
      engine: '-',
      table: '-',
      ...change,
    });
  beforeEach(() => writeFileSync(stateFile, state()));

  it('takes e-mail, sub, claims and lifetime; a claim of null is removed', async () => {
    const claims = ['--claims', '{"email_verified":null,"aud":7}'];
    const { stdout } = await run('--email', BEN, '--sub', 'x', ...claims, '--expires-in', '-60');
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const { iat = 0, ...payload } = decodeJwt(stdout);
    expect(payload).toMatchObject({ email: BEN, sub: 'x', aud: 7, exp: iat - 60 });
    expect(payload).not.toHaveProperty('email_verified');
  });

  /** Expects exit code 2 and one line on stderr with the text. */
  const expectRefusal = async (text: string, ...args: string[]): Promise<void> => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(text);
  };

  it.each([
    [['--foo'], 'Unknown option'],
    [['--claims', '[]'], '--claims must be a JSON object'],
    [['--expires-in', '1.5'], '--expires-in must be a whole number of seconds'],
    [['--data', 'no-such-folder'], 'No local stack is running'],
  ])('says in one line what is wrong with %j', (args, text) => expectRefusal(text, ...args));

  it.each([
    ['no JSON', () => '{', 'does not describe a local stack'],
    ['no issuer', () => state({ issuer: undefined }), 'does not describe a local stack'],
    ['a process that has ended', () => state({ pid: 2 ** 22 + 1 }), 'No local stack is running'],
    ['no key file', () => state({ keysFile: 'none.json' }), 'none.json cannot be used: ENOENT'],
  ])('says in one line that the state file names %s', async (_, content, text) => {
    writeFileSync(stateFile, content());
    await expectRefusal(text);
  });

  it('finds the stack on .data or in memory by itself, and asks which when there are several', async () => {
    const dead = state({ pid: 2 ** 22 + 1 });
    const find = async (states: Record<string, string>) => {
      for (const [suffix, content] of Object.entries(states)) {
        mkdirSync(paths.DATA_FOLDER + suffix, { recursive: true });
        writeFileSync(`${paths.DATA_FOLDER}${suffix}/stack.json`, content);
      }
      const { code, stdout, stderr } = await runInProcess(main, []);
      return code === 0 ? decodeJwt(stdout).sub : stderr;
    };
    const none = /^No local stack is running \(there is no \S+\.data\/stack\.json\); start it/;
    expect(await find({})).toMatch(none);
    expect(await find({ '-in-memory-1': state(), '-in-memory-2': dead })).toBe(subOf(ANA));
    expect(await find({ '-in-memory-1': dead, '': state() })).toBe(subOf(ANA));
    expect(await find({ '-in-memory-2': state() })).toBe(
      `Several local stacks are running; choose one: --data ${paths.DATA_FOLDER} or --data ${paths.DATA_FOLDER}-in-memory-2\n`,
    );
  });
});
