import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readText } from '../helpers/repository.ts';
import { engineNames, dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { launchBrowser, on, whyNoBrowser } from '../helpers/chromium.ts';
import { sendAndCheck as send } from '../helpers/contract.ts';
import { ROOT } from '../../lib/paths.ts';

const noJava = dynamoDbLocalUnavailableReason();
if (noJava !== undefined)
  process.stdout.write(`\nSKIPPED: npm start on DynamoDB Local, because ${noJava}.\n`);
const noMount = mountUnavailableReason();
if (noMount !== undefined)
  process.stdout.write(`\nSKIPPED: npm start on full and read-only disks, because ${noMount}.\n`);
const noTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux')
  ? undefined
  : 'the `script` command of util-linux is missing';
if (noTerminal !== undefined)
  process.stdout.write(`\nSKIPPED: npm start at a terminal, because ${noTerminal}.\n`);

let folder = '';
const commands: { child: ReturnType<typeof spawn>; exit: Promise<number | null> }[] = [];
const mounts: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inquiries-start-'));
});
afterEach(async () => {
  for (const { child, exit } of commands.splice(0)) {
    child.kill('SIGTERM');
    await exit;
  }
  for (const mount of mounts.splice(0)) execFileSync('umount', ['--lazy', mount]);
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command, by default the one behind `npm start`; `output` and `errors` grow while it runs. */
function run(
  args: string[],
  { env = {}, root = ROOT, command = [process.execPath, 'local/start.ts'] }: RunOptions = {},
) {
  const [file = '', ...first] = command;
  const child = spawn(file, [...first, ...args], { cwd: root, env: { ...process.env, ...env } });
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

interface RunOptions {
  readonly env?: Record<string, string>;
  readonly root?: string;
  readonly command?: string[];
}

async function waitUntilRunning(command: ReturnType<typeof run>): Promise<void> {
  const isSettled = () => command.output.includes('curl -X POST') || command.errors !== '';
  await expect.poll(isSettled, { timeout: 40_000 }).toBe(true);
  expect(command.errors).toBe('');
}

/** Starts a stack on free ports and waits until it says that it runs. */
async function start(args: string[], options: RunOptions = {}) {
  const place = args.includes('--in-memory') ? [] : ['--data', folder];
  const command = run(['--port', '0', ...place, ...args], options);
  await waitUntilRunning(command);
  const addressOf = (label: string) => new RegExp(`${label} +(\\S+)`).exec(command.output)?.[1] ?? '';
  const [, data = ''] = /token -- --data '(.*)'\)/.exec(command.output) ?? [];
  const token = execFileSync(process.execPath, ['local/token.ts', '--data', data], {
    cwd: ROOT,
    encoding: 'utf8',
  }).trim();
  const headers = ['Authorization', `Bearer ${token}`, 'Content-Type', 'application/json'];
  const api = addressOf('API');
  return {
    ...command,
    said: () => command.output,
    complained: () => command.errors,
    addressOf,
    api,
    engine: addressOf('DynamoDB'),
    data,
    send: (method: string) => send(api, { method, headers }),
    post: (subject: string, body = '', more: string[] = []) =>
      send(api, { method: 'POST', headers: [...headers, ...more], body: JSON.stringify({ subject, body }) }),
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

/** A checkout that a test may change: copies of what `npm start` reads, and a link to node_modules. */
function copyCheckout(target = join(folder, 'checkout')): string {
  const files = ['docs/openapi.yaml', 'infra/terraform/stream-filters.json', 'package.json', 'tsconfig.json'];
  for (const part of ['src', 'scripts', 'web', ...files]) {
    cpSync(join(ROOT, part), join(target, part), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'));
  // Newer than the folders, whose times are not copied.
  utimesSync(join(target, 'web/dist/index.html'), new Date(), new Date());
  return target;
}

/** A small disk in memory. */
function mountDisk(size: string): string {
  const path = join(folder, 'disk');
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
  mounts.push(path);
  return path;
}

function mountUnavailableReason(): string | undefined {
  const path = mkdtempSync(join(tmpdir(), 'inquiries-mount-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', path]);
  if (status === 0) spawnSync('umount', [path]);
  rmSync(path, { recursive: true });
  return status === 0 ? undefined : 'this user cannot mount a file system';
}

/** A port that was free a moment ago. */
async function findPort(): Promise<number> {
  const probe = createServer();
  const port = await listen(probe, 0);
  await close(probe);
  return port;
}

const portOf = (url: string): number => Number(new URL(url).port);

function isListening(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: 2_000 });
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

describe.each(engineNames)('npm start on %s', (name) => {
  const isMissing = name === 'dynamodb-local' && noJava !== undefined;
  it.skipIf(isMissing)(
    'keeps inquiries and keys over a restart, until --reset, and leaves nothing running',
    async () => {
      const first = await start(['--engine', name]);
      await first.post('1');
      await first.post('2');
      expect(await first.subjects()).toEqual(['2', '1']);
      expect(await first.stop('SIGINT')).toBe(0);
      expect(first.complained()).toBe('');
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

  it.skipIf(isMissing)('ends the engine when killed, and starts again on the same files', async () => {
    const killed = await start(['--engine', name]);
    await killed.post('1');
    expect(await killed.stop('SIGKILL')).toBe(null);
    await expect.poll(() => isListening('127.0.0.1', portOf(killed.engine)), { timeout: 10_000 }).toBe(false);
    const next = await start(['--engine', name]);
    expect(await next.subjects()).toEqual(['1']);
  });

  it.skipIf(isMissing)('keeps nothing with --in-memory, and leaves no files', async () => {
    const root = copyCheckout();
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    const options = { root, env: { TMPDIR: temporary } };
    const first = await start(['--engine', name, '--in-memory'], options);
    await first.post('1');
    expect(await first.subjects()).toEqual(['1']);
    expect(dirname(first.data)).toBe(temporary);
    expect(await first.stop('SIGINT')).toBe(0);
    expect(existsSync(join(root, '.data'))).toBe(false);
    expect(readdirSync(temporary).filter((file) => file.startsWith('inquiries-'))).toEqual([]);
    const second = await start(['--engine', name, '--in-memory'], options);
    expect(await second.subjects()).toEqual([]);
  });

  it.skipIf(isMissing)('stores a keyed inquiry once, or says that the key is ignored', async () => {
    const isIgnored = name === 'dynalite';
    const stack = await start(['--engine', name, '--in-memory']);
    const row = 'Idempotency-Key is ignored, because dynalite has no transactions';
    expect(stack.said().includes(`             ${row}\n`)).toBe(isIgnored);
    const post = () => stack.post('1', '', ['Idempotency-Key', 'k']);
    const [first, second] = [await post(), await post()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers['idempotency-replayed']).toBe(isIgnored ? undefined : 'true');
    expect(second.text === first.text).toBe(!isIgnored);
    expect(await stack.subjects()).toEqual(isIgnored ? ['1', '1'] : ['1']);
  });

  it.skipIf(isMissing)('accepts no connection from another machine', async () => {
    const stack = await start(['--engine', name, '--in-memory']);
    // Linux delivers all of 127.0.0.0/8 to this machine, but not to sockets that listen on 127.0.0.1.
    const others = Object.values(networkInterfaces()).flatMap((all = []) =>
      all.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address),
    );
    const mailbox = name === 'dynalite' ? [] : ['Mailbox'];
    for (const label of ['Form', 'API', 'Docs', 'Sign-in', 'DynamoDB', ...mailbox]) {
      const port = portOf(stack.addressOf(label));
      expect(await isListening('127.0.0.1', port)).toBe(true);
      for (const host of ['127.0.0.2', '::1', ...others]) {
        expect(`${label} on ${host}: ${await isListening(host, port)}`).toBe(`${label} on ${host}: false`);
      }
    }
  });

  it.skipIf(isMissing || noMount !== undefined)('says in one line that the disk is full', async () => {
    const disk = mountDisk('3m');
    const refused = (data: string) =>
      `The data folder ${data} cannot be used (ENOSPC: no space left on device).\n`;
    writeFileSync(join(disk, 'fill'), Buffer.alloc(2_500_000));
    const early = run(['--port', '0', '--data', disk, '--engine', name]);
    expect(await early.exit).toBe(2);
    expect(early.errors).toBe(refused(disk));

    rmSync(join(disk, 'fill'));
    folder = disk;
    const stack = await start(['--engine', name]).finally(() => (folder = dirname(disk)));
    let stored = 0;
    await expect
      .poll(
        async () => {
          const fills = Array.from({ length: 4 }, () => stack.post('x', 'x'.repeat(150_000)));
          stored += (await Promise.allSettled(fills)).filter(({ status }) => status === 'fulfilled').length;
          return stack.child.exitCode;
        },
        { timeout: 30_000 },
      )
      .toBe(1);
    expect(stored).toBeGreaterThan(0);
    expect(stack.complained()).toMatch(/^[^\n]*no space left on device[^\n]*\n$/i);
  });

  it.skipIf(isMissing || noMount !== undefined)(
    'says in one line that the checkout is read-only, and runs there with --in-memory',
    async () => {
      const disk = mountDisk('50m');
      const root = copyCheckout(join(disk, 'checkout'));
      execFileSync('mount', ['-o', 'remount,ro', disk]);
      const refused = run(['--port', '0', '--engine', name], { root });
      expect(await refused.exit).toBe(2);
      expect(refused.errors).toBe(
        `The data folder ${join(root, '.data')} cannot be used (EROFS: read-only file system).\n`,
      );
      const stack = await start(['--engine', name, '--in-memory'], { root });
      expect((await stack.post('1')).status).toBe(201);
    },
  );
});

it.skipIf(noMount !== undefined)(
  'says in one line that the form cannot be built in a read-only checkout',
  async () => {
    const disk = mountDisk('50m');
    const root = copyCheckout(join(disk, 'checkout'));
    rmSync(join(root, 'web/dist'), { recursive: true });
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const refused = run(['--port', '0', '--engine', 'dynalite', '--in-memory'], { root });
    expect(await refused.exit).toBe(2);
    expect(refused.errors).toBe(
      `The output folder ${join(root, 'web/dist')} cannot be used (EROFS: read-only file system).\n`,
    );
  },
);

it.each(['SIGTERM', 'SIGKILL'] as const)('ends when npm is ended by %s alone', async (signal) => {
  const args = ['start', '--', '--port', '0', '--data', folder, '--engine', 'dynalite'];
  const npm = run(args, { command: ['npm'] });
  await expect.poll(() => npm.output, { timeout: 30_000 }).toContain('curl -X POST');
  const [, api = ''] = /API +(\S+)/.exec(npm.output) ?? [];
  expect((await send(api)).status).toBe(401);
  npm.child.kill(signal);
  await expect.poll(() => isListening('127.0.0.1', portOf(api)), { timeout: 10_000 }).toBe(false);
  await expect.poll(() => existsSync(join(folder, 'stack.json'))).toBe(false);
});

it('takes the port from PORT, and the next five for issuer, docs, form, mailbox and demo', async () => {
  const port = await findPort();
  const command = run(['--in-memory'], { env: { PORT: String(port) } });
  await waitUntilRunning(command);
  expect(command.output).toMatch(
    noJava === undefined
      ? new RegExp(`Mailbox +http://127.0.0.1:${port + 4} `)
      : 'Mailbox    off, because dynalite has no streams',
  );
  expect(command.output).toContain(`http://127.0.0.1:${port}/inquiries`);
  expect(command.output).toContain(`http://127.0.0.1:${port + 1}\n`);
  const docs = await fetch(`http://127.0.0.1:${port + 2}/openapi.json`);
  expect(await docs.json()).toMatchObject({ servers: [{ url: `http://127.0.0.1:${port}` }] });
  const demo = await fetch(`http://127.0.0.1:${port + 5}`);
  expect(await demo.text()).toContain(`src="http://127.0.0.1:${port + 3}/inquiry-form.js"`);
  const config = await fetch(`http://127.0.0.1:${port + 3}/config.json`);
  expect(await config.json()).toEqual({
    ...(JSON.parse(readText('web/config.example.json')) as object),
    issuer: `http://127.0.0.1:${port + 1}`,
    clientId: 'inquiries-local',
    apiUrl: `http://127.0.0.1:${port}`,
  });
});

it('accepts requests only when everything behind the gateway is ready', async () => {
  const port = await findPort();
  run(['--port', String(port), '--data', folder]);
  const deadline = Date.now() + 40_000;
  while (!(await isListening('127.0.0.1', port)) && Date.now() < deadline);
  // `npm run token` works now, and so does the first request.
  const args = ['local/token.ts', '--data', folder];
  const token = execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' }).trim();
  const { status } = await send(`http://127.0.0.1:${port}/inquiries`, {
    headers: ['Authorization', `Bearer ${token}`],
  });
  expect(status).toBe(200);
});

it('prints a curl command that sends an inquiry', async () => {
  const stack = await start(['--engine', 'dynalite']);
  const [command = ''] = /curl -X POST .*\\\n.*/.exec(stack.said()) ?? [];
  const shell = run(['-c', command], { command: ['sh'] });
  expect(await shell.exit).toBe(0);
  expect(JSON.parse(shell.output)).toMatchObject({ inquiry: { subject: 'Hello', email: 'ana@example.com' } });
  expect(command).not.toMatch(/Bearer ey/);
  expect(stack.said()).toMatch(/^\{.*"route":"\/inquiries","status":201/m);
});

it.skipIf(noTerminal !== undefined)('prints a short line for each request at a terminal', async () => {
  const args = ['--port', '0', '--data', folder, '--engine', 'dynalite'];
  const line = [process.execPath, 'local/start.ts', ...args].join(' ');
  // Each of these decides about colours; Node uses none in an unknown CI.
  const { FORCE_COLOR: _, NO_COLOR: __, CI: ___, ...env } = process.env;
  const terminal = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: ROOT,
    env: { ...env, TERM: 'xterm-256color' },
  });
  commands.push({ child: terminal, exit: once(terminal, 'exit').then(([code]) => code as number | null) });
  let output = '';
  terminal.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output, { timeout: 40_000 }).toContain('curl -X POST');
  const [command = ''] = /curl -X POST .*\\\r?\n.*/.exec(output) ?? [];
  execFileSync('sh', ['-c', command.replaceAll('\r', '')], { cwd: ROOT, stdio: 'ignore' });
  await expect.poll(() => output).toContain('POST /inquiries \u001B[32m201\u001B[39m');
  const after = stripVTControlCharacters(output.slice(output.indexOf('"Is anyone there?"')));
  expect(after).toMatch(/^POST \/inquiries 201 \d+ ms\r$/m);
  expect(after).not.toMatch(/Hello|ana@example|"requestId"|eyJ/);
});

it('prints the address of the contact form first, and serves it to its own origin alone', async () => {
  const stack = await start(['--engine', 'dynalite', '--in-memory']);
  const [form = ''] = /http:\S+/.exec(stack.said()) ?? [];
  expect(stack.said()).toContain(`Form       ${form}`);
  const page = await fetch(form);
  expect(await page.text()).toContain('<title>Contact us</title>');
  expect(page.headers.get('content-security-policy')).toContain(
    `connect-src 'self' ${stack.addressOf('Sign-in')} ${new URL(stack.api).origin};`,
  );
  expect((await stack.post('1')).headers['access-control-allow-origin']).toBe(form);
  const byName = await fetch(form.replace('127.0.0.1', 'localhost'), { redirect: 'manual' });
  expect(byName.headers.get('location')).toBe(`${form}/`);
  expect((await fetch(`${form}/..%2f..%2fpackage.json`)).status).toBe(404);
});

it('ignores the AWS settings of the user', async () => {
  const env = {
    AWS_PROFILE: 'no-such-profile',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_REGION: 'nowhere',
  };
  const stack = await start(['--engine', 'dynalite', '--in-memory'], { env });
  expect((await stack.post('1')).status).toBe(201);
});

it('lets the pages of --cors-origin sign in and call the API beside the contact form, and no other', async () => {
  const origins = ['http://localhost:5173', 'https://www.example.com'];
  const args = origins.flatMap((origin) => ['--cors-origin', origin]);
  const stack = await start(['--engine', 'dynalite', '--in-memory', ...args]);
  const form = stack.addressOf('Form');
  expect((await fetch(form)).status).toBe(200);
  expect(stack.said()).toContain('Client id  inquiries-local ');
  expect(stack.said()).toContain(`Browsers   ${[form, ...origins, stack.addressOf('Demo')].join(', ')} `);
  for (const [origin, isAllowed] of [
    ...[form, ...origins, stack.addressOf('Demo')].map((allowed) => [allowed, true] as const),
    ['http://127.0.0.1:5173', false] as const,
  ]) {
    const answer = await stack.post('1', '', ['Origin', origin]);
    expect(answer.status).toBe(201);
    expect(answer.headers['access-control-allow-origin']).toBe(isAllowed ? origin : form);
    const query = new URLSearchParams({
      client_id: 'inquiries-local',
      response_type: 'code',
      scope: 'openid email',
      redirect_uri: `${origin}/callback`,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    const signIn = await fetch(`${stack.addressOf('Sign-in')}/oauth2/authorize?${query.toString()}`, {
      redirect: 'manual',
    });
    expect(signIn.status).toBe(isAllowed ? 303 : 400);
  }
});

it('passes INQUIRIES_PER_HOUR on: then the printed curl command is answered 429', async () => {
  const env = { INQUIRIES_PER_HOUR: '2' };
  const stack = await start(['--engine', 'dynalite'], { env });
  const [command = ''] = /curl -X POST .*\\\n.*/.exec(stack.said()) ?? [];
  const curl = async (): Promise<unknown> => {
    const shell = run(['-c', command], { command: ['sh'] });
    expect(await shell.exit).toBe(0);
    return JSON.parse(shell.output);
  };
  for (let count = 0; count < 2; count++)
    expect(await curl()).toMatchObject({ inquiry: { subject: 'Hello' } });
  expect(await curl()).toEqual({
    error: 'TOO_MANY_REQUESTS',
    message: 'The limit of inquiries per hour (2) is reached.',
  });
  const refused = await stack.post('1');
  expect(refused.status).toBe(429);
  expect(refused.headers['retry-after']).toMatch(/^\d{4}$/);
  expect(await stack.subjects()).toEqual(['Hello', 'Hello']);
});

describe('with --watch, each time a file is replaced as editors and git do,', () => {
  const replace = (file: string, from: string, to: string) => {
    writeFileSync(`${file}~`, readFileSync(file, 'utf8').replace(from, to));
    renameSync(`${file}~`, file);
  };

  it('runs the new code of the function', async () => {
    const root = copyCheckout();
    const stack = await start(['--engine', 'dynalite', '--in-memory', '--watch'], { root });
    const file = join(root, 'src/errors.ts');
    let text = 'Allowed methods';
    for (const next of ['Once', 'Twice', 'Allowed methods']) {
      const before = stack.said().length;
      replace(file, text, next);
      const said = () => stack.said().slice(before);
      await expect.poll(said, { timeout: 10_000 }).toContain(`src/${basename(file)} changed: reloaded`);
      expect((await stack.send('PUT')).json).toMatchObject({ message: `${next}: GET, POST.` });
      text = next;
    }
  });

  it.skipIf(noJava !== undefined)('sends mails with the new code of the mailer', async () => {
    const root = copyCheckout();
    const stack = await start(['--engine', 'dynamodb-local', '--in-memory', '--watch'], { root });
    const subjects = async () => {
      const response = await fetch(`${stack.addressOf('Mailbox')}/store`);
      return ((await response.json()) as { emails: { subject: string }[] }).emails.map(
        ({ subject }) => subject,
      );
    };
    await stack.post('1');
    await expect.poll(subjects, { timeout: 40_000 }).toEqual(['[inquiries local] 1']);
    replace(join(root, 'src/mailer/mails.ts'), '[inquiries ', '[new ');
    await expect.poll(stack.said, { timeout: 20_000 }).toContain('src/mailer/mails.ts changed: reloaded');
    await stack.post('2');
    await expect.poll(subjects, { timeout: 40_000 }).toEqual(['[inquiries local] 1', '[new local] 2']);
  });

  it.skipIf(whyNoBrowser !== undefined)(
    'shows the change in the open contact form, whose text stays',
    async () => {
      const root = copyCheckout();
      const stack = await start(['--engine', 'dynalite', '--in-memory', '--watch'], { root });
      const browser = await launchBrowser();
      try {
        const page = await browser.newPage();
        const complaints: string[] = [];
        page.on('pageerror', (error) => void complaints.push(error.message));
        page.on('console', (message) => {
          // A failed request is logged by the browser itself.
          if (message.type() === 'error' && !message.text().startsWith('Failed to load')) {
            complaints.push(message.text());
          }
        });
        await page.goto(stack.addressOf('Form'));
        await on(page).signIn('ana@example.com');
        await on(page).write('Half', 'written');

        let loads = 0;
        page.on('load', () => void loads++);
        const style = 'getComputedStyle(document.documentElement).getPropertyValue';
        for (const file of ['style', 'first-paint']) {
          let rule = '';
          for (const value of ['1', '2']) {
            const next = `:root { --probe-${file}: ${value}; }\n`;
            replace(join(root, `web/ui/${file}.css`), rule, next);
            const probe = async () => page.evaluate(`${style}('--probe-${file}')`);
            await expect.poll(probe, { timeout: 20_000 }).toBe(value);
            rule = next;
          }
        }
        expect(await on(page).message.inputValue()).toBe('written');
        expect(loads).toBe(0);

        const main = join(root, 'web/src/main.ts');
        replace(main, '', 'const = 3;\n');
        await page.locator('vite-error-overlay').waitFor();
        replace(main, 'const = 3;', `document.documentElement.dataset['probe'] = '3';`);
        await expect
          .poll(() => page.evaluate('document.documentElement.dataset.probe'), { timeout: 20_000 })
          .toBe('3');
        await expect.poll(() => on(page).message.inputValue(), { timeout: 20_000 }).toBe('written');

        await page.evaluate(`import('/inquiry-form.js')`);
        expect(await page.evaluate(`typeof customElements.get('inquiry-form')`)).toBe('function');
        // The sources are for the pages that may call the API.
        for (const [origin, allowed] of [
          [stack.addressOf('Demo'), stack.addressOf('Demo')],
          ['https://www.example.com', null],
        ] as const) {
          const headers = { origin };
          const answer = await fetch(`${stack.addressOf('Form')}/inquiry-form.js`, { headers });
          expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, allowed]);
        }
        // In such a worker, Vite's client waits until a stopped server is started again.
        await page.evaluate(`void new SharedWorker(URL.createObjectURL(new Blob(['']))); 0`);
        expect(complaints).toEqual([]);
        // The checkout holds the issuer's key, too.
        expect((await fetch(`${stack.addressOf('Form')}/@fs${root}/package.json`)).status).toBe(403);
      } finally {
        await browser.close();
      }
    },
  );
});

describe('options that npm takes for itself get one line and exit code 2:', () => {
  it.each([
    [['start', '--in-memory'], 'npm took --in-memory for itself; write: npm start -- --in-memory'],
    [['start', '--reset'], 'npm took --reset for itself; write: npm start -- --reset'],
    [['start', '--port', '4000'], 'npm took --port for itself; write: npm start -- --port <value>'],
    [['start', '--engine', 'dynalite'], 'npm took --engine for itself; write: npm start -- --engine <value>'],
    [
      ['start', '--cors-origin', 'http://localhost:5173'],
      'npm took --cors-origin for itself; write: npm start -- --cors-origin <value>',
    ],
    [
      ['run', 'dev', '--data=x', '--inspect'],
      'npm took --data and --inspect for itself; write: npm run dev -- --data <value> --inspect',
    ],
  ])('npm %j', async (args, line) => {
    const npm = run(args, { command: ['npm'] });
    expect(await npm.exit).toBe(2);
    expect(npm.errors.split('\n')).toContain(line);
  });
});

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
    ['is missing', undefined, 'Java is not installed (JDK 17 or newer is needed)'],
    ['does not run', 'exit 1', 'Java is not installed (JDK 17 or newer is needed)'],
    [
      'is too old',
      `echo 'openjdk version "11.0.2" 2019' >&2`,
      'Java 11 is too old (JDK 17 or newer is needed)',
    ],
    [
      'is a JRE without a compiler',
      `test "$1" = -version && echo 'openjdk version "21.0.5" 2024-10-15' >&2`,
      'Java 21 is a JRE without a compiler (JDK 17 or newer is needed)',
    ],
    ['is very old', `echo 'java version "1.8.0_452"' >&2`, 'Java 8 is too old (JDK 17 or newer is needed)'],
  ])(
    'falls back to dynalite and says so when it %s; refuses --engine dynamodb-local',
    async (_, java, reason) => {
      const PATH = pathWith(java);
      const stack = await start(['--in-memory'], { env: { PATH } });
      expect(stack.said()).toContain(`dynalite, because ${reason}`);
      expect((await stack.post('1')).status).toBe(201);
      const refused = run(['--port', '0', '--in-memory', '--engine', 'dynamodb-local'], { env: { PATH } });
      expect(await refused.exit).toBe(2);
      expect(refused.errors).toBe(`DynamoDB Local cannot run: ${reason}.\n`);
    },
  );
});

