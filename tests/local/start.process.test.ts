/** `npm run dev` and `npm start` as processes. A stack serves several tests, which depend on their order. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { isListening } from '../../lib/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { readRunningStack } from '../../lib/running-stack.ts';
import type { LocalMail } from '../../local/mailbox.ts';
import type { CreateInquiryResponse, InquiryListResponse } from '../../src/contract.ts';
import { on, open, whyNoBrowser } from '../helpers/chromium.ts';
import { createFolder } from '../helpers/data-folder.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { readText } from '../helpers/repository.ts';

/** Milliseconds; a start takes three seconds on a quiet machine. */
const WAIT = { timeout: 80_000 };
vi.setConfig({
  testTimeout: 2 * WAIT.timeout,
  hookTimeout: 2 * WAIT.timeout,
  expect: { poll: WAIT },
});

const folder = createFolder(afterAll);
/** A checkout that tests may change. */
const root = join(folder, 'checkout');
/** Where both engines keep their data. */
const data = join(root, '.data');
const temporary = join(folder, 'tmp');
const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
beforeAll(() => {
  fs.mkdirSync(temporary);
  const rooms = ['src', 'lib', 'local', 'deploy', 'inbox', 'web', 'ui', 'infra', 'docs'];
  for (const part of [...rooms, 'package.json', 'tsconfig.json']) {
    fs.cpSync(join(ROOT, part), join(root, part), { recursive: true });
  }
  fs.symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
});

/** Runs a command line in the checkout. */
const run = (line: string) => spawnSync(line, { cwd: root, encoding: 'utf8', shell: true });

type Running = Awaited<ReturnType<typeof start>>;

