/** `npm start` as a process. Each stack serves several tests, which depend on their order. start.test.ts has what it refuses. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
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
/** Where both engines keep their data. */
const data = join(folder, 'kept');

/** An id, or its beginning that is the reference. */
const UUID = /\b[\da-f]{8}-[\da-f]{4}(?:(?:-[\da-f]{4}){2}-[\da-f]{12})?\b/g;

/** Without what differs from run to run: progress that was erased, ids, times and the name of the operator. */
const normalize = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.split('\r\u001B[K').at(-1) ?? '')
    .join('\n')
    .replaceAll(UUID, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/(?<=^ID +)\d+[smh] +/gm, 'AGE ')
    .replaceAll(/ as \S+\.$/gm, ' as NAME.')
    .replaceAll(/[ \r]+$/gm, '')
    .trimEnd();

describe.skipIf(noJava !== undefined)('npm start on DynamoDB Local', () => {
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
  });

  it.skipIf(noTerminal !== undefined)(
    'answers the commands of README.md and docs/inbox.md as they show',
    () => {
      // npm finds this stack instead of one of the developer's.
      let script = `npm() { case "$*" in *" -- "*) ;; *) set -- "$@" -- ;; esac; command npm "$@" --data ${data}; }\n`;
      let id = '';
      const text = readText('README.md') + readText('docs/inbox.md');
      for (const [, printed = '', output = ''] of text.matchAll(
        /^\$ (.*)\n((?:(?!\$ |```).*\n)*)/gm,
      )) {
        const command = printed
          .replace('http://127.0.0.1:3000/inquiries', stack.api)
          .replace(UUID, id);
        if (output === '') {
          script += `${command}\n`;
          continue;
        }
        // At a terminal, where the inbox prints tables.
        const args = ['--quiet', '--return', '--command', script + command, '/dev/null'];
        const env = { ...process.env, SHELL: '/bin/bash' };
        const actual = execFileSync('script', args, { cwd: ROOT, encoding: 'utf8', env });
        expect(`${printed}\n${normalize(actual)}`).toBe(`${printed}\n${normalize(output)}`);
        [id = id] = actual.match(UUID) ?? [];
      }
    },
  );

  it('mails an inquiry to the team and its reply to the owner', async () => {
    const { inquiry } = (await stack.send('POST', 'First')).json as { inquiry: { id: string } };
    const mail = [TEAM, '[inquiries local] First'];
    const newest = async () => (await stack.mails()).at(-1);
    await expect.poll(newest, WAIT).toEqual(mail);
    const { inbox } = connectLocally(data);
    await inbox.answer(inquiry.id, { reply: 'Yes.', respondent: 'Rita' });
    await expect.poll(newest, WAIT).toEqual(['ana@example.com', 'Re: First']);
    expect((await stack.mails()).filter(([, subject]) => subject === mail[1])).toEqual([mail]);
  });

  it('prints a curl command that sends an inquiry, and then short lines, without what the user wrote', async () => {
    const before = stack.said().length;
    expect(stack.curl()).toMatchObject({ inquiry: { subject: 'Hello', email: 'ana@example.com' } });
    await stack.send('PUT');
    await send(`${stack.api}/ana@example.com`);
    const said = () =>
      stack
        .said()
        .slice(before)
        .replaceAll(/\d+ ms/g, 'N ms');
    await expect.poll(said, WAIT).toContain("mail: 'inquiry'");
    expect(said()).toContain('POST /inquiries 201 N ms\n');
    expect(said()).toContain('GET (other path) 404 N ms\n');
    expect(said()).toMatch(/^WARN \{.*'METHOD_NOT_ALLOWED' \}\n/m);
    expect(said()).not.toMatch(/Hello|ana@example|eyJ|_aws|INFO.*route/);
  });

  it('keeps what other users of the machine cannot read', () => {
    expect(fs.readdirSync(data)).toEqual(['dynamodb-local', 'issuer-keys.json', 'stack.json']);
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
    for (const label of ['Form', 'Demo', 'API', 'Docs', 'Sign-in', 'Mailbox', 'DynamoDB']) {
      const listening = portOf(stack.addressOf(label));
      expect(await isListening(listening)).toBe(true);
      for (const host of ['127.0.0.2', '::1']) {
        expect([label, host, await isListening(listening, host)]).toEqual([label, host, false]);
      }
    }
  });

  it('ends when npm alone is killed', async () => {
    await stack.stop('SIGKILL');
    await expect.poll(() => isListening(port), WAIT).toBe(false);
    await expect.poll(() => fs.existsSync(join(data, 'stack.json')), WAIT).toBe(false);
  });

  it('keeps inquiries over a restart, mails them once and silently, and closes everything on Ctrl-C', async () => {
    stack = await start(data, ['--port', '0', '--seed', '9']);
    expect(stack.said()).toContain('Seed       0 inquiries');
    expect((await stack.subjects()).slice(0, 2)).toEqual(['Hello', 'First']);
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
  let port = 0;
  let stack: Running;
  beforeAll(async () => {
    port = await findPorts();
    const env = { PATH: dirname(process.execPath), INQUIRIES_PER_HOUR: '2' };
    stack = await start(data, ['--port', '0', '--seed', '20', `--inspect=${port}`], { env });
  });

  it('runs on dynalite, and says why and what is missing there', () => {
    for (const line of [
      'dynalite, because there is no JDK 17 or newer',
      'Idempotency-Key and INQUIRIES_PER_HOUR are ignored, because dynalite has no transactions',
      'Mailbox    off, because dynalite has no streams',
      ...(noJava === undefined ? ['dynamodb-local has data of its own'] : []),
      `Inspector  127.0.0.1:${port}`,
      'Seed       20 inquiries',
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
  });

  it('keeps inquiries when it is killed', async () => {
    expect(await stack.stop('SIGKILL')).toBe(null);
    const again = await start(data, ['--port', '0', '--engine', 'dynalite']);
    expect((await again.subjects()).slice(0, 4)).toEqual([
      'Keyed',
      'Keyed',
      'Keyed',
      expect.any(String),
    ]);
    expect(await again.stop('SIGHUP')).toBe(0);
  });
});
