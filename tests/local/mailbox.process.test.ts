import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectLocally } from '../../inbox/connect.ts';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import { startMailbox } from '../../local/mailbox.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { readRunningStack, stateFileOf } from '../../lib/running-stack.ts';
import { send } from '../helpers/http.ts';
import { ROOT } from '../../lib/paths.ts';

const noJava = dynamoDbLocalUnavailableReason();
if (noJava !== undefined) process.stdout.write(`\nSKIPPED: mails of the local stack, because ${noJava}.\n`);

interface StoredMail {
  readonly from: string;
  readonly replyTo: readonly string[];
  readonly destination: { readonly to: readonly string[] };
  readonly subject: string;
  readonly body: { readonly text: string };
}

const readMails = async (mailbox: string | undefined): Promise<StoredMail[]> => {
  const response = await fetch(`${mailbox}/store`);
  return ((await response.json()) as { emails: StoredMail[] }).emails;
};

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of closing.splice(0).toReversed()) await end();
});

const createFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-mailbox-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Runs what `npm start` runs until it is ready. */
async function start(folder: string) {
  const args = ['local/start.ts', '--port', '0', '--data', folder];
  const service = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const exit = once(service, 'exit');
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    service.kill(signal);
    await exit;
  };
  closing.push(() => stop('SIGTERM'));
  await expect.poll(() => existsSync(stateFileOf(folder)), { timeout: 60_000 }).toBe(true);
  const { gateway, mailbox } = readRunningStack(folder);
  const token = spawnSync(process.execPath, ['local/token.ts', '--data', folder], { cwd: ROOT });
  const headers = ['Authorization', String(token.stdout).trim(), 'Content-Type', 'application/json'];
  const call = (method: string, body?: string) =>
    send(`${gateway}/inquiries`, { method, headers, ...(body !== undefined && { body }) });
  return {
    pid: service.pid ?? 0,
    stop,
    inbox: connectLocally(folder).inbox,
    mails: () => readMails(mailbox),
    subjects: async () => (await readMails(mailbox)).map(({ subject }) => subject),
    list: async () => (await call('GET')).text,
    post: async (subject: string): Promise<string> => {
      const { json } = await call('POST', JSON.stringify({ subject, body: 'Is anyone\nthere?' }));
      return (json as { inquiry: { id: string } }).inquiry.id;
    },
  };
}

const WAIT = { timeout: 40_000 };

describe.skipIf(noJava !== undefined)('npm start', () => {
  it('mails an inquiry to the team and its reply to the owner, once, over a restart, too', async () => {
    const folder = createFolder();
    const stack = await start(folder);
    const id = await stack.post('First');
    await expect.poll(stack.mails, WAIT).toHaveLength(1);
    const [notice] = await stack.mails();
    expect(notice).toMatchObject({
      from: 'inquiries@example.com',
      destination: { to: ['support@example.com'] },
      replyTo: ['ana@example.com'],
      subject: '[inquiries local] First',
    });
    expect(notice?.body.text).toContain(id);
    expect(notice?.body.text).toContain('Is anyone\nthere?');

    const before = await stack.list();
    await stack.inbox.answer(id, { reply: 'Yes.', respondent: 'Rita' });
    await expect.poll(stack.mails, WAIT).toHaveLength(2);
    const [, answer] = await stack.mails();
    expect(answer).toMatchObject({
      from: 'inquiries@example.com',
      destination: { to: ['ana@example.com'] },
      replyTo: ['support@example.com'],
      subject: 'Re: First',
    });
    expect(answer?.body.text).toMatch(/Yes\.[^]*> Is anyone\n> there\?/);
    expect(await stack.list()).toBe(before);
    await stack.stop('SIGINT');

    const next = await start(folder);
    await next.post('Second');
    // In order: what the stream holds of the first inquiry was read before.
    await expect.poll(next.subjects, WAIT).toEqual(['[inquiries local] Second']);
  });

  it('leaves no process behind when it is killed after a mail', async () => {
    const stack = await start(createFolder());
    await stack.post('Hello');
    await expect.poll(stack.mails, WAIT).toHaveLength(1);
    const children = String(spawnSync('ps', ['-o', 'pid=', '--ppid', String(stack.pid)]).stdout)
      .trim()
      .split(/\s+/)
      .map(Number);
    // The engine, the function, the mailer; their guards are children of theirs.
    expect(children).toHaveLength(3);
    await stack.stop('SIGKILL');
    const isRunning = (pid: number): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(() => children.filter(isRunning), { timeout: 20_000 }).toEqual([]);
  });
});

describe('the mailbox', () => {
  const open = async () => {
    const mailbox = await startMailbox(0);
    closing.push(() => mailbox.close());
    await mailbox.load();
    await fetch(`${mailbox.url}/clear-store`, { method: 'POST' });
    const content = { Simple: { Subject: { Data: 'secret' }, Body: { Text: { Data: 'text' } } } };
    const sendMail = () =>
      fetch(`${mailbox.url}/v2/email/outbound-emails`, {
        method: 'POST',
        headers: { authorization: 'AWS4-HMAC-SHA256 x', 'content-type': 'application/json' },
        body: JSON.stringify({ FromEmailAddress: 'a@example.com', Destination: {}, Content: content }),
      });
    return { ...mailbox, sendMail, mails: () => readMails(mailbox.url) };
  };

  it('shows its page and nothing from elsewhere', async () => {
    const { url } = await open();
    const page = await fetch(url);
    expect(await page.text()).toContain('Emails will appear above');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'.*frame-ancestors 'none'$/,
    );
  });

  it('answers neither to another name (DNS rebinding) nor to a page of another origin', async () => {
    const { url, sendMail, mails } = await open();
    expect((await sendMail()).status).toBe(200);
    const foreign = request(`${url}/store`, { headers: { host: `mail.example:${new URL(url).port}` } }).end();
    const [response] = (await once(foreign, 'response')) as [import('node:http').IncomingMessage];
    expect([response.statusCode, response.headers.location, await text(response)]).toEqual([302, url, '']);
    const clear = await fetch(`${url}/clear-store`, {
      method: 'POST',
      headers: { origin: 'https://mail.example' },
    });
    expect(clear.status).toBe(403);
    expect(await mails()).toMatchObject([{ subject: 'secret' }]);
    await fetch(`${url}/clear-store`, { method: 'POST', headers: { origin: url } });
    expect(await mails()).toEqual([]);
  });

  it('sends nothing to an SMTP server of the user', async () => {
    let connections = 0;
    const smtp = createServer(() => connections++);
    const port = await listen(smtp, 0);
    closing.push(() => close(smtp));
    vi.stubEnv('SMTP_TRANSPORT', JSON.stringify({ host: '127.0.0.1', port }));
    const { sendMail, mails } = await open();
    await sendMail();
    expect(await mails()).toHaveLength(1);
    // The package opens its connection before it answers.
    expect(connections).toBe(0);
    vi.unstubAllEnvs();
  });
});
