/** The way of an answer, from the form to the mailbox and back, with the commands as users run them. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import { readRunningStack, stateFileOf } from '../../lib/running-stack.ts';
import { launchBrowser, on, whyNoBrowser } from '../helpers/chromium.ts';
import { ROOT } from '../../lib/paths.ts';

const OWNER = 'maria@example.com';

const whyNot = whyNoBrowser ?? dynamoDbLocalUnavailableReason();
if (whyNot !== undefined) process.stdout.write(`\nSKIPPED: the way of an answer, because ${whyNot}.\n`);

interface StoredMail {
  readonly subject: string;
  readonly replyTo: readonly string[];
  readonly destination: { readonly to: readonly string[] };
  readonly body: { readonly text: string };
}

/** Runs a script; resolves to what it printed and its exit code. */
const run = async (script: string, ...args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [join('scripts', script), ...args],
      { cwd: ROOT },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });

it.skipIf(whyNot !== undefined)(
  'an inquiry of the form is mailed to the team, answered once, mailed back, exported and erased',
  async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'inquiries-answer-'));
    const service = spawn(process.execPath, ['local/start.ts', '--port', '0', '--data', folder], {
      cwd: ROOT,
      stdio: 'ignore',
    });
    const ended = once(service, 'exit');
    onTestFinished(async () => {
      service.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    });
    await expect.poll(() => existsSync(stateFileOf(folder)), { timeout: 60_000 }).toBe(true);
    const { form, gateway, mailbox } = readRunningStack(folder);

    const inbox = async (...args: string[]) => run('inbox.ts', '--data', folder, ...args);
    const list = async () => {
      const { stdout } = await inbox('list');
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { id: string });
    };
    const { stdout: token } = await run('token.ts', '--data', folder, '--email', OWNER);
    const get = async () => {
      const response = await fetch(`${gateway}/inquiries`, { headers: { authorization: token.trim() } });
      return response.text();
    };
    const findMail = async (to: string): Promise<StoredMail> => {
      const found = async () => {
        const response = await fetch(`${mailbox}/store`);
        const { emails } = (await response.json()) as { emails: StoredMail[] };
        return emails.find(({ destination }) => destination.to.includes(to));
      };
      const sent = performance.now();
      await expect.poll(found, { timeout: 30_000, interval: 100 }).toBeDefined();
      process.stdout.write(`mail to ${to} after ${((performance.now() - sent) / 1_000).toFixed(1)} s\n`);
      const mail = await found();
      if (mail === undefined) throw new Error('The mail has gone.');
      return mail;
    };

    const browser = await launchBrowser();
    onTestFinished(async () => browser.close());
    const page = await browser.newPage();
    await page.goto(form);
    const parts = on(page);
    await parts.signIn(OWNER);
    await parts.write('Opening hours', 'Are you open\non Sundays?');
    await parts.send.click();
    await expect.poll(() => parts.subjects.allTextContents()).toEqual(['Opening hours']);

    const notice = await findMail('support@example.com');
    expect(notice).toMatchObject({ replyTo: [OWNER] });
    expect(notice.subject).toContain('Opening hours');
    expect(notice.body.text).toContain('Are you open\non Sundays?');

    const before = await get();
    const [first, ...others] = await list();
    const id = first?.id ?? '';
    expect(others).toEqual([]);
    expect(before).toContain(id);
    const reply = join(folder, 'reply.txt');
    writeFileSync(reply, 'Yes, from ten to four.\n');
    expect(await inbox('reply', id, '--file', reply)).toMatchObject({ code: 0 });

    const answer = await findMail(OWNER);
    expect(answer.replyTo).toEqual(['support@example.com']);
    expect(answer.body.text).toContain('Yes, from ten to four.');
    expect(answer.body.text).toContain('> on Sundays?');

    expect(await list()).toEqual([]);
    const second = await inbox('reply', id, '--file', reply);
    expect(second.code).toBe(3);
    expect(second.stderr).toMatch(/^Already answered by .+ at .+\n$/i);
    expect(await get()).toBe(before);
    expect(Object.keys((JSON.parse(before) as { inquiries: object[] }).inquiries[0] ?? {})).toEqual([
      'id',
      'cognito_sub',
      'email',
      'subject',
      'body',
      'created_at',
    ]);

    const exported = await inbox('export', '--json');
    expect(JSON.parse(exported.stdout)).toMatchObject({
      id,
      body: 'Are you open\non Sundays?',
      reply: 'Yes, from ten to four.',
    });
    expect(await inbox('erase', '--email', OWNER, '--yes')).toMatchObject({ code: 0 });
    expect(JSON.parse(await get())).toEqual({ email: OWNER, count: 0, inquiries: [] });
    expect((await inbox('export', '--json')).stdout).toBe('');
  },
);
