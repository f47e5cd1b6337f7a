import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { isListening } from '../../lib/pages/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { findProgram } from '../../lib/terminal/programs.ts';
import { readRunningStack } from '../../lib/running-stack.ts';
import type { CreateInquiryResponse, InquiryListResponse } from '../../src/contract.ts';
import { needsBrowser, openPage } from '../form/chromium.ts';
import { createFolder } from './data-folder.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { readText } from '../helpers/repository.ts';

interface SentMail {
  Destination: { ToAddresses: string[] };
  ReplyToAddresses?: string[];
  Content: { Simple: { Subject: { Data: string }; Body: { Text: { Data: string } } } };
}
type Running = Awaited<ReturnType<typeof start>>;
type OnEnd = (end: () => Promise<void>) => void;

const runIn = (cwd: string, line: string) =>
  spawnSync(line, { cwd, encoding: 'utf8', shell: true });

/** Starts a stack that ends with the test or its suite. */
async function start(
  data: string,
  command: string[],
  {
    cwd = ROOT,
    env = {},
    onEnd = onTestFinished,
  }: { cwd?: string; env?: object; onEnd?: OnEnd } = {},
) {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env } });
  const exit = once(child, 'exit');
  onEnd(async () => {
    child.kill();
    await exit;
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  // npm warns about settings, and Java about a variable.
  const complained = (): string => errors.replaceAll(/^(npm warn|Picked up) .*\n/gm, '');
  await vi.waitUntil(
    () => output.includes('curl -X POST') || complained() !== '' || child.exitCode !== null,
    { timeout: 300_000 },
  );
  expect([complained(), child.exitCode]).toEqual(['', null]);
  const said = (): string => stripVTControlCharacters(output);
  const addressOf = (label: string) => new RegExp(`${label} +(\\S+)`).exec(said())?.[1] ?? '';
  const createToken = (email: string) =>
    runIn(ROOT, `node local/token.ts --data '${data}' --email ${email}`).stdout.trim();
  const token = createToken(EVE);
  const call = async (method: string, subject?: string, headers: Record<string, string> = {}) =>
    fetch(addressOf('API'), {
      method,
      headers: { authorization: token, ...headers },
      body: subject === undefined ? null : JSON.stringify({ subject, body: 'Who\nis?' }),
    });
  const readMails = async () =>
    (await (await fetch(`${addressOf('Mailbox')}/mails`)).json()) as SentMail[];
  const namesOf = ({ Destination, Content }: SentMail) => [
    Destination.ToAddresses.join(),
    Content.Simple.Subject.Data,
  ];
  return {
    said,
    complained,
    addressOf,
    createToken,
    /** Sends as a user of whom no documented command lists inquiries. */
    call,
    subjects: async () => {
      const { inquiries } = (await (await call('GET')).json()) as InquiryListResponse;
      return inquiries.map(({ subject }) => subject);
    },
    mails: async () => (await readMails()).map(namesOf),
    findMail: async (...names: [to: string, subject: string]): Promise<SentMail> => {
      const find = async () =>
        (await readMails()).find((mail) => namesOf(mail).join() === names.join());
      await expect.poll(find).toBeDefined();
      return (await find()) as SentMail;
    },
    stop: async (signal: NodeJS.Signals): Promise<unknown> => {
      child.kill(signal);
      return (await exit)[0];
    },
  };
}

/** @returns The first of eight free ports, below those that the system assigns. */
async function findPorts(): Promise<number> {
  for (;;) {
    const first = 10_000 + Math.floor(Math.random() * 20_000);
    const offsets = Array.from({ length: 8 }, (_, index) => index);
    const inUse = await Promise.all(offsets.map((index) => isListening(first + index)));
    if (!inUse.includes(true)) return first;
  }
}

/** Placeholders replace ports and data folder. */
function announcementOf({ said }: Running, data: string, port: number): string {
  const [, text = ''] = /^(Inquiry service[^]*?there\?"\}')$/m.exec(said()) ?? [];
  return text
    .replaceAll(relative(ROOT, data), 'DATA')
    .replaceAll(data, 'DATA')
    .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, (used) => {
      const offset = Number(used) - port;
      return offset >= 0 && offset < 8 ? `PORT+${offset}` : 'ANY';
    });
}

const portOf = (url: string): number => Number(new URL(url).port);

const filesOfOthers = (data: string): string => runIn(ROOT, `find '${data}' -perm /077`).stdout;

const TEAM = 'support@example.com';
const ANA = 'ana@example.com';
const EVE = 'eve@example.com';
const UUID = /[\da-f]{8}-[\da-f]{4}[-\da-f]*/g;
const normalize = (text: string): string =>
  text
    .trim()
    .replaceAll(UUID, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');

describeOnDynamoDbLocal('npm run dev', () => {
  const other = 'http://localhost:5173';
  const root = join(createFolder(afterAll), 'checkout [1]');
  const data = join(root, '.data');
  const run = (line: string) => runIn(root, line);
  let port = 0;
  let stack: Running;
  let end: (() => Promise<void>) | undefined;
  afterAll(() => end?.());
  beforeAll(async () => {
    const rooms = [
      'src',
      'mail',
      'text',
      'lib',
      'local',
      'deploy',
      'inbox',
      'web',
      'ui',
      'infra',
      'docs',
    ];
    for (const part of [...rooms, 'package.json', 'tsconfig.json']) {
      fs.cpSync(join(ROOT, part), join(root, part), { recursive: true });
    }
    fs.symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    port = await findPorts();
    // The user's AWS settings must be ignored.
    const env = {
      PORT: String(port),
      AWS_PROFILE: 'missing',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
      AWS_USE_FIPS_ENDPOINT: 'true',
      TZ: '',
    };
    const command = ['npm', 'run', 'dev', '--', '--cors-origin', other];
    stack = await start(data, command, { cwd: root, env, onEnd: (stop) => (end = stop) });
  });

  it('takes the port from PORT and the next seven, and says what is where', async () => {
    await expect(announcementOf(stack, data, port)).toMatchFileSnapshot('golden/dev.txt');
    const branding = JSON.parse(readText('web/config.example.json')) as object;
    const at = (offset: number) => `http://127.0.0.1:${port + offset}`;
    const config = { ...branding, issuer: at(1), clientId: 'inquiries-local', apiUrl: at(0) };
    expect(await (await fetch(`${at(3)}/config.json`)).json()).toEqual(config);
  });

  it('answers the commands of README, guides and its own as they show, and npm run smoke', async () => {
    const [printed = ''] = /(?<=\n +)curl -X POST (?:.*\\\n)+.*/.exec(stack.said()) ?? [];
    const text = `${readText('README.md')}${readText('docs/inbox.md')}$ ${printed}\n`;
    let id = '';
    for (const [, line = '', shown = ''] of text.matchAll(/^\$ ((?:.*\\\n)*.*)\n(\{.*\n)?/gm)) {
      const command = line.replace('$API', stack.addressOf('API')).replace(UUID, id);
      const { status, stdout } = run(command);
      expect([line, status]).toEqual([line, 0]);
      expect(normalize(stdout)).toBe(normalize(shown || stdout));
      // The team's list also has inquiries of other tests.
      if (line.startsWith('curl')) [id = id] = stdout.match(UUID) ?? [];
    }
    const mail = [TEAM, '[inquiries local] Hello'];
    const mailed = async () =>
      (await stack.mails()).filter(([, subject]) => subject?.endsWith('Hello'));
    await expect.poll(mailed).toHaveLength(3);
    expect(await mailed()).toEqual(expect.arrayContaining([mail, mail, [ANA, 'Re: Hello']]));

    const docs = stack.addressOf('Docs');
    const html = await (await fetch(docs)).text();
    const [token = '', ...curls] = [...html.matchAll(/<pre>(.*?)<\/pre>/gs)].map(
      ([, line = '']) => line,
    );
    expect(curls).toHaveLength(4);
    const { stdout } = run([token, ...curls, curls.at(-1)].join('\n'));
    expect(stdout.match(/"subject":"Once"/g)).toHaveLength(2);
    expect(stdout).toMatch(/^idempotency-replayed: true/im);
    const links = [...html.matchAll(/href="(\/[^"]+)"/g)].map(([, path = '']) => path);
    for (const path of links) expect((await fetch(docs + path)).status).toBe(200);
    const guide = await (await fetch(`${docs}/front-end.md`)).text();
    expect(guide).toContain(stack.addressOf('Sign-in'));
    // The smoke test leaves an inquiry of the user of these commands.
    expect(run('node deploy/smoke.ts').stdout).toContain(' passed, 0 failed, ');
  });

  it('logs short lines, without what the user wrote', async () => {
    await stack.call('PUT');
    await stack.call('POST', 'Private');
    await fetch(`${stack.addressOf('API')}/${ANA}`);
    const log = () =>
      stack
        .said()
        .split(`there?"}'`)
        .at(-1)
        ?.replaceAll(/\d+ ms/g, 'N ms');
    await expect.poll(log).toContain('GET (other path) 404 N ms\n');
    await expect.poll(log).toContain('POST /inquiries 201 N ms\n');
    await expect.poll(log).toContain("mail: 'inquiry'");
    await expect.poll(log).toMatch(/^WARN \{.*'METHOD_NOT_ALLOWED' \}\n/m);
    expect(log()).not.toMatch(/Hello|Private|(ana|eve)@example|eyJ|_aws|INFO.*route/);
  });

  it('keeps what other users of the machine cannot read', () => {
    expect(fs.readdirSync(data)).toEqual([
      'dynamodb-local',
      'issuer-keys.json',
      'lock',
      'stack.json',
    ]);
    expect(filesOfOthers(data)).toBe('');
  });

  /** @returns A function that gives the stack's output since then. */
  const replace = (file: string, from: string, to: string) => {
    const before = stack.said().length;
    const path = join(root, file);
    fs.writeFileSync(`${path}~`, fs.readFileSync(path, 'utf8').replace(from, to));
    fs.renameSync(`${path}~`, path);
    return () => stack.said().slice(before);
  };

  it('runs the new code of function and mailer each time it changes', async () => {
    const change = async (file: string, from: string, to: string) =>
      await expect.poll(replace(file, from, to)).toContain(`${file} changed: reloaded`);
    for (const [from, to] of [
      ['Allowed methods', 'Once'],
      ['Once', 'Allowed methods'],
    ] as const) {
      await change('src/errors.ts', from, to);
      const { message } = (await (await stack.call('PUT')).json()) as { message: string };
      expect(message).toContain(`${to}: GET, POST.`);
    }
    await change('mail/team-mails.ts', '[inquiries ', '[new ');
    await stack.call('POST', 'Changed');
    await expect.poll(stack.mails).toContainEqual([TEAM, '[new local] Changed']);
    await change('mail/team-mails.ts', '[new ', '[inquiries ');
  });

  it('shows a change in the open contact form, whose text stays', needsBrowser, async () => {
    const { page, signIn, write, message } = await openPage();
    await page.goto(stack.addressOf('Form'));
    await signIn(ANA);
    await write('Half', 'written');

    await page.waitForLoadState();
    let loads = 0;
    page.on('load', () => void loads++);
    replace('ui/style.css', '', ':root { --probe: 1; }\n');
    const style = "getComputedStyle(document.documentElement).getPropertyValue('--probe')";
    await expect.poll(() => page.evaluate(style)).toBe('1');
    expect(await message.inputValue()).toBe('written');
    expect(loads).toBe(0);

    replace('web/src/main.ts', '', `document.documentElement.dataset['probe'] = '3';`);
    const probe = 'document.documentElement.dataset.probe';
    await expect.poll(() => page.evaluate(probe)).toBe('3');
    await expect.poll(() => message.inputValue()).toBe('written');
  });

  it('lets only pages of --cors-origin sign in, call the API and embed the form', async () => {
    const form = stack.addressOf('Form');
    for (const origin of [other, 'http://127.0.0.1:5173']) {
      const isAllowed = origin === other;
      const { headers } = await fetch(stack.addressOf('API'), { headers: { origin } });
      expect(headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : form);
      // The request has no code challenge: the issuer tells this only to a registered page.
      const query = `client_id=inquiries-local&response_type=code&redirect_uri=${origin}/callback`;
      const url = `${stack.addressOf('Sign-in')}/oauth2/authorize?${query}`;
      expect((await fetch(url, { redirect: 'manual' })).status).toBe(isAllowed ? 303 : 400);
      const element = await fetch(`${form}/inquiry-form.js`, { headers: { origin } });
      expect(element.headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null);
    }
    // The issuer's key is in this folder, too.
    expect((await fetch(`${form}/@fs${root}/package.json`)).status).toBe(403);
  });

  it('accepts no connection from another machine', async () => {
    // Linux delivers all of 127.0.0.0/8 to this machine.
    const labels = ['Form', 'Demo', 'API', 'Docs', 'Sign-in', 'Mailbox', 'Answers', 'DynamoDB'];
    for (const label of labels) {
      const listening = portOf(stack.addressOf(label));
      const hosts = ['127.0.0.1', '127.0.0.2', '::1'];
      const found = await Promise.all(hosts.map((host) => isListening(listening, host)));
      expect([label, ...found]).toEqual([label, true, false, false]);
    }
  });

  it('takes answers and next mails by SMTP, not those to other domains or with a bad verdict', async () => {
    const transport = createTransport(stack.addressOf('Answers'));
    const textOf = ({ Content }: SentMail) => Content.Simple.Body.Text.Data;
    const reply = async (mail: SentMail, from: string, answer: string) => {
      const attribution = 'On 26/11/2026 10:00, inquiries@example.com wrote:';
      const text = `${answer}\n\n${attribution}\n${textOf(mail).replaceAll(/^/gm, '> ')}`;
      return transport.sendMail({ from, to: mail.ReplyToAddresses, subject: 'Re:', text });
    };
    await stack.call('POST', 'Lamp');
    const lamp = await stack.findMail(TEAM, '[inquiries local] Lamp');
    await reply(lamp, TEAM, 'We send a new one.');
    const answer = await stack.findMail(EVE, 'Re: Lamp');
    expect(textOf(answer)).toMatch(/^We send a new one\.$/m);
    await reply(answer, EVE, 'And the shade?');
    const next = await stack.findMail(TEAM, 'Re: [inquiries local] Lamp');
    expect(textOf(next)).toContain('And the shade?');
    expect((await stack.subjects()).slice(0, 2)).toEqual(['Re: Lamp', 'Lamp']);
    const mail = { from: TEAM, to: EVE, subject: 's', text: 't' };
    await expect(transport.sendMail(mail)).rejects.toThrow('Unknown domain');
    const headers = { 'X-Verdicts': 'dmarc=FAIL' };
    await transport.sendMail({ ...mail, to: lamp.ReplyToAddresses, headers });
    const refusal = expect.stringContaining('cannot be verified (DMARC)');
    await expect.poll(stack.mails).toContainEqual([TEAM, refusal]);
  });

  it('tells team and inbox of a reply to the address that bounces', async () => {
    const owner = 'bounce@simulator.amazonses.com';
    const authorization = stack.createToken(owner);
    const created = await stack.call('POST', 'Bounces', { authorization });
    const { inquiry } = (await created.json()) as CreateInquiryResponse;
    run(`echo Yes | node inbox/main.ts reply ${inquiry.id}`);
    const notice = expect.stringContaining(
      `reply to ${inquiry.id.slice(0, 13)} could not be delivered`,
    );
    await expect.poll(stack.mails).toContainEqual([TEAM, notice]);
    const shown = run(`node inbox/main.ts show ${inquiry.id}`).stdout;
    expect(JSON.parse(shown)).toMatchObject({ undelivered: 'bounce' });
  });
});

describeOnDynamoDbLocal('npm start', () => {
  it('keeps inquiries over a restart, mails once and silently, and leaves nothing when killed', async ({
    skip,
  }) => {
    skip(!findProgram(['ps'], process.env), 'the processes of a stack are listed by ps');
    const data = createFolder();
    const temporary = createFolder();
    const env = {
      TMPDIR: temporary,
      NODE_DISABLE_COMPILE_CACHE: '1', // npm's cache would stay in TMPDIR
      JAVA_TOOL_OPTIONS: `-Djava.io.tmpdir='${temporary}'`,
    };
    const options = ['--data', data, '--port', '0'];
    const before = await start(data, ['npm', 'start', '--', ...options], { env });
    await before.call('POST', 'Kept');
    // This is logged once the mail is recorded.
    await expect.poll(before.said).toContain("outcome: 'sent'");
    expect(await before.mails()).toEqual([[TEAM, '[inquiries local] Kept']]);
    await before.stop('SIGKILL');
    for (const label of ['API', 'DynamoDB']) {
      await expect.poll(() => isListening(portOf(before.addressOf(label)))).toBe(false);
    }
    await expect.poll(() => fs.existsSync(join(data, 'stack.json'))).toBe(false);
    expect(fs.readdirSync(temporary)).toEqual([]);

    const stack = await start(data, [
      process.execPath,
      'local/start.ts',
      ...options,
      '--seed',
      '9',
    ]);
    expect(stack.said()).toContain(`npm run inbox -- --data '${data}'`);
    expect(stack.said()).toContain('Seed       0 inquiries');
    expect(await stack.subjects()).toEqual(['Kept']);
    await stack.call('POST', 'New');
    // The order shows that the stream's first inquiry had been read.
    await expect.poll(stack.mails).toEqual([[TEAM, '[inquiries local] New']]);
    expect(stack.said()).not.toContain('already-sent');

    const { pid, enginePid } = readRunningStack(data);
    const children = runIn(ROOT, `ps -o pid= --ppid ${pid}`).stdout.trim().split(/\s+/);
    expect(children.length).toBeGreaterThanOrEqual(3);
    // A start finds an engine without its stack by this id.
    expect(children).toContain(String(enginePid));
    // A process in an endless loop would not notice the stack's end.
    for (const child of children) {
      if (child !== String(enginePid)) process.kill(Number(child), 'SIGSTOP');
    }
    expect(await stack.stop('SIGKILL')).toBe(null);
    await expect.poll(() => runIn(ROOT, `ps -p ${children.join()}`).status).toBe(1);
  });
});

it('runs on dynalite, says what is missing, keeps inquiries when killed, and ends on Ctrl-C', async () => {
  const data = createFolder();
  const command = [process.execPath, 'local/start.ts', '--data', data, '--port', '0'];
  const port = await findPorts();
  const stack = await start(data, [...command, '--seed', '20', `--inspect=${port}`], {
    // There is no Java in this PATH.
    env: { PATH: dirname(process.execPath), INQUIRIES_PER_HOUR: '2' },
  });
  await expect(announcementOf(stack, data, port)).toMatchFileSnapshot('golden/dynalite.txt');
  const inspector = await fetch(`http://127.0.0.1:${port}/json/list`);
  expect(await inspector.json()).toMatchObject([{ type: 'node' }]);
  for (const status of [201, 201, 201]) {
    const answer = await stack.call('POST', 'Keyed', { 'Idempotency-Key': 'k' });
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([status, null]);
  }
  expect(filesOfOthers(data)).toBe('');
  await stack.stop('SIGKILL');

  fs.mkdirSync(join(data, 'dynamodb-local'));
  const again = await start(data, [...command, '--engine', 'dynalite']);
  expect(await again.subjects()).toEqual(['Keyed', 'Keyed', 'Keyed']);
  expect(again.said()).toContain('dynamodb-local has data of its own');
  expect(again.said()).not.toContain('JDK');
  expect(await again.stop('SIGINT')).toBe(0);
  expect(again.complained()).toBe('');
  expect(await isListening(portOf(again.addressOf('API')))).toBe(false);
  expect(fs.existsSync(join(data, 'stack.json'))).toBe(false);
});
