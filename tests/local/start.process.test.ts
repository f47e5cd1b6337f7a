/** `npm start` as a process. Each stack serves several tests, which depend on their order. start.test.ts has what it refuses. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { connectLocally } from '../../inbox/connect.ts';
import { isListening } from '../../lib/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { sendAndCheck as send } from '../helpers/contract.ts';
import {
  accessOfOthers,
  folder,
  noJava,
  noTerminal,
  start,
  WAIT,
  type Running,
} from '../helpers/npm-start.ts';
import { readText } from '../helpers/repository.ts';

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
      'Idempotency-Key and INQUIRIES_PER_HOUR are ignored, because dynalite has no transactions',
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

  it('ignores Idempotency-Key and INQUIRIES_PER_HOUR, as it says', async () => {
    for (const status of [201, 201, 201]) {
      const answer = await stack.post('Keyed', ['Idempotency-Key', 'k']);
      expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([status, undefined]);
    }
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
      expect(await again.subjects()).toEqual(['Hello', 'Keyed', 'Keyed', 'Keyed']);
      await again.stop('SIGTERM');
    },
  );

  it('has no inquiries after --reset', async () => {
    const reset = await start(['--port', '0', '--data', data, '--engine', 'dynalite', '--reset']);
    expect(await reset.subjects()).toEqual([]);
    expect(await reset.stop('SIGHUP')).toBe(0);
  });
});

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
