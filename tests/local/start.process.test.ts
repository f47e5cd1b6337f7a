/** `npm start` as a process. Each stack serves several tests, which depend on their order. start.test.ts has what it refuses. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
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
const TEAM = 'support@example.com';

describe.skipIf(noJava !== undefined)('npm start on DynamoDB Local', () => {
  const data = join(folder, 'kept');
  const other = 'http://localhost:5173';
  let port = 0;
  let stack: Running;
  beforeAll(async () => {
    port = await findPorts();
    // AWS's variables are the user's, to be ignored.
    const aws = { AWS_PROFILE: 'missing', AWS_ENDPOINT_URL: 'http://127.0.0.1:9' };
    const env = { ...aws, PORT: String(port) };
    stack = await start(data, ['--cors-origin', other], { command: ['npm', 'start', '--'], env });
  });

  it('takes the port from PORT and the next five, and prints the form first, then the inbox', async () => {
    const at = (index: number) => `http://127.0.0.1:${port + index}`;
    const labels = ['Sign-in', 'Docs', 'Form', 'Mailbox', 'Demo'];
    expect(stack.api).toBe(`${at(0)}/inquiries`);
    expect(labels.map(stack.addressOf)).toEqual([1, 2, 3, 4, 5].map(at));
    expect(/Inquiry service[^]*?(http:\S+)/.exec(stack.said())?.[1]).toBe(at(3));
    expect(stack.said()).toContain(`npm run inbox -- --web --data '${data}'`);
    const branding = JSON.parse(readText('web/config.example.json')) as object;
    const config = { ...branding, issuer: at(1), clientId: 'inquiries-local', apiUrl: at(0) };
    expect(await (await fetch(`${at(3)}/config.json`)).json()).toEqual(config);
    const policy = (await fetch(at(3))).headers.get('content-security-policy');
    expect(policy).toContain(`connect-src 'self' ${at(1)} ${at(0)};`);
    expect(await (await fetch(at(5))).text()).toContain(`src="${at(3)}/inquiry-form.js"`);
  });

  it('mails an inquiry to the team and its reply to the owner', async () => {
    const { inquiry } = (await stack.send('POST', 'First')).json as { inquiry: { id: string } };
    const mails = [[TEAM, '[inquiries local] First']];
    await expect.poll(stack.mails, WAIT).toEqual(mails);
    const { inbox } = connectLocally(data);
    await inbox.answer(inquiry.id, { reply: 'Yes.', respondent: 'Rita' });
    await expect.poll(stack.mails, WAIT).toEqual([...mails, ['ana@example.com', 'Re: First']]);
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
    const allowed = [form, stack.addressOf('Demo'), other];
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

  it('keeps inquiries over a restart, mails them once and silently, and closes everything on Ctrl-C', async () => {
    stack = await start(data, ['--port', '0']);
    expect(await stack.subjects()).toEqual(['Hello', 'First']);
    await stack.send('POST', 'Second');
    // In order: what the stream holds of the first inquiries was read before.
    await expect.poll(stack.mails, WAIT).toEqual([[TEAM, '[inquiries local] Second']]);
    expect(stack.said()).not.toContain('already-sent');
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
  let port = 0;
  let stack: Running;
  beforeAll(async () => {
    port = await findPorts();
    const env = { PATH: dirname(process.execPath), INQUIRIES_PER_HOUR: '2' };
    fs.mkdirSync(join(data, 'dynamodb-local'), { recursive: true, mode: 0o700 });
    fs.chmodSync(data, 0o700);
    stack = await start(data, ['--port', '0', `--inspect=${port}`], { env });
  });

  it('runs on dynalite, and says why and what is missing there', () => {
    for (const line of [
      'dynalite, because Java is not installed (JDK 17 or newer is needed)',
      'Idempotency-Key and INQUIRIES_PER_HOUR are ignored, because dynalite has no transactions',
      'Mailbox    off, because dynalite has no streams',
      'dynamodb-local has data of its own',
      `Inspector  127.0.0.1:${port}`,
    ]) {
      expect(stack.said()).toContain(line);
    }
  });

  it('debugs the function, with --inspect', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/json/list`);
    expect(await response.json()).toMatchObject([{ type: 'node' }]);
  });

  it('ignores Idempotency-Key and INQUIRIES_PER_HOUR, as it says', async () => {
    for (const status of [201, 201, 201]) {
      const answer = await stack.send('POST', 'Keyed', ['Idempotency-Key', 'k']);
      expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([status, undefined]);
    }
    expect(accessOfOthers(data)).toEqual([]);
    expect(await stack.stop('SIGKILL')).toBe(null);
  });

  it.skipIf(noTerminal !== undefined)(
    'starts again on the same files, prints a short line for each request at a terminal, and seeds nothing',
    async () => {
      // Each of these decides about colours; Node uses none in an unknown CI.
      const env = { FORCE_COLOR: undefined, NO_COLOR: undefined, CI: undefined, TERM: 'xterm' };
      const args = ['--port', '0', '--engine', 'dynalite', '--seed', '9'];
      const again = await start(data, args, { env, isTerminal: true });
      expect(again.said()).toContain('Seed       none');
      again.curl();
      await expect.poll(again.output).toContain('POST /inquiries \u001B[32m201\u001B[39m');
      const after = again.said().slice(again.said().indexOf('"Is anyone there?"'));
      expect(after).toMatch(/^POST \/inquiries 201 \d+ ms\r$/m);
      expect(after).not.toMatch(/Hello|ana@example|"requestId"|eyJ/);
      expect(await again.subjects()).toEqual(['Hello', 'Keyed', 'Keyed', 'Keyed']);
      await again.stop('SIGTERM');
    },
  );

  it('has no inquiries after --reset, but those of --seed', async () => {
    const args = ['--port', '0', '--engine', 'dynalite', '--reset', '--seed', '20'];
    const reset = await start(data, args);
    expect(reset.said()).toContain('Seed       20 inquiries');
    expect(await reset.subjects()).not.toContain('Keyed');
    expect(await reset.stop('SIGHUP')).toBe(0);
  });
});

it.each([
  ['start --engine dynalite', '--engine', 'npm start'],
  ['run dev --cors-origin=x --port=1', '--port and --cors-origin', 'npm run dev'],
])('refuses options that npm takes for itself: npm %s', (line, taken, command) => {
  const { status, stderr } = spawnSync('npm', line.split(' '), { cwd: ROOT, encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toContain(
    `npm took ${taken} for itself; write them behind two dashes: ${command} -- --port 4000\n`,
  );
});