describe('bad use gets one line and exit code 2:', () => {
  it.each([
    ['an unknown option', '--prot 1', /^Unknown option '--prot'/],
    ['an argument that is no option', 'now', /^Unexpected argument 'now'/],
    ['an option without its value', '--port', /^Option '--port <value>' argument missing/],
    ['a port that is no number', '--port x', /^The port must be a number from 0 to 65530, not "x"\.$/],
    ['a port that is too large', '--port 65532', /^The port must be a number/],
    ['a negative port', '--port=-1', /^The port must be a number/],
    ['a PORT that is no number', { PORT: '80a' }, /^The port must be a number.*"80a"\.$/],
    ['an inspector’s port that is no number', '--inspect=x', /^The inspector's port must be .*"x"\.$/],
    [
      'a page that is no origin',
      '--cors-origin http://localhost:5173/',
      /^--cors-origin http:\/\/localhost:5173\/ has a slash at the end; write http:\/\/localhost:5173$/,
    ],
    ['an unknown engine', '--engine h2', /^The engine must be dynamodb-local or dynalite, not "h2"\.$/],
    ['--reset with --in-memory', '--reset --in-memory', /^--in-memory excludes --reset\.$/],
    ['--data with --in-memory', '--data x --in-memory', /^--in-memory excludes --data\.$/],
    [
      'a RETENTION_DAYS that is no number of days',
      { RETENTION_DAYS: '0' },
      /^RETENTION_DAYS must be a number from 1 to 36500, not "0"\.$/,
    ],
    ...['0', '1001', '1.5', '-1', 'ten', ' 5'].map((value): [string, Record<string, string>, RegExp] => [
      `INQUIRIES_PER_HOUR=${value}`,
      { INQUIRIES_PER_HOUR: value },
      new RegExp(`^INQUIRIES_PER_HOUR must be a number from 1 to 1000, not "${value}"\\.$`),
    ]),
    [
      'a MAILS_PER_HOUR that is too large',
      { MAILS_PER_HOUR: '1001' },
      /^MAILS_PER_HOUR must be a number from 1 to 1000, not "1001"\.$/,
    ],
    [
      'a data folder that is a file',
      '--data package.json',
      /^The data folder .*package\.json cannot .*ENOTDIR/,
    ],
    [
      'a data folder below a file',
      '--data package.json/x',
      /^The data folder .* cannot be used \(E\w+: .*\)\.$/,
    ],
  ])('%s', async (_, given, expected) => {
    const command = typeof given === 'string' ? run(given.split(' ')) : run([], { env: given });
    expect(await command.exit).toBe(2);
    expect(command.errors).toMatch(/^[^\n]+\n$/);
    expect(command.errors.trimEnd()).toMatch(expected);
    expect(command.output).toBe('');
  });

  it('a port in use, naming it: the gateway’s, the issuer’s, that of the docs, of the form or of the mailbox', async () => {
    const holder = createServer();
    const port = await listen(holder, 0);
    try {
      // dynalite has no mailbox.
      for (const asked of [port, port - 1, port - 2, port - 3, ...(noJava === undefined ? [port - 4] : [])]) {
        const engine = asked === port - 4 ? 'dynamodb-local' : 'dynalite';
        const command = run(['--port', String(asked), '--in-memory', '--engine', engine]);
        expect(await command.exit).toBe(2);
        expect(command.errors).toBe(
          `Port ${port} is in use; choose another with --port (0 = any free port).\n`,
        );
      }
      const command = run(['--port', '0', '--in-memory', `--inspect=${port}`]);
      expect(await command.exit).toBe(2);
      expect(command.errors).toBe(`Port ${port} is in use; choose another with --inspect=PORT.\n`);
    } finally {
      await close(holder);
    }
  });

  it('a data folder that a running stack uses, naming its addresses; the state file of a killed one is ignored', async () => {
    writeFileSync(
      join(folder, 'stack.json'),
      JSON.stringify({ pid: process.pid, gateway: 'http://127.0.0.1:9' }),
    );
    const stack = await start(['--engine', 'dynalite']);
    const command = run(['--port', '0', '--data', folder, '--engine', 'dynalite']);
    expect(await command.exit).toBe(2);
    expect(command.errors).toBe(
      `The data folder ${folder} is in use by a running stack (process ${stack.child.pid}, ` +
        `API ${stack.api}, form ${stack.addressOf('Form')}).\n`,
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
    expect(command.errors).toBe(
      `The data folder ${join(folder, 'dynalite')} cannot be used (ENOTDIR: not a directory).\n`,
    );
  });
});

it('--help prints the usage', async () => {
  const command = run(['--help']);
  expect(await command.exit).toBe(0);
  expect(command.output).toMatch(/^Usage: npm start/);
});
