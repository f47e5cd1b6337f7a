import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { closeServer, listen } from '../../lib/pages/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { lockDataFolder } from '../../local/data-folder.ts';
import { main } from '../../local/start.ts';
import { createFolder, writeState } from './data-folder.ts';
import { run, transcribe, type IoOptions } from './io.ts';

// A build would outlive the refusal and this test file.
vi.mock(import('../../lib/pages/page-build.ts'), async (importOriginal) => ({
  ...(await importOriginal()),
  buildFormWhenStale: async () => false,
}));

// A start waits for an engine that has outlived its stack.
vi.mock('node:timers/promises', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  setTimeout: async () => undefined,
}));

let folder = '';
beforeEach(() => {
  folder = createFolder();
});

const start = (line: string, options?: IoOptions) =>
  run(main, `--data '${folder}' ${line}`, options);

it('refuses wrong options and variables, each in one line', async () => {
  const lines = await transcribe(start, [
    '--prot 1',
    '--port 65530',
    '--inspect=x',
    '--engine h2',
    '--engine ftp://a.example',
    '--engine http://127.0.0.1:1 --reset',
    '--seed 0',
    '--seed 5001',
    '--data package.json',
    '--issuer http://a.example',
    '--issuer a.example --client-id c',
    '--cors-origin http://a.example/',
    '--cors-origin http://ana@a.example',
    '--cors-origin https://*.example.com',
    ['', { env: { PORT: '80a' } }],
    ['', { env: { RETENTION_DAYS: '0' } }],
    ['', { env: { ACKNOWLEDGE: 'yes' } }],
    ['', { env: { MAIL_LANGUAGE: 'tlh' } }],
    ['', { env: { npm_config_cors_origin: 'x', npm_config_port: '1' } }],
    '--help',
  ]);
  const refusals = lines.replaceAll(ROOT, 'ROOT');
  expect(refusals).toMatchSnapshot();
});

async function occupy(wanted = 0): Promise<number> {
  const server = createServer();
  onTestFinished(() => closeServer(server));
  return listen(server, wanted);
}

it('refuses each port that is in use, and that of the inspector', async () => {
  // The six ports are below the range of other tests.
  const port = await occupy(20_005 + Math.floor(Math.random() * 2_000) * 6);
  const inUse = `Port ${port} is in use; choose another with `;
  for (const below of [0, 1, 2, 3, 4, 5]) {
    const stderr = `${inUse}--port (0 = any free port).\n`;
    expect(await start(`--port ${port - below}`)).toEqual({ code: 2, stdout: '', stderr });
  }
  const { stderr } = await start(`--port 0 --inspect=${port}`);
  expect(stderr).toBe(`${inUse}--inspect=PORT.\n`);
});

const { pid } = process;
const NO_PID = 2 ** 22 + 1;

it('refuses a data folder or an engine that cannot be used, each in one line', async () => {
  const url = `http://127.0.0.1:${await occupy()}`;
  const state = { engine: url, gateway: url, form: '-' };
  const write = (name: string, text = '', mode = 0o644) =>
    writeFileSync(join(folder, name), text, { mode });
  const writeJava = (command: string) => {
    write('java', `#!/bin/sh\n${command}\n`, 0o755);
    vi.stubEnv('PATH', [folder, dirname(process.execPath)].join(':'));
  };
  const refusals: string[] = [];
  for (const [title, prepare, line = ''] of [
    [
      'of a running stack',
      () => {
        lockDataFolder(folder);
        writeState(folder, { ...state, pid });
      },
    ],
    [
      'of an engine that has outlived its stack',
      () => writeState(folder, { ...state, pid: NO_PID, enginePid: pid }),
    ],
    ['on which a stack is starting', () => lockDataFolder(folder)],
    ['with another file in the place of its lock', () => write('lock', 'x'.repeat(100))],
    ['with a folder in that place', () => mkdirSync(join(folder, 'lock'))],
    ['that others can use', () => chmodSync(folder, 0o750)],
    ['in which an engine’s is a file', () => write('dynalite'), '--engine dynalite'],
    ['with a key file without JSON', () => write('issuer-keys.json'), '--engine dynalite'],
    ['with an older Java', () => writeJava('echo jdk.compiler@16.0.2'), '--engine dynamodb-local'],
    [
      'with a JRE without the compiler',
      () => writeJava("echo 'Error: module jdk.compiler not found' && exit 1"),
      '--engine dynamodb-local',
    ],
    ['of another user', () => vi.spyOn(process, 'getuid').mockReturnValue(4_242)],
  ] as [title: string, prepare: () => unknown, line?: string][]) {
    folder = createFolder();
    prepare();
    const transcript = await transcribe(start, [`--port 0 ${line}`]);
    expect(transcript).toMatch(/^\$ .*\n! .+\n\[2\]\n$/);
    refusals.push(`# ${title}\n${transcript.replaceAll(folder, 'FOLDER')}`);
  }
  const golden = refusals
    .join('\n')
    .replaceAll(url, 'URL')
    .replaceAll(new RegExp(`(process|-9) ${pid}`, 'g'), '$1 PID');
  await expect(golden).toMatchFileSnapshot('golden/refused-starts.txt');
});

it('--reset deletes only what the engines have stored', async () => {
  for (const name of ['dynalite', 'dynamodb-local', 'other']) mkdirSync(join(folder, name));
  // An empty key file ends the start.
  writeFileSync(join(folder, 'issuer-keys.json'), '');
  expect(await start('--port 0 --reset --engine dynalite')).toMatchObject({ code: 2 });
  expect(readdirSync(folder)).toEqual(['issuer-keys.json', 'lock', 'other']);
});
