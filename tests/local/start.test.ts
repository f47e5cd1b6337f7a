/** What `npm start` refuses, in one line and before anything runs. start.process.test.ts runs it. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { close, listen } from '../../lib/loopback-server.ts';
import { buildPage } from '../../lib/page-build.ts';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import { main } from '../../local/start.ts';
import { run } from '../helpers/io.ts';

// A build would go on after the refusal, and the end of this file would cut it off.
vi.mock(import('../../local/pages/form-server.ts'), async (importOriginal) => ({
  ...(await importOriginal()),
  buildFormWhenStale: async () => false,
}));

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inquiries-start-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

/** Expects exit code 2 and one line. @returns The line. */
async function refusalOf(args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const listeners = process.listenerCount('SIGINT');
  const { code, stdout, stderr } = await run(main, args, { env });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(process.listenerCount('SIGINT')).toBe(listeners);
  return stderr.trimEnd();
}

describe('refuses', () => {
  it.each<[args: string, message: string | RegExp]>([
    ['--prot 1', /^Unknown option '--prot'/],
    ['now', /^Unexpected argument 'now'/],
    ['--port', /^Option '--port <value>' argument missing/],
    ['--port 65532', 'The port must be a number from 0 to 65530, not "65532".'],
    ['--inspect=x', 'The inspector\'s port must be a number from 1 to 65535, not "x".'],
    ['--engine h2', 'The engine must be dynamodb-local or dynalite, not "h2".'],
    ['--seed 0', '--seed must be a number from 1 to 5000, not "0".'],
    ['--reset --in-memory', '--in-memory excludes --reset.'],
    [
      '--data package.json',
      /^The data folder .*package\.json cannot be used \(ENOTDIR: not a directory\)\.$/,
    ],
    ['--data package.json/x', /^The data folder .* cannot be used \(E\w+: .*\)\.$/],
  ])('%s', async (args, message) => {
    const refusal = await refusalOf(args.split(' '));
    expect(refusal).toMatch(message);
  });

  it.each([
    ['http://a.example/', 'http://a.example'],
    ['http://ana@a.example', 'http://a.example'],
    ['https://*.example.com', 'http://localhost:5173'],
    ['ws://a.example', 'http://localhost:5173'],
  ])('--cors-origin %j, which is no origin', async (origin, example) => {
    expect(
      await refusalOf(['--cors-origin', 'https://www.example.com', '--cors-origin', origin]),
    ).toBe(
      `--cors-origin must be one origin as browsers send it, such as ${example}, not "${origin}".`,
    );
  });

  it.each([
    ['PORT', '80a', 'a number from 0 to 65530'],
    ['RETENTION_DAYS', '36501', 'a number from 1 to 36500'],
    ['MAILS_PER_HOUR', '0', 'a number from 1 to 1000'],
    ['MAIL_LANGUAGE', 'tlh', 'one of en, de, fr, es, ja, ar'],
  ])('the variable %s=%s', async (name, value, expected) => {
    const subject = name === 'PORT' ? 'The port' : name;
    expect(await refusalOf([], { [name]: value })).toBe(
      `${subject} must be ${expected}, not "${value}".`,
    );
  });

  it('each port that is in use: of gateway, issuer, docs, form, mailbox and demo, and of the inspector', async () => {
    const holder = createServer();
    // Six free ports below the range from which the system takes those of other tests.
    const port = await listen(holder, 20_005 + Math.floor(Math.random() * 2_000) * 6);
    const stub = vi.stubEnv('PATH', ''); // no Java: DynamoDB Local would be refused next
    try {
      for (const below of [0, 1, 2, 3, 4, 5]) {
        const engine = below === 4 ? 'dynamodb-local' : 'dynalite'; // with dynalite, there is no mailbox
        const args = ['--port', String(port - below), '--in-memory', '--engine', engine];
        expect(await refusalOf(args)).toBe(
          `Port ${port} is in use; choose another with --port (0 = any free port).`,
        );
      }
      expect(await refusalOf(['--port', '0', '--in-memory', `--inspect=${port}`])).toBe(
        `Port ${port} is in use; choose another with --inspect=PORT.`,
      );
    } finally {
      stub.unstubAllEnvs();
      await close(holder);
    }
  });

  const writeState = (state: object): void => {
    const rest = { issuer: '-', keysFile: '-', engine: '-', table: '-' };
    writeFileSync(join(folder, 'stack.json'), JSON.stringify({ ...rest, ...state }));
  };

  it('a data folder that a running stack uses, naming its addresses', async () => {
    const server = createServer();
    const gateway = `http://127.0.0.1:${await listen(server, 0)}`;
    const form = 'http://127.0.0.1:9';
    writeState({ pid: process.pid, gateway, form });
    expect(await refusalOf(['--port', '0', '--data', folder])).toBe(
      `The data folder ${folder} is in use by a running stack (process ${process.pid}, ` +
        `API ${gateway}/inquiries, form ${form}).`,
    );
    await close(server);
  });

  it('a data folder whose engine has outlived its stack, naming the process to end', async () => {
    const server = createServer();
    const engine = `http://127.0.0.1:${await listen(server, 0)}`;
    const { pid } = process;
    writeState({ pid: 2 ** 22 + 1, enginePid: pid, engine });
    expect(await refusalOf(['--port', '0', '--data', folder, '--reset'])).toBe(
      `The data folder ${folder} is in use by DynamoDB Local (process ${pid}), whose stack has ended; ` +
        `end it with kill -9 ${pid}.`,
    );
    await close(server);
  });

  it.each([
    ['issuer-keys.json', /^The issuer's key file \S+issuer-keys\.json cannot be used: /],
    ['dynalite', /^The data folder \S+dynalite cannot be used \(ENOTDIR: not a directory\)\.$/],
  ])('a data folder in which %s is a file without JSON', async (name, refusal) => {
    writeFileSync(join(folder, name), '');
    expect(await refusalOf(['--port', '0', '--data', folder, '--engine', 'dynalite'])).toMatch(
      refusal,
    );
  });

  it('an output folder of the form that cannot be written', async () => {
    writeFileSync(join(folder, 'dist'), '');
    await expect(buildPage(folder)).rejects.toThrow(
      `The output folder ${join(folder, 'dist')} cannot be used (ENOTDIR: not a directory).`,
    );
  });
});

it.each([
  ['is missing', undefined, 'Java is not installed'],
  ['does not run', 'exit 1', 'Java is not installed'],
  ['is too old', `echo 'openjdk version "11.0.2" 2019' >&2`, 'Java 11 is too old'],
  ['is very old', `echo 'java version "1.8.0_452"' >&2`, 'Java 8 is too old'],
  [
    'is a JRE without a compiler',
    `test "$1" = -version && echo 'openjdk version "21.0.5" 2024-10-15' >&2`,
    'Java 21 is a JRE without a compiler',
  ],
])('refuses --engine dynamodb-local when Java %s, with the reason', async (_, java, reason) => {
  if (java !== undefined) {
    writeFileSync(join(folder, 'java'), `#!/bin/sh\n${java}\n`);
    chmodSync(join(folder, 'java'), 0o755);
  }
  vi.stubEnv('PATH', [folder, dirname(process.execPath)].join(':'));
  const needed = `${reason} (JDK 17 or newer is needed)`;
  expect(dynamoDbLocalUnavailableReason()).toBe(needed);
  expect(await refusalOf(['--port', '0', '--in-memory', '--engine', 'dynamodb-local'])).toBe(
    `DynamoDB Local cannot run: ${needed}.`,
  );
});
