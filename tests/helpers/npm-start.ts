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
import type { InquiryListResponse } from '../../src/contract.ts';
import { sendAndCheck as send } from './contract.ts';

export const noJava = dynamoDbLocalUnavailableReason();
export const noTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux')
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
export const WAIT = { timeout: 80_000 };
vi.setConfig({ testTimeout: 2 * WAIT.timeout, hookTimeout: 2 * WAIT.timeout });
export const folder = fs.mkdtempSync(join(tmpdir(), 'inquiries-start-'));
const running: { child: ReturnType<typeof spawn>; exit: Promise<unknown> }[] = [];
afterAll(async () => {
  for (const { child } of running) child.kill('SIGTERM');
  await Promise.all(running.map(({ exit }) => exit));
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Runs what `npm start` runs, and waits until it says that it runs. */
export async function start(
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

export type Running = Awaited<ReturnType<typeof start>>;

/** What other users may do with a folder and with what is in it; empty: nothing. */
export const accessOfOthers = (of: string): string[] =>
  [of, ...fs.readdirSync(of, { recursive: true, encoding: 'utf8' }).map((name) => join(of, name))]
    .map((path) => `${path} ${(fs.statSync(path).mode & 0o077).toString(8)}`)
    .filter((line) => !line.endsWith(' 0'));