/** Starts a stack on the data folder, and waits until it says that it runs. */
async function start(command: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, ...options.env },
  });
  const exit = once(child, 'exit');
  started.defer(async () => {
    child.kill();
    await exit;
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  // npm warns about settings of the user that it does not know, and Java about a variable that a test sets.
  const complained = (): string => errors.replaceAll(/^(npm warn|Picked up) .*\n/gm, '');
  await vi.waitUntil(() => output.includes('curl -X POST') || complained() !== '', WAIT);
  expect(complained()).toBe('');
  const said = (): string => stripVTControlCharacters(output);
  const addressOf = (label: string) => new RegExp(`${label} +(\\S+)`).exec(said())?.[1] ?? '';
  const token = run(`node local/token.ts --data ${data}`).stdout.trim();
  const call = async (method: string, subject?: string, headers: Record<string, string> = {}) =>
    fetch(addressOf('API'), {
      method,
      headers: { authorization: token, ...headers },
      body: subject === undefined ? null : JSON.stringify({ subject, body: 'Who\nis?' }),
    });
  return {
    said,
    complained,
    addressOf,
    call,
    subjects: async () => {
      const { inquiries } = (await (await call('GET')).json()) as InquiryListResponse;
      return inquiries.map(({ subject }) => subject);
    },
    /** Recipients and subjects of the mails. */
    mails: async () => {
      const mails = (await (await fetch(`${addressOf('Mailbox')}/mails`)).json()) as LocalMail[];
      return mails.map(({ Destination, Content }) => [
        Destination?.ToAddresses?.join(),
        Content?.Simple?.Subject?.Data,
      ]);
    },
    /** @returns The exit code. */
    stop: async (signal: NodeJS.Signals): Promise<unknown> => {
      child.kill(signal);
      return (await exit)[0];
    },
  };
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

/** Files of the data that other users can read or change. */
const filesOfOthers = (): string => run(`find ${data} -perm /077`).stdout;

const TEAM = 'support@example.com';
const ANA = 'ana@example.com';
const UUID = /[\da-f]{8}-[\da-f]{4}[-\da-f]*/g;
const normalize = (text: string): string =>
  text
    .trim()
    .replaceAll(UUID, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');

describeOnDynamoDbLocal('npm run dev', () => {
  const other = 'http://localhost:5173';
  let port = 0;
  let stack: Running;
  beforeAll(async () => {
    port = await findPorts();
    const env = {
      PORT: String(port),
      TMPDIR: temporary,
      NODE_DISABLE_COMPILE_CACHE: '1', // npm's
      JAVA_TOOL_OPTIONS: `-Djava.io.tmpdir=${temporary}`,
      // The user's, to be ignored.
      AWS_PROFILE: 'missing',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    };
    stack = await start(['npm', 'run', 'dev', '--', '--cors-origin', other], { cwd: root, env });
  });

  it('takes the port from PORT and the next five, and prints the form first', async () => {
    const at = (index: number) => `http://127.0.0.1:${port + index}`;
    const labels = ['Sign-in', 'Docs', 'Form', 'Mailbox', 'Demo'];
    expect(stack.addressOf('API')).toBe(`${at(0)}/inquiries`);
    expect(labels.map(stack.addressOf)).toEqual([1, 2, 3, 4, 5].map(at));
    expect(/Inquiry service[^]*?(http:\S+)/.exec(stack.said())?.[1]).toBe(at(3));
    const branding = JSON.parse(readText('web/config.example.json')) as object;
    const config = { ...branding, issuer: at(1), clientId: 'inquiries-local', apiUrl: at(0) };
    expect(await (await fetch(`${at(3)}/config.json`)).json()).toEqual(config);
  });

  it('answers the commands of README.md, docs/inbox.md and its own as they show, and mails once', async () => {
    const [printed = ''] = /(?<=\n +)curl -X POST (?:.*\\\n)+.*/.exec(stack.said()) ?? [];
    const text = `${readText('README.md')}${readText('docs/inbox.md')}$ ${printed}\n`;
    let id = '';
    for (const [, line = '', shown = ''] of text.matchAll(/^\$ ((?:.*\\\n)*.*)\n(\{.*\n)?/gm)) {
      const command = line.replace('$API', stack.addressOf('API')).replace(UUID, id);
      const { status, stdout } = run(command);
      expect([line, status]).toEqual([line, 0]);
      expect(normalize(stdout)).toBe(normalize(shown || stdout));
      [id = id] = stdout.match(UUID) ?? [];
    }
    const mail = [TEAM, '[inquiries local] Hello'];
    await expect.poll(stack.mails).toHaveLength(3);
    expect(await stack.mails()).toEqual(expect.arrayContaining([mail, mail, [ANA, 'Re: Hello']]));
  });

  it('has a docs page whose links lead to texts with its addresses, and whose commands work', async () => {
    const docs = stack.addressOf('Docs');
    const html = await (await fetch(docs)).text();
    const links = [...html.matchAll(/href="(\/[^"]+)"/g)].map(([, path = '']) => path);
    for (const path of links) expect((await fetch(docs + path)).status).toBe(200);
    expect(await (await fetch(`${docs}/front-end.md`)).text()).toContain(
      stack.addressOf('Sign-in'),
    );
    const [token = '', ...curls] = [...html.matchAll(/<pre>(.*?)<\/pre>/gs)].map(
      ([, line = '']) => line,
    );
    expect(curls).toHaveLength(4);
    const { stdout } = run([token, ...curls, curls.at(-1)].join('\n'));
    expect(stdout.match(/"subject":"Once"/g)).toHaveLength(2);
    expect(stdout).toMatch(/^idempotency-replayed: true/im);
  });

  it('logs short lines, without what the user wrote', async () => {
    await stack.call('PUT');
    await fetch(`${stack.addressOf('API')}/${ANA}`);
    const log = () =>
      stack
        .said()
        .split(`there?"}'`)
        .at(-1)
        ?.replaceAll(/\d+ ms/g, 'N ms');
    await expect.poll(log).toContain('GET (other path) 404 N ms\n');
    expect(log()).toContain('POST /inquiries 201 N ms\n');
    expect(log()).toContain("mail: 'inquiry'");
    expect(log()).toMatch(/^WARN \{.*'METHOD_NOT_ALLOWED' \}\n/m);
    expect(log()).not.toMatch(/Hello|ana@example|eyJ|_aws|INFO.*route/);
  });

  it('keeps what other users of the machine cannot read', () => {
    expect(fs.readdirSync(data)).toEqual(['dynamodb-local', 'issuer-keys.json', 'stack.json']);
    expect(filesOfOthers()).toBe('');
  });

  /** As editors and git do. */
  const replace = (file: string, from: string, to: string) => {
    const path = join(root, file);
    fs.writeFileSync(`${path}~`, fs.readFileSync(path, 'utf8').replace(from, to));
    fs.renameSync(`${path}~`, path);
  };

  it('runs the new code of function and mailer each time it changes', async () => {
    for (const [file, from, to] of [
      ['src/errors.ts', 'Allowed methods', 'Once'],
      ['src/errors.ts', 'Once', 'Twice'],
      ['src/mailer/team-mails.ts', '[inquiries ', '[new '],
    ] as const) {
      const before = stack.said().length;
      replace(file, from, to);
      const said = () => stack.said().slice(before);
      await expect.poll(said).toContain(`${file} changed: reloaded`);
      const { message } = (await (await stack.call('PUT')).json()) as { message: string };
      expect(message).toContain(to === 'Once' ? 'Once: GET, POST.' : 'Twice: GET, POST.');
    }
    await stack.call('POST', '2');
    const newest = async () => (await stack.mails()).at(-1);
    await expect.poll(newest).toEqual([TEAM, '[new local] 2']);
  });

  it.skipIf(whyNoBrowser !== undefined)(
    'shows a change in the open contact form, whose text stays',
    async () => {
      const { page } = await open();
      await page.goto(stack.addressOf('Form'));
      await on(page).signIn(ANA);
      await on(page).write('Half', 'written');

      await page.waitForLoadState();
      let loads = 0;
      page.on('load', () => void loads++);
      replace('ui/style.css', '', ':root { --probe: 1; }\n');
      const style = "getComputedStyle(document.documentElement).getPropertyValue('--probe')";
      await expect.poll(() => page.evaluate(style)).toBe('1');
      expect(await on(page).message.inputValue()).toBe('written');
      expect(loads).toBe(0);

      replace('web/src/main.ts', '', `document.documentElement.dataset['probe'] = '3';`);
      const probe = 'document.documentElement.dataset.probe';
      await expect.poll(() => page.evaluate(probe)).toBe('3');
      await expect.poll(() => on(page).message.inputValue()).toBe('written');
    },
  );

  // After this, changes load the form anew: Vite also serves the element, which takes no changes.
  it('lets the pages of --cors-origin sign in, call the API and embed the form beside form and demo, and no other', async () => {
    const form = stack.addressOf('Form');
    for (const origin of [form, stack.addressOf('Demo'), other, 'http://127.0.0.1:5173']) {
      const isAllowed = origin !== 'http://127.0.0.1:5173';
      const allowedBy = async (url: string) =>
        (await fetch(url, { headers: { origin } })).headers.get('access-control-allow-origin');
      expect(await allowedBy(stack.addressOf('API'))).toBe(isAllowed ? origin : form);
      const embeds = isAllowed && origin !== form;
      expect(await allowedBy(`${form}/inquiry-form.js`)).toBe(embeds ? origin : null);
      // A request without a code challenge: the issuer tells a registered page about it, and no other.
      const query = `client_id=inquiries-local&response_type=code&redirect_uri=${origin}/callback`;
      const url = `${stack.addressOf('Sign-in')}/oauth2/authorize?${query}`;
      expect((await fetch(url, { redirect: 'manual' })).status).toBe(isAllowed ? 303 : 400);
    }
    // The issuer's key lies there, too.
    expect((await fetch(`${form}/@fs${root}/package.json`)).status).toBe(403);
  });

  it('accepts no connection from another machine', async () => {
    // Linux delivers all of 127.0.0.0/8 to this machine, but not to sockets that listen on 127.0.0.1.
    for (const label of ['Form', 'Demo', 'API', 'Docs', 'Sign-in', 'Mailbox', 'DynamoDB']) {
      const listening = portOf(stack.addressOf(label));
      const hosts = ['127.0.0.1', '127.0.0.2', '::1'];
      const found = await Promise.all(hosts.map((host) => isListening(listening, host)));
      expect([label, ...found]).toEqual([label, true, false, false]);
    }
  });

  it('tells team and inbox of a reply to the address that bounces', async () => {
    const owner = 'bounce@simulator.amazonses.com';
    const { stdout } = run(`node local/token.ts --email ${owner}`);
    const created = await stack.call('POST', 'Bounces', { authorization: stdout.trim() });
    const { inquiry } = (await created.json()) as CreateInquiryResponse;
    run(`echo Yes | node inbox/main.ts reply ${inquiry.id}`);
    const notice = expect.stringContaining(
      `reply to ${inquiry.id.slice(0, 13)} could not be delivered`,
    );
    await expect.poll(stack.mails).toContainEqual([TEAM, notice]);
    const shown = run(`node inbox/main.ts show ${inquiry.id}`).stdout;
    expect(JSON.parse(shown)).toMatchObject({ undelivered: 'bounce' });
  });

  it('is found by the smoke test', () => {
    expect(run('node deploy/smoke.ts').stdout).toContain(' passed, 0 failed, ');
  });

  it('ends when npm alone is killed, and leaves no temporary files', async () => {
    const engine = portOf(stack.addressOf('DynamoDB'));
    await stack.stop('SIGKILL');
    for (const one of [port, engine]) await expect.poll(() => isListening(one)).toBe(false);
    await expect.poll(() => fs.existsSync(join(data, 'stack.json'))).toBe(false);
    expect(fs.readdirSync(temporary)).toEqual([]);
  });

  it('keeps inquiries over a restart, mails them once and silently, and leaves no process when it is killed', async () => {
    const args = ['--data', data, '--port', '0', '--seed', '9'];
    stack = await start([process.execPath, 'local/start.ts', ...args]);
    expect(stack.said()).toContain(`npm run inbox -- --web --data '${data}'`);
    expect(stack.said()).toContain('Seed       0 inquiries');
    expect(await stack.subjects()).toContain('2');
    await stack.call('POST', 'New');
    // In order: what the stream holds of the first inquiries was read before.
    await expect.poll(stack.mails).toEqual([[TEAM, '[inquiries local] New']]);
    expect(stack.said()).not.toContain('already-sent');

    const { pid, enginePid } = readRunningStack(data);
    const children = run(`ps -o pid= --ppid ${pid}`).stdout.trim().split(/\s+/);
    // Also function and mailer.
    expect(children.length).toBeGreaterThanOrEqual(3);
    // By which a start is refused beside an engine that outlives its stack.
    expect(children).toContain(String(enginePid));
    // A process in an endless loop does not see the end of the stack either.
    for (const child of children) {
      if (child !== String(enginePid)) process.kill(Number(child), 'SIGSTOP');
    }
    expect(await stack.stop('SIGKILL')).toBe(null);
    await expect.poll(() => run(`ps -p ${children.join()}`).status).toBe(1);
  });
});

describe('npm start without Java', () => {
  it('runs on dynalite, says what is missing there, keeps inquiries when it is killed, and ends on Ctrl-C', async () => {
    const port = await findPorts();
    const command = [process.execPath, 'local/start.ts', '--data', data, '--port', '0'];
    const env = { PATH: dirname(process.execPath), INQUIRIES_PER_HOUR: '2' };
    const stack = await start([...command, '--seed', '20', `--inspect=${port}`], { env });
    for (const line of [
      'dynalite, because there is no JDK 17 or newer',
      'Idempotency-Key and INQUIRIES_PER_HOUR are ignored, because dynalite has no transactions',
      'Mailbox    off, because dynalite has no streams',
      ...(inject('engines')['dynamodb-local'] ? ['dynamodb-local has data of its own'] : []),
      `Inspector  127.0.0.1:${port}`,
      'Seed       20 inquiries',
    ]) {
      expect(stack.said()).toContain(line);
    }
    const inspector = await fetch(`http://127.0.0.1:${port}/json/list`);
    expect(await inspector.json()).toMatchObject([{ type: 'node' }]);
    for (const status of [201, 201, 201]) {
      const answer = await stack.call('POST', 'Keyed', { 'Idempotency-Key': 'k' });
      expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([status, null]);
    }
    expect(filesOfOthers()).toBe('');
    await stack.stop('SIGKILL');

    const again = await start([...command, '--engine', 'dynalite']);
    expect((await again.subjects()).slice(0, 3)).toEqual(['Keyed', 'Keyed', 'Keyed']);
    expect(await again.stop('SIGINT')).toBe(0);
    expect(again.complained()).toBe('');
    expect(await isListening(portOf(again.addressOf('API')))).toBe(false);
    expect(fs.existsSync(join(data, 'stack.json'))).toBe(false);
  });
});
