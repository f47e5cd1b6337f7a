/** `npm start` as a process. Each stack serves several tests, which depend on their order. start.test.ts has what it refuses. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectLocally } from '../../inbox/connect.ts';
import { isListening } from '../../lib/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { readRunningStack } from '../../lib/running-stack.ts';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { on, setUp, whyNoBrowser } from '../helpers/chromium.ts';
import { sendAndCheck as send } from '../helpers/contract.ts';
import { readText } from '../helpers/repository.ts';

const noJava = dynamoDbLocalUnavailableReason();
const noTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux')
  ? undefined
  : 'the `script` command of util-linux is missing';
for (const [what, reason] of [
  ['npm start on DynamoDB Local', noJava],
  ['npm start at a terminal', noTerminal],
  ['the commands of the README', noJava ?? noTerminal],
]) {
  if (reason !== undefined) process.stdout.write(`\nSKIPPED: ${what}, because ${reason}.\n`);
}
/** Milliseconds; a start takes three seconds on a quiet machine. */
const WAIT = { timeout: 80_000 };
vi.setConfig({ testTimeout: 2 * WAIT.timeout, hookTimeout: 2 * WAIT.timeout });
const folder = fs.mkdtempSync(join(tmpdir(), 'inquiries-start-'));
const running: { child: ReturnType<typeof spawn>; exit: Promise<unknown> }[] = [];
afterAll(async () => {
  for (const { child } of running) child.kill('SIGTERM');
  await Promise.all(running.map(({ exit }) => exit));
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Runs what `npm start` runs, and waits until it says that it runs. */
async function start(
  args: string[],
  { env = {}, root = ROOT, command = [process.execPath, 'local/start.ts'] } = {},
) {
  const [file = '', ...first] = command;
  const child = spawn(file, [...first, ...args], { cwd: root, env: { ...process.env, ...env } });
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  running.push({ child, exit });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  // npm warns about settings of the user that it does not know, and Java about a variable that a test sets.
  const complained = (): string => errors.replaceAll(/^(npm warn|Picked up) .*\n/gm, '');
  await vi.waitUntil(() => output.includes('curl -X POST') || complained() !== '', WAIT);
  expect(complained()).toBe('');
  const addressOf = (label: string) =>
    new RegExp(`${label} +(\\S+)`).exec(stripVTControlCharacters(output))?.[1] ?? '';
  const data = /token -- (--data) '(.*)'\)/.exec(output)?.slice(1) ?? [];
  const headers = await authorize(root, ...data);
  const api = addressOf('API');
  const mails = async () => {
    const response = await fetch(`${addressOf('Mailbox')}/store`);
    return ((await response.json()) as { emails: { subject: string }[] }).emails;
  };
  return {
    said: () => output,
    complained,
    addressOf,
    api,
    /** Runs the command that it printed. */
    curl(): unknown {
      const [printed = ''] = /curl -X POST (?:.*\\\r?\n)+.*/.exec(output) ?? [];
      const { stdout } = spawnSync('sh', ['-c', printed.replaceAll('\r', '')], { cwd: ROOT });
      return JSON.parse(String(stdout));
    },
    send: (method: string) => send(api, { method, headers }),
    post: (subject: string, more: string[] = []) =>
      send(api, {
        method: 'POST',
        headers: [...headers, ...more],
        body: JSON.stringify({ subject, body: 'Is anyone\nthere?' }),
      }),
    subjects: async () => {
      const { inquiries } = (await send(api, { headers })).json as InquiryListResponse;
      return inquiries.map(({ subject }) => subject);
    },
    mails,
    mailed: async () => (await mails()).map(({ subject }) => subject),
    async stop(signal: NodeJS.Signals): Promise<number | null> {
      child.kill(signal);
      return exit;
    },
  };
}

/** Headers of a request of ana@example.com. */
async function authorize(cwd: string, ...options: string[]): Promise<string[]> {
  const token = execFileSync(process.execPath, ['local/token.ts', ...options], { cwd });
  const type = ['Content-Type', 'application/json'];
  return ['Authorization', `Bearer ${String(token).trim()}`, ...type];
}

type Running = Awaited<ReturnType<typeof start>>;

/** What other users may do with a folder and with what is in it; empty: nothing. */
const accessOfOthers = (of: string): string[] =>
  [of, ...fs.readdirSync(of, { recursive: true, encoding: 'utf8' }).map((name) => join(of, name))]
    .map((path) => `${path} ${(fs.statSync(path).mode & 0o077).toString(8)}`)
    .filter((line) => !line.endsWith(' 0'));

/** A checkout that a test may change: copies of what `npm start` reads, and a link to node_modules. */
function copyCheckout(): string {
  const target = join(folder, 'checkout');
  const files = [
    'docs/openapi.yaml',
    'infra/terraform/service.json',
    'infra/terraform/stream-filters.json',
    'package.json',
    'tsconfig.json',
  ];
  for (const part of ['src', 'lib', 'local', 'inbox', 'deploy', 'web', ...files]) {
    fs.cpSync(join(ROOT, part), join(target, part), { recursive: true });
  }
  fs.symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'));
  return target;
}

/** The first of six free ports, below those that the system gives to connections. */
async function findPorts(): Promise<number> {
  for (;;) {
    const first = 10_000 + Math.floor(Math.random() * 20_000);
    const inUse = await Promise.all([0, 1, 2, 3, 4, 5].map((index) => isListening(first + index)));
    if (!inUse.includes(true)) return first;
  }
}

const portOf = (url: string): number => Number(new URL(url).port);

describe.skipIf(noJava !== undefined)('npm start on DynamoDB Local', () => {
  const data = join(folder, 'kept');
  const origins = ['http://localhost:5173', 'https://www.example.com'];
  let port = 0;
  let stack: Running;
  beforeAll(async () => {
    port = await findPorts();
    // As a stack with another umask has left it.
    fs.mkdirSync(join(data, 'dynamodb-local'), { recursive: true, mode: 0o755 });
    fs.writeFileSync(join(data, 'dynamodb-local/old'), '', { mode: 0o644 });
    // AWS's variables are the user's, to be ignored.
    const env = {
      AWS_PROFILE: 'missing',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
      PORT: String(port),
    };
    const allowed = origins.flatMap((origin) => ['--cors-origin', origin]);
    stack = await start(['start', '--', '--data', data, ...allowed], { command: ['npm'], env });
  });

  it('takes the port from PORT, and the next five for issuer, docs, form, mailbox and demo', async () => {
    const at = (index: number) => `http://127.0.0.1:${port + index}`;
    const labels = ['Sign-in', 'Docs', 'Form', 'Mailbox', 'Demo'];
    expect(stack.api).toBe(`${at(0)}/inquiries`);
    expect(labels.map(stack.addressOf)).toEqual([1, 2, 3, 4, 5].map(at));
    const branding = JSON.parse(readText('web/config.example.json')) as object;
    const config = { ...branding, issuer: at(1), clientId: 'inquiries-local', apiUrl: at(0) };
    expect(await (await fetch(`${at(3)}/config.json`)).json()).toEqual(config);
    expect(await (await fetch(at(5))).text()).toContain(`src="${at(3)}/inquiry-form.js"`);
  });

  it('prints the address of the contact form first, then the command of the inbox', async () => {
    const form = stack.addressOf('Form');
    const said = stripVTControlCharacters(stack.said());
    expect(/Inquiry service[^]*?(http:\S+)/.exec(said)?.[1]).toBe(form);
    expect(said).toContain(`npm run inbox -- --web --data '${data}'`);
    const page = await fetch(form);
    const allowed = `connect-src 'self' ${stack.addressOf('Sign-in')} ${new URL(stack.api).origin};`;
    expect(page.headers.get('content-security-policy')).toContain(allowed);
    const byName = await fetch(form.replace('127.0.0.1', 'localhost'), { redirect: 'manual' });
    expect(byName.headers.get('location')).toBe(`${form}/`);
    expect((await fetch(`${form}/..%2f..%2fpackage.json`)).status).toBe(404);
  });

  it('mails an inquiry to the team and its reply to the owner', async () => {
    const first = (await stack.post('First')).json as { inquiry: { id: string } };
    await expect.poll(stack.mails, WAIT).toHaveLength(1);
    await connectLocally(data).inbox.answer(first.inquiry.id, {
      reply: 'Yes.',
      respondent: 'Rita',
    });
    await expect.poll(stack.mails, WAIT).toHaveLength(2);
    expect(await stack.mails()).toMatchObject([
      { destination: { to: ['support@example.com'] }, subject: '[inquiries local] First' },
      { destination: { to: ['ana@example.com'] }, subject: 'Re: First' },
    ]);
  });

  it('prints a curl command that sends an inquiry, and logs the request as a line of JSON', () => {
    expect(stack.curl()).toMatchObject({ inquiry: { subject: 'Hello', email: 'ana@example.com' } });
    expect(stack.said()).toMatch(/^\{.*"route":"\/inquiries","status":201/m);
  });

  it('keeps what other users of the machine cannot read', () => {
    expect(fs.readdirSync(data)).toEqual(['dynamodb-local', 'issuer-keys.json', 'stack.json']);
    expect(fs.readdirSync(join(data, 'dynamodb-local'))).toContain('shared-local-instance.db');
    expect(accessOfOthers(data)).toEqual([]);
  });

  it('lets the pages of --cors-origin sign in and call the API beside form and demo, and no other', async () => {
    const form = stack.addressOf('Form');
    const allowed = [form, ...origins, stack.addressOf('Demo')];
    expect(stack.said()).toContain('Client id  inquiries-local ');
    expect(stack.said()).toContain(`Browsers   ${allowed.join(', ')} `);
    for (const origin of [...allowed, 'http://127.0.0.1:5173']) {
      const isAllowed = allowed.includes(origin);
      const answer = await send(stack.api, { headers: ['Origin', origin] });
      expect(answer.headers['access-control-allow-origin']).toBe(isAllowed ? origin : form);
      // A request without a code challenge: the issuer tells a registered page about it, and no other.
      const query = `client_id=inquiries-local&response_type=code&redirect_uri=${origin}/callback`;
      const url = `${stack.addressOf('Sign-in')}/oauth2/authorize?${query}`;
      expect((await fetch(url, { redirect: 'manual' })).status).toBe(isAllowed ? 303 : 400);
    }
  });

  it('accepts no connection from another machine', async () => {
    // Linux delivers all of 127.0.0.0/8 to this machine, but not to sockets that listen on 127.0.0.1.
    const others = Object.values(networkInterfaces()).flatMap((all = []) =>
      all.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address),
    );
    for (const label of ['Form', 'Demo', 'API', 'Docs', 'Sign-in', 'Mailbox', 'DynamoDB']) {
      const listening = portOf(stack.addressOf(label));
      expect(await isListening(listening)).toBe(true);
      for (const host of ['127.0.0.2', '::1', ...others]) {
        expect([label, host, await isListening(listening, host)]).toEqual([label, host, false]);
      }
    }
  });

  it('ends when npm alone is killed', async () => {
    // Otherwise the next start mails them.
    await expect.poll(stack.mails, WAIT).toHaveLength(3);
    await stack.stop('SIGKILL');
    await expect.poll(() => isListening(port), WAIT).toBe(false);
    await expect.poll(() => fs.existsSync(join(data, 'stack.json')), WAIT).toBe(false);
  });

  it('keeps inquiries over a restart, mails them once, and closes everything on Ctrl-C', async () => {
    stack = await start(['--port', '0', '--data', data]);
    expect(await stack.subjects()).toEqual(['Hello', 'First']);
    await stack.post('Second');
    // In order: what the stream holds of the first inquiries was read before.
    await expect.poll(stack.mailed, WAIT).toEqual(['[inquiries local] Second']);
    expect(await stack.stop('SIGINT')).toBe(0);
    expect(stack.complained()).toBe('');
    for (const label of ['API', 'DynamoDB']) {
      expect(await isListening(portOf(stack.addressOf(label)))).toBe(false);
    }
    expect(fs.existsSync(join(data, 'stack.json'))).toBe(false);
  });
});

describe('npm start without Java', () => {
  const data = join(folder, 'dynalite');
  const env = { PATH: dirname(process.execPath), INQUIRIES_PER_HOUR: '2' };
  let port = 0;
  let stack: Running;
  beforeAll(async () => {
    port = await findPorts();
    stack = await start(['--port', '0', '--data', data, `--inspect=${port}`], { env });
  });

  it('runs on dynalite, and says why and what is missing there', () => {
    expect(stack.said()).toContain(
      'dynalite, because Java is not installed (JDK 17 or newer is needed)',
    );
    expect(stack.said()).toContain(
      'Idempotency-Key is ignored, because dynalite has no transactions',
    );
    expect(stack.said()).toContain('Mailbox    off, because dynalite has no streams');
  });

  it('debugs the function in its TypeScript source, with --inspect', async () => {
    expect(stack.said()).toContain(`Inspector  127.0.0.1:${port}`);
    const response = await fetch(`http://127.0.0.1:${port}/json/list`);
    const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[];
    const debug = new WebSocket(target?.webSocketDebuggerUrl ?? '');
    await once(debug, 'open');
    let received = '';
    debug.addEventListener('message', ({ data: message }) => (received += String(message)));
    debug.send('{"id":1,"method":"Debugger.enable"}');
    const source = `"url":"${pathToFileURL(join(ROOT, 'src/app.ts')).href}"`;
    await expect.poll(() => received).toContain(source);
    debug.close();
  });

  it('passes INQUIRIES_PER_HOUR on: then the printed curl command is answered 429', async () => {
    for (const status of [201, 201, 429]) {
      const answer = await stack.post('Keyed', ['Idempotency-Key', 'k']);
      expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([status, undefined]);
    }
    expect(stack.curl()).toMatchObject({ error: 'TOO_MANY_REQUESTS' });
    expect(fs.readdirSync(join(data, 'dynalite')).length).toBeGreaterThan(2);
    expect(accessOfOthers(data)).toEqual([]);
    expect(await stack.stop('SIGKILL')).toBe(null);
  });

  it.skipIf(noTerminal !== undefined)(
    'starts again on the same files, and prints a short line for each request at a terminal',
    async () => {
      const line = [process.execPath, 'local/start.ts', '--port', '0', '--data', data].join(' ');
      // Each of these decides about colours; Node uses none in an unknown CI.
      const colors = {
        FORCE_COLOR: undefined,
        NO_COLOR: undefined,
        CI: undefined,
        TERM: 'xterm-256color',
      };
      const args = ['-qec', `${line} --engine dynalite`, '/dev/null'];
      const again = await start(args, { command: ['script'], env: colors });
      expect(again.said()).toContain(`token -- --data '${data}'`);
      again.curl();
      await expect.poll(again.said).toContain('POST /inquiries \u001B[32m201\u001B[39m');
      const after = stripVTControlCharacters(
        again.said().slice(again.said().indexOf('"Is anyone there?"')),
      );
      expect(after).toMatch(/^POST \/inquiries 201 \d+ ms\r$/m);
      expect(after).not.toMatch(/Hello|ana@example|"requestId"|eyJ/);
      expect(await again.subjects()).toEqual(['Hello', 'Keyed', 'Keyed']);
      await again.stop('SIGTERM');
    },
  );

  it('has no inquiries after --reset', async () => {
    const reset = await start(['--port', '0', '--data', data, '--engine', 'dynalite', '--reset']);
    expect(await reset.subjects()).toEqual([]);
    expect(await reset.stop('SIGHUP')).toBe(0);
  });
});

describe.skipIf(noJava !== undefined)('npm start -- --watch --in-memory', () => {
  const here = setUp();
  const temporary = join(folder, 'tmp');
  let root = '';
  let stack: Running;
  beforeAll(async () => {
    root = copyCheckout();
    fs.mkdirSync(temporary);
    const env = { TMPDIR: temporary, JAVA_TOOL_OPTIONS: `-Djava.io.tmpdir=${temporary}` };
    stack = await start(['--port', '0', '--in-memory', '--watch'], { root, env });
  });

  /** As editors and git do. */
  const replace = (file: string, from: string, to: string) => {
    const path = join(root, file);
    fs.writeFileSync(`${path}~`, fs.readFileSync(path, 'utf8').replace(from, to));
    fs.renameSync(`${path}~`, path);
  };
  const replaceSource = async (file: string, from: string, to: string) => {
    const before = stack.said().length;
    replace(file, from, to);
    await expect
      .poll(() => stack.said().slice(before), WAIT)
      .toContain(`${file} changed: reloaded`);
  };

  it('runs the new code of the function and of the mailer each time it changes', async () => {
    await stack.post('1');
    await expect.poll(stack.mailed, WAIT).toEqual(['[inquiries local] 1']);
    let text = 'Allowed methods';
    for (const next of ['Once', 'Twice']) {
      await replaceSource('src/errors.ts', text, next);
      expect((await stack.send('PUT')).json).toMatchObject({ message: `${next}: GET, POST.` });
      text = next;
    }
    await replaceSource('src/mailer/mails.ts', '[inquiries ', '[new ');
    await stack.post('2');
    await expect.poll(stack.mailed, WAIT).toEqual(['[inquiries local] 1', '[new local] 2']);
  });

  it.skipIf(whyNoBrowser !== undefined)(
    'shows a change in the open contact form, whose text stays',
    async () => {
      const { page, complaints } = await here.open();
      await page.goto(stack.addressOf('Form'));
      await on(page).signIn('ana@example.com');
      await on(page).write('Half', 'written');

      let loads = 0;
      page.on('load', () => void loads++);
      replace('web/ui/style.css', '', ':root { --probe: 1; }\n');
      const style = "getComputedStyle(document.documentElement).getPropertyValue('--probe')";
      await expect.poll(() => page.evaluate(style), WAIT).toBe('1');
      expect(await on(page).message.inputValue()).toBe('written');
      expect(loads).toBe(0);

      replace('web/src/main.ts', '', `document.documentElement.dataset['probe'] = '3';`);
      const probe = 'document.documentElement.dataset.probe';
      await expect.poll(() => page.evaluate(probe), WAIT).toBe('3');
      await expect.poll(() => on(page).message.inputValue(), WAIT).toBe('written');
      // Vite's client waits in such a worker until a stopped server is started again.
      await page.evaluate(`void new SharedWorker(URL.createObjectURL(new Blob(['']))); 0`);
      expect(complaints).toEqual([]);
    },
  );

  it('serves the sources of the form to the pages that may call the API, and nothing else of the checkout', async () => {
    const demo = stack.addressOf('Demo');
    for (const origin of [demo, 'https://www.example.com']) {
      const { headers } = await fetch(`${stack.addressOf('Form')}/inquiry-form.js`, {
        headers: { origin },
      });
      expect(headers.get('access-control-allow-origin')).toBe(origin === demo ? demo : null);
    }
    // The issuer's key lies there, too.
    expect((await fetch(`${stack.addressOf('Form')}/@fs${root}/package.json`)).status).toBe(403);
  });

  it('is found by npm run token, inbox and smoke', () => {
    expect(stack.said()).toContain('$(npm run --silent token)');
    const run = (...args: string[]) =>
      spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect(run('inbox/main.ts', 'list').stdout).toContain('"email":"ana@example.com"');
    const stdout = expect.stringContaining('smoke: 10 passed, 0 failed, 2 skipped') as string;
    expect(run('deploy/smoke.ts')).toMatchObject({ status: 0, stderr: '', stdout });
  });

  it('has a docs page whose token command and four curl lines work as they are copied', async () => {
    const html = await (await fetch(stack.addressOf('Docs'))).text();
    const [token = '', ...curls] = [...html.matchAll(/<pre>(.*?)<\/pre>/gs)].map(
      ([, line = '']) => line,
    );
    const run = (curl: string) =>
      spawnSync('sh', ['-c', `${token}\n${curl}`], { cwd: root, encoding: 'utf8' }).stdout;
    expect(curls.map(run)).toEqual([
      expect.stringMatching(/^\{"inquiry":.*"subject":"Hello"/),
      expect.stringMatching(/^\{"email":"ana@example\.com","count":\d+,"inquiries":\[[^}]*"Hello"/),
      expect.stringMatching(/^HTTP\S+ 200 .*^link: <\?before=\S+>; rel="next".*"count":1,/ims),
      expect.stringMatching(/^HTTP\S+ 201 .*"subject":"Once"/is),
    ]);
    expect(run(curls.at(-1) ?? '')).toMatch(/^idempotency-replayed: true/im);
  });

  it('keeps nothing, and leaves no files and no process, also when it is killed', async () => {
    const dataFolders = () => fs.readdirSync(root).filter((name) => name.startsWith('.data'));
    expect(dataFolders()).toHaveLength(1);
    const data = join(root, dataFolders()[0] ?? '');
    expect(accessOfOthers(data)).toEqual([]);
    const { pid, enginePid } = readRunningStack(data);
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    const children = stdout.trim().split(/\s+/);
    // The engine, the function and the mailer, among others.
    expect(children.length).toBeGreaterThanOrEqual(3);
    // By which a start is refused beside an engine that outlives its stack.
    expect(children).toContain(String(enginePid));
    expect(await stack.stop('SIGKILL')).toBe(null);
    await expect.poll(() => spawnSync('ps', ['-p', children.join()]).status, WAIT).toBe(1);
    await expect.poll(() => [...dataFolders(), ...fs.readdirSync(temporary)], WAIT).toEqual([]);
  });
});

/** An id, or its beginning that is the reference. */
const UUID = /\b[\da-f]{8}-[\da-f]{4}(?:(?:-[\da-f]{4}){2}-[\da-f]{12})?\b/g;

/** What a page shows: commands after `$ `, each with the lines that it prints. */
function readConsole(file: string): { command: string; output: string }[] {
  const blocks = [...readText(file).matchAll(/^```console\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  );
  return blocks.flatMap((block) =>
    [...block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command = '', output = '']) => ({
      command,
      output,
    })),
  );
}

/** Without what differs from run to run: progress that was erased, ids, times, seconds and the name of the operator. */
const normalize = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.split('\r\u001B[K').at(-1) ?? '')
    .join('\n')
    .replaceAll(UUID, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/^429 \d{1,4}\b/gm, '429 SECONDS')
    .replaceAll(/(?<=^ID +)\d+[smh] +/gm, 'AGE ')
    .replaceAll(/ as \S+\.$/gm, ' as NAME.')
    .replaceAll(/[ \r]+$/gm, '')
    .trimEnd();

it.skipIf((noJava ?? noTerminal) !== undefined)(
  'prints what README.md, docs/inbox.md and docs/front-end.md show',
  async () => {
    const data = join(folder, 'readme');
    const args = ['start', '--', '--port', '0', '--data', data];
    const { api, stop } = await start(args, { command: ['npm'], env: { INQUIRIES_PER_HOUR: '1' } });
    // The commands find this stack instead of one of the developer's.
    const definitions = [
      `npm() { case "$*" in *" -- "*) set -- "$@" ;; *) set -- "$@" -- ;; esac; command npm "$@" --data ${data}; }`,
    ];
    const ids = new Map<string, string>();
    for (const { command, output } of ['README.md', 'docs/inbox.md', 'docs/front-end.md'].flatMap(
      readConsole,
    )) {
      const own = command
        .replace('http://127.0.0.1:3000/inquiries', api)
        .replaceAll(UUID, (id) => ids.get(id) ?? id);
      if (output === '') {
        definitions.push(own);
        continue;
      }
      // At a terminal, where the inbox prints tables.
      const script = [...definitions, own].join('\n');
      const actual = execFileSync(
        'script',
        ['--quiet', '--return', '--command', script, '/dev/null'],
        {
          cwd: ROOT,
          encoding: 'utf8',
          env: { ...process.env, SHELL: '/bin/bash' },
        },
      );
      expect(`${command}\n${normalize(actual)}`).toBe(`${command}\n${normalize(output)}`);
      const actualIds = actual.match(UUID) ?? [];
      for (const [at, id] of (output.match(UUID) ?? []).entries()) ids.set(id, actualIds[at] ?? id);
    }
    expect(ids.size).toBeGreaterThan(1);
    await stop('SIGTERM');
  },
  // Some twenty processes of npm, which take a second each on a busy machine.
  180_000,
);

it.each([
  ['start --engine dynalite', '--engine', 'npm start -- --engine <value>'],
  [
    'run dev --cors-origin=x --in-memory --port=1',
    '--port and --in-memory and --cors-origin',
    'npm run dev -- --port <value> --in-memory --cors-origin <value>',
  ],
])('refuses options that npm takes for itself: npm %s', (line, taken, remedy) => {
  const { status, stderr } = spawnSync('npm', line.split(' '), { cwd: ROOT, encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr.split('\n')).toContain(`npm took ${taken} for itself; write: ${remedy}`);
});
