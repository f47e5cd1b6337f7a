import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineNames, dynamoDbLocalUnavailableReason } from '../../scripts/local/dynamodb.ts';
import { close, listen } from '../../scripts/local/server.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { sendAndCheck as send } from '../helpers/contract.ts';

const ROOT = join(import.meta.dirname, '../..');
const noJava = dynamoDbLocalUnavailableReason();
if (noJava !== undefined)
  process.stdout.write(`\nSKIPPED: npm start on DynamoDB Local, because ${noJava}.\n`);

let folder = '';
const commands: { child: ChildProcess; exit: Promise<number | null> }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inquiries-start-'));
});
afterEach(async () => {
  for (const { child, exit } of commands.splice(0)) {
    child.kill('SIGTERM');
    await exit;
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command behind `npm start` with the given arguments; `output` grows while it runs. */
function run(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['scripts/start.ts', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  const result = {
    child,
    output: '',
    errors: '',
    exit: once(child, 'exit').then(([code]) => code as number | null),
  };
  child.stdout.on('data', (chunk: Buffer) => (result.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (result.errors += chunk.toString()));
  commands.push(result);
  return result;
}

async function waitUntilRunning(command: ReturnType<typeof run>): Promise<void> {
  const isSettled = () => command.output.includes('curl -X POST') || command.errors !== '';
  await expect.poll(isSettled, { timeout: 30_000 }).toBe(true);
  expect(command.errors).toBe('');
}

/** Starts a stack on free ports and waits until it says that it runs. */
async function start(args: string[], env: Record<string, string> = {}) {
  const command = run(['--port', '0', '--data', folder, ...args], env);
  await waitUntilRunning(command);
  const [, api = ''] = /API +(\S+)/.exec(command.output) ?? [];
  const [, engine = ''] = /DynamoDB +(\S+)/.exec(command.output) ?? [];
  const [, token = ''] = /Bearer ([\w.-]+)/.exec(command.output) ?? [];
  const headers = ['Authorization', `Bearer ${token}`, 'Content-Type', 'application/json'];
  return {
    ...command,
    said: () => command.output,
    api,
    engine,
    post: (subject: string) =>
      send(api, { method: 'POST', headers, body: JSON.stringify({ subject, body: '' }) }),
    subjects: async () => {
      const { inquiries } = (await send(api, { headers })).json as InquiryListResponse;
      return inquiries.map(({ subject }) => subject);
    },
    async stop(signal: NodeJS.Signals) {
      command.child.kill(signal);
      return command.exit;
    },
  };
}

describe.each(engineNames)('npm start on %s', (name) => {
  it.skipIf(name === 'dynamodb-local' && noJava !== undefined)(
    'keeps inquiries and keys over a restart, until --reset, and leaves nothing behind',
    async () => {
      const first = await start(['--engine', name]);
      await first.post('1');
      await first.post('2');
      expect(await first.subjects()).toEqual(['2', '1']);
      expect(await first.stop('SIGINT')).toBe(0);
      expect(first.errors).toBe('');
      await expect(fetch(first.api)).rejects.toThrow('fetch failed');
      await expect(fetch(first.engine)).rejects.toThrow('fetch failed');
      expect(existsSync(join(folder, 'stack.json'))).toBe(false);

      const second = await start(['--engine', name]);
      expect(await second.subjects()).toEqual(['2', '1']);
      expect(await second.stop('SIGTERM')).toBe(0);

      const third = await start(['--engine', name, '--reset']);
      expect(await third.subjects()).toEqual([]);
      expect(await third.stop('SIGHUP')).toBe(0);
    },
  );

  it.skipIf(name === 'dynamodb-local' && noJava !== undefined)('keeps nothing with --in-memory', async () => {
    const first = await start(['--engine', name, '--in-memory']);
    await first.post('1');
    expect(await first.subjects()).toEqual(['1']);
    expect(await first.stop('SIGINT')).toBe(0);
    expect(existsSync(join(folder, name))).toBe(false);
    const second = await start(['--engine', name, '--in-memory']);
    expect(await second.subjects()).toEqual([]);
  });
});

it.each(['SIGTERM', 'SIGKILL'] as const)('ends when npm is ended by %s alone', async (signal) => {
  const npm = spawn('npm', ['start', '--', '--port', '0', '--data', folder, '--engine', 'dynalite'], {
    cwd: ROOT,
  });
  let output = '';
  npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output, { timeout: 30_000 }).toContain('curl -X POST');
  const [, api = ''] = /API +(\S+)/.exec(output) ?? [];
  expect((await send(api)).status).toBe(401);
  npm.kill(signal);
  const isGone = () =>
    send(api).then(
      () => false,
      () => true,
    );
  await expect.poll(isGone, { timeout: 10_000 }).toBe(true);
  await expect.poll(() => existsSync(join(folder, 'stack.json'))).toBe(false);
});

it('takes the port from PORT, and the next three for issuer, docs and form', async () => {
  const port = await findPort();
  const command = run(['--data', folder, '--in-memory', '--engine', 'dynalite'], { PORT: String(port) });
  await waitUntilRunning(command);
  expect(command.output).toContain(`http://127.0.0.1:${port}/inquiries`);
  expect(command.output).toContain(`http://127.0.0.1:${port + 1}\n`);
  const docs = await fetch(`http://127.0.0.1:${port + 2}/openapi.json`);
  expect(await docs.json()).toMatchObject({ servers: [{ url: `http://127.0.0.1:${port}` }] });
  const config = await fetch(`http://127.0.0.1:${port + 3}/config.json`);
  expect(await config.json()).toEqual({
    issuer: `http://127.0.0.1:${port + 1}`,
    clientId: 'inquiries-local',
    apiUrl: `http://127.0.0.1:${port}`,
  });
});

it('prints the address of the contact form first, and serves it to its own origin alone', async () => {
  const stack = await start(['--engine', 'dynalite', '--in-memory']);
  const [form = ''] = /http:\S+/.exec(stack.said()) ?? [];
  expect(stack.said()).toContain(`Form       ${form}`);
  const page = await fetch(form);
  expect(await page.text()).toContain('<title>Contact us</title>');
  expect(page.headers.get('content-security-policy')).toContain(
    `connect-src 'self' ${/Sign-in +(\S+)/.exec(stack.said())?.[1]} ${new URL(stack.api).origin};`,
  );
  expect((await stack.post('1')).headers['access-control-allow-origin']).toBe(form);
  const byName = await fetch(form.replace('127.0.0.1', 'localhost'), { redirect: 'manual' });
  expect(byName.headers.get('location')).toBe(form);
  expect((await fetch(`${form}/..%2f..%2fpackage.json`)).status).toBe(404);
});

it('passes CORS_ORIGIN on and ignores the AWS settings of the user', async () => {
  const aws = {
    AWS_PROFILE: 'no-such-profile',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_REGION: 'nowhere',
  };
  const stack = await start(['--engine', 'dynalite', '--in-memory'], {
    CORS_ORIGIN: 'https://o.example',
    ...aws,
  });
  const { status, headers } = await stack.post('1');
  expect(status).toBe(201);
  expect(headers['access-control-allow-origin']).toBe('https://o.example');
  // The API is for one origin, so the form cannot have it as well.
  expect(stack.said()).toContain('Form       not served, because CORS_ORIGIN is https://o.example');
});

it('builds the contact form again when web changes, with --watch', async () => {
  const stack = await start(['--engine', 'dynalite', '--in-memory', '--watch']);
  const [form = ''] = /http:\S+/.exec(stack.said()) ?? [];
  const now = new Date();
  utimesSync(join(ROOT, 'web/src/main.ts'), now, now);
  await expect.poll(stack.said, { timeout: 10_000 }).toContain('web/src/main.ts changed: rebuilt');
  expect(await (await fetch(form)).text()).toContain('<title>Contact us</title>');
});

it('reloads the function when src changes, with --watch', async () => {
  const stack = await start(['--engine', 'dynalite', '--in-memory', '--watch']);
  await stack.post('1');
  const now = new Date();
  utimesSync(join(ROOT, 'src/app.ts'), now, now);
  await expect.poll(stack.said, { timeout: 10_000 }).toContain('src/app.ts changed: reloaded');
  expect(await stack.subjects()).toEqual(['1']);
});

/** A port that was free a moment ago. */
async function findPort(): Promise<number> {
  const probe = createServer();
  const port = await listen(probe, 0);
  await close(probe);
  return port;
}

it('debugs the function in its TypeScript source, with --inspect', async () => {
  const port = await findPort();
  const stack = await start(['--engine', 'dynalite', '--in-memory', `--inspect=${port}`]);
  expect(stack.said()).toContain(`Inspector  127.0.0.1:${port}`);
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const debug = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
  await once(debug, 'open');
  const messages: string[] = [];
  debug.addEventListener('message', ({ data }) => messages.push(String(data)));
  for (const [id, method] of ['Debugger.enable', 'Debugger.pause'].entries()) {
    debug.send(JSON.stringify({ id, method }));
  }
  await expect
    .poll(() => messages.join('\n'))
    .toContain(`"url":"${pathToFileURL(join(ROOT, 'src/app.ts')).href}"`);
  const posted = stack.post('1');
  await expect.poll(() => messages.join('\n')).toContain('Debugger.paused');
  debug.send(JSON.stringify({ id: 2, method: 'Debugger.disable' }));
  expect((await posted).status).toBe(201);
  debug.close();
});

describe('Java', () => {
  /** A PATH on which `java` is this script, or is missing. */
  const pathWith = (java?: string): string => {
    if (java !== undefined) {
      writeFileSync(join(folder, 'java'), `#!/bin/sh\n${java}\n`);
      chmodSync(join(folder, 'java'), 0o755);
    }
    return [folder, dirname(process.execPath)].join(':');
  };

  it.each([
    ['is missing', undefined, 'Java is not installed (17 or newer is needed)'],
    ['does not run', 'exit 1', 'Java is not installed (17 or newer is needed)'],
    ['is too old', `echo 'openjdk version "11.0.2" 2019' >&2`, 'Java 11 is too old (17 or newer is needed)'],
    ['is very old', `echo 'java version "1.8.0_452"' >&2`, 'Java 8 is too old (17 or newer is needed)'],
  ])(
    'falls back to dynalite and says so when it %s; refuses --engine dynamodb-local',
    async (_, java, reason) => {
      const PATH = pathWith(java);
      const stack = await start(['--in-memory'], { PATH });
      expect(stack.said()).toContain(`dynalite, because ${reason}`);
      expect((await stack.post('1')).status).toBe(201);
      const refused = run(['--port', '0', '--in-memory', '--data', folder, '--engine', 'dynamodb-local'], {
        PATH,
      });
      expect(await refused.exit).toBe(2);
      expect(refused.errors).toBe(`DynamoDB Local cannot run: ${reason}.\n`);
    },
  );
});

describe('bad use gets one line and exit code 2:', () => {
  it.each([
    ['an unknown option', ['--prot', '1'], {}, /^Unknown option '--prot'.*\n$/],
    ['an argument that is no option', ['now'], {}, /^Unexpected argument 'now'.*\n$/],
    ['an option without its value', ['--port'], {}, /^Option '--port <value>' argument missing.*\n$/],
    [
      'a port that is no number',
      ['--port', 'x'],
      {},
      /^The port must be a number from 0 to 65532, not "x"\.\n$/,
    ],
    ['a port that is too large', ['--port', '65533'], {}, /^The port must be a number.*\n$/],
    ['a negative port', ['--port=-1'], {}, /^The port must be a number.*\n$/],
    ['a PORT that is no number', [], { PORT: '80a' }, /^The port must be a number.*"80a"\.\n$/],
    [
      'an inspector’s port that is no number',
      ['--inspect=x'],
      {},
      /^The inspector's port must be .*"x"\.\n$/,
    ],
    [
      'an unknown engine',
      ['--engine', 'h2'],
      {},
      /^The engine must be dynamodb-local or dynalite, not "h2"\.\n$/,
    ],
    [
      '--reset with --in-memory',
      ['--reset', '--in-memory'],
      {},
      /^--reset and --in-memory exclude each other\.\n$/,
    ],
    [
      'a data folder that is a file',
      ['--data', 'package.json'],
      {},
      /^The data folder .*package\.json cannot be used \(EEXIST\)\.\n$/,
    ],
    [
      'a data folder below a file',
      ['--data', 'package.json/x'],
      {},
      /^The data folder .* cannot be used \(ENOTDIR\)\.\n$/,
    ],
  ])('%s', async (_, args, env, line) => {
    const command = run(args, env);
    expect(await command.exit).toBe(2);
    expect(command.errors).toMatch(line);
    expect(command.output).toBe('');
  });

  it('a port in use, naming it: the gateway’s, the issuer’s, that of the docs or of the form', async () => {
    const holder = createServer();
    const port = await listen(holder, 0);
    try {
      for (const asked of [port, port - 1, port - 2, port - 3]) {
        const command = run([
          '--port',
          String(asked),
          '--in-memory',
          '--data',
          folder,
          '--engine',
          'dynalite',
        ]);
        expect(await command.exit).toBe(2);
        expect(command.errors).toBe(
          `Port ${port} is in use; choose another with --port (0 = any free port).\n`,
        );
      }
      const command = run(['--port', '0', '--in-memory', '--data', folder, `--inspect=${port}`]);
      expect(await command.exit).toBe(2);
      expect(command.errors).toBe(`Port ${port} is in use; choose another with --inspect=PORT.\n`);
    } finally {
      await close(holder);
    }
  });

  it('a data folder that another stack uses; a stale mark of one does not matter', async () => {
    writeFileSync(
      join(folder, 'stack.json'),
      JSON.stringify({ pid: process.pid, gateway: 'http://127.0.0.1:9' }),
    );
    const stack = await start(['--engine', 'dynalite']);
    const command = run(['--port', '0', '--data', folder, '--engine', 'dynalite']);
    expect(await command.exit).toBe(2);
    expect(command.errors).toBe(
      `The data folder ${folder} is in use by the stack with process id ${stack.child.pid}.\n`,
    );
    expect((await stack.post('1')).status).toBe(201);
  });

  it('a keys file that cannot be read', async () => {
    writeFileSync(join(folder, 'issuer-keys.json'), 'not JSON');
    const command = run(['--port', '0', '--data', folder, '--engine', 'dynalite']);
    expect(await command.exit).toBe(2);
    expect(command.errors).toMatch(
      /^The issuer's key file [^\n]*issuer-keys\.json cannot be used: [^\n]*\n$/,
    );
  });

  it('a folder of the engine that is a file', async () => {
    writeFileSync(join(folder, 'dynalite'), '');
    const command = run(['--port', '0', '--data', folder, '--engine', 'dynalite']);
    expect(await command.exit).toBe(2);
    expect(command.errors).toBe(`The data folder ${join(folder, 'dynalite')} cannot be used (EEXIST).\n`);
  });
});

it('--help prints the usage', async () => {
  const command = run(['--help']);
  expect(await command.exit).toBe(0);
  expect(command.output).toMatch(/^Usage: npm start/);
});
