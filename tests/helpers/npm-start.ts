/** `npm start` as a process of the tests of a file, which ends with them. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, expect, vi } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import type { LocalMail } from '../../local/mailbox.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { sendAndCheck as send } from './contract.ts';

export const noJava = dynamoDbLocalUnavailableReason();
export const noTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux')
  ? undefined
  : 'the `script` command of util-linux is missing';
const missing = noJava ?? noTerminal;
if (missing !== undefined) {
  process.stdout.write(`\nSKIPPED: tests of npm start as a process, because ${missing}.\n`);
}
/** Milliseconds; a start takes three seconds on a quiet machine. */
export const WAIT = { timeout: 80_000 };
vi.setConfig({ testTimeout: 2 * WAIT.timeout, hookTimeout: 2 * WAIT.timeout });
export const folder = fs.mkdtempSync(join(tmpdir(), 'inquiries-start-'));
const running: { child: ReturnType<typeof spawn>; exit: Promise<unknown> }[] = [];
afterAll(async () => {
  for (const { child } of running) child.kill('SIGTERM');
  await Promise.all(running.map(({ exit }) => exit));
  fs.rmSync(folder, { recursive: true, force: true });
});

export type Running = Awaited<ReturnType<typeof start>>;

/** Runs what `npm start` runs with a data folder, and waits until it says that it runs. */
export async function start(
  data: string,
  args: string[],
  { env = {}, root = ROOT, command = [process.execPath, 'local/start.ts'] } = {},
) {
  const [file = '', ...rest] = [...command, '--data', data, ...args];
  const child = spawn(file, rest, { cwd: root, env: { ...process.env, ...env } });
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
  const said = (): string => stripVTControlCharacters(output);
  const addressOf = (label: string) => new RegExp(`${label} +(\\S+)`).exec(said())?.[1] ?? '';
  const token = execFileSync(process.execPath, ['local/token.ts', '--data', data], { cwd: root });
  const authorization = ['Authorization', `Bearer ${String(token).trim()}`];
  const headers = [...authorization, 'Content-Type', 'application/json'];
  const api = addressOf('API');
  return {
    said,
    complained,
    addressOf,
    api,
    /** Runs the command that it printed. */
    curl(): unknown {
      const [printed = ''] = /curl -X POST (?:.*\\\n)+.*/.exec(output) ?? [];
      const { stdout } = spawnSync('sh', ['-c', printed], { cwd: ROOT });
      return JSON.parse(String(stdout));
    },
    send: (method: string, subject?: string, more: string[] = []) =>
      send(api, {
        method,
        headers: [...headers, ...more],
        ...(subject !== undefined && {
          body: JSON.stringify({ subject, body: 'Is anyone\nthere?' }),
        }),
      }),
    subjects: async () => {
      const { inquiries } = (await send(api, { headers })).json as InquiryListResponse;
      return inquiries.map(({ subject }) => subject);
    },
    /** Recipients and subjects of the mails. */
    async mails() {
      const mails = (await (await fetch(`${addressOf('Mailbox')}/mails`)).json()) as LocalMail[];
      return mails.map(({ Destination, Content }) => [
        Destination?.ToAddresses?.join(),
        Content?.Simple?.Subject?.Data,
      ]);
    },
    async stop(signal: NodeJS.Signals): Promise<number | null> {
      child.kill(signal);
      return exit;
    },
  };
}

/** What other users may do with a folder and with what is in it; empty: nothing. */
export const accessOfOthers = (of: string): string[] =>
  [of, ...fs.readdirSync(of, { recursive: true, encoding: 'utf8' }).map((name) => join(of, name))]
    .map((path) => `${path} ${(fs.statSync(path).mode & 0o077).toString(8)}`)
    .filter((line) => !line.endsWith(' 0'));
