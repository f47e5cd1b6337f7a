import { chmodSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { closeServer, listen } from '../../lib/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { lockDataFolder } from '../../local/data-folder.ts';
import { main } from '../../local/start.ts';
import { createFolder, writeState } from '../helpers/data-folder.ts';
import { run, transcribe } from '../helpers/io.ts';

// A build would outlive the refusal and this file.
vi.mock(import('../../lib/page-build.ts'), async (importOriginal) => ({
  ...(await importOriginal()),
  buildPageWhenStale: async () => false,
}));

// An engine that has outlived its stack is waited for.
vi.mock('node:timers/promises', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  setTimeout: async () => undefined,
}));

let folder = '';
beforeEach(() => {
  folder = createFolder();
});

/** Expects exit code 2 and one line. */
async function expectRefusal(args: string, message: string | RegExp) {
  const { code, stdout, stderr } = await run(main, `--data ${folder} ${args}`);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toMatch(message);
}

it('refuses wrong options and variables, each in one line', async () => {
  const lines = await transcribe(
    (line, options) => run(main, `--data ${folder} ${line}`, options),
    [
      '--prot 1',
      '--port 65532',
      '--inspect=x',
      '--engine h2',
      '--engine ftp://a.example',
      '--engine http://127.0.0.1:1 --reset',
      '--seed 0',
      '--data package.json',
      '--cors-origin http://a.example/',
      '--cors-origin http://ana@a.example',
      '--cors-origin https://*.example.com',
      ['', { env: { PORT: '80a' } }],
      ['', { env: { RETENTION_DAYS: '0' } }],
      ['', { env: { ACKNOWLEDGE: 'yes' } }],
      ['', { env: { MAIL_LANGUAGE: 'tlh' } }],
      ['', { env: { npm_config_cors_origin: 'x', npm_config_port: '1' } }],
      '--help',
    ],
  );
  const refusals = lines.replaceAll(ROOT, 'ROOT');
  await expect(refusals).toMatchFileSnapshot('golden/start.txt');
});

/** Until the test ends. @returns The port. */
async function occupy(wanted = 0): Promise<number> {
  const server = createServer();
  onTestFinished(() => closeServer(server));
  return listen(server, wanted);
}

it('refuses each port that is in use, and that of the inspector', async () => {
  // Six free ports below the range of other tests.
  const port = await occupy(20_005 + Math.floor(Math.random() * 2_000) * 6);
  const inUse = `Port ${port} is in use; choose another with `;
  for (const below of [0, 1, 2, 3, 4, 5]) {
    await expectRefusal(`--port ${port - below}`, `${inUse}--port (0 = any free port).`);
  }
  await expectRefusal(`--port 0 --inspect=${port}`, `${inUse}--inspect=PORT.`);
});

it('refuses a data folder that a running stack uses, or an engine that has outlived its stack', async () => {
  const url = `http://127.0.0.1:${await occupy()}`;
  const { pid } = process;
  for (const [state, by] of [
    [{ pid }, `a running stack (process ${pid}, API ${url}/inquiries, form -).`],
    [
      { pid: 2 ** 22 + 1, enginePid: pid },
      `DynamoDB Local, whose stack has ended; end it with kill -9 ${pid}.`,
    ],
  ] as const) {
    writeState(folder, { engine: url, gateway: url, form: '-', ...state });
    await expectRefusal('--port 0 --reset', `The data folder ${folder} is in use by ${by}`);
  }
});

it('refuses a data folder on which a stack is starting, unless it was killed', async () => {
  const { pid } = process;
  lockDataFolder(folder);
  const refusal = `is in use by a stack that is starting (process ${pid}).`;
  await expectRefusal('--port 0', `The data folder ${folder} ${refusal}`);
  const lock = join(folder, 'starting.lock');
  expect([readdirSync(folder), readdirSync(lock)]).toEqual([['starting.lock'], [`${pid}`]]);
  // After a restart of the machine, the id is another process's.
  utimesSync(join(lock, `${pid}`), 1, 1);
  writeFileSync(join(lock, `${2 ** 22 + 1}`), '');
  lockDataFolder(folder)();
  expect(readdirSync(folder)).toEqual([]);
});

it('refuses a data folder of another user, or one that others can use', async () => {
  chmodSync(folder, 0o750);
  const advice = `is open to other users; close it with: chmod 700 '${folder}'.`;
  await expectRefusal('--port 0', `The data folder ${folder} ${advice}`);
  vi.spyOn(process, 'getuid').mockReturnValue(4_242);
  await expectRefusal('--port 0', `The data folder ${folder} belongs to another user.`);
});

it('deletes with --reset what engines have kept alone; refuses a key file without JSON', async () => {
  for (const name of ['dynalite', 'dynamodb-local', 'other']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'issuer-keys.json'), '');
  await expectRefusal(
    '--port 0 --reset --engine dynalite',
    /^The issuer's key file \S+issuer-keys\.json cannot be used: /,
  );
  expect(readdirSync(folder)).toEqual(['issuer-keys.json', 'other']);
});

it('refuses a data folder in which an engine’s is a file', async () => {
  writeFileSync(join(folder, 'dynalite'), '');
  const refusal = /^The data folder \S+dynalite cannot be used \(ENOTDIR: not a directory\)\.$/m;
  await expectRefusal('--port 0 --engine dynalite', refusal);
});

it.each([
  'echo jdk.compiler@16.0.2',
  // A JRE without the compiler.
  "echo 'Error: module jdk.compiler not found' && exit 1",
])('refuses --engine dynamodb-local where java does %j', async (java) => {
  writeFileSync(join(folder, 'java'), `#!/bin/sh\n${java}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', [folder, dirname(process.execPath)].join(':'));
  const refusal = 'DynamoDB Local cannot run: there is no JDK 17 or newer.';
  await expectRefusal('--port 0 --engine dynamodb-local', refusal);
});
