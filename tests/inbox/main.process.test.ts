/** `npm run inbox` as a process: pipes, signals, memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, inject, it, onTestFinished } from 'vitest';
import { run } from '../../lib/terminal/run.ts';
import { isListening } from '../../lib/pages/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { findProgram } from '../../lib/terminal/programs.ts';
import { always, hang } from '../resilience/fault-proxy.ts';
import { createFolder, writeState } from '../local/data-folder.ts';
import { containing, openInbox, type OwnInbox } from './test-inbox.ts';
import { toEnvironment } from '../helpers/own-table.ts';
import { readText } from '../helpers/repository.ts';

let table: OwnInbox;
let place: string;
beforeEach(async () => {
  table = await openInbox();
  place = createFolder();
});

const shell = (line: string) =>
  run('sh', ['-c', line], {
    cwd: place,
    env: { ...process.env, ...toEnvironment(table.engine) },
  });
const command = (verb: string, node = '') =>
  `'${process.execPath}' ${node} '${ROOT}/inbox/main.ts' --data '${table.folder}' ${verb}`;

/** The documents' shell lines with the inbox. */
const documented = ['docs/inbox.md', 'docs/backup.md']
  .flatMap((file) => Array.from(readText(file).matchAll(/^```sh\n(.*?)^```/gms)))
  .flatMap(([, block = '']) => block.trim().split('\n'))
  .filter((line) => line.includes('inbox --'));

it.for(documented)('prints data only, as it is documented: %s', async (line, { skip }) => {
  skip(line.includes('jq') && !findProgram(['jq'], process.env), 'documented commands need jq');
  const { email } = await table.add(1, { reply_at: new Date().toISOString() });
  const tables = line.includes('--stage')
    ? `--table ${table.name} --erasures e`
    : `--data '${table.folder}'`;
  const { stdout } = await shell(
    line
      .replace(/~(\S+)/, `'${place}$1'`)
      .replace('inbox --', `--prefix '${ROOT}' inbox -- ${tables}`),
  );
  const files = readdirSync(place).map((name) => readFileSync(join(place, name), 'utf8'));
  const printed = files.length > 0 ? files.join('') : stdout;
  expect(printed).toMatch(/^(\uFEFF"id",|\{"id":|\d+\n$| *1 ana@example)/);
  expect(printed.includes(email) || /^\d+\n$/.test(printed)).toBe(true);
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  'leaves no part of an exported file after %s, with exit code %d',
  async (signal, code) => {
    table.meet(always(hang), 'Scan');
    const child = spawn(`exec ${command('export --out x')}`, { cwd: place, shell: true });
    const exit = once(child, 'exit');
    await expect.poll(() => readdirSync(place)).toHaveLength(1);
    child.kill(signal);
    expect(await exit).toEqual([code, null]);
    expect(readdirSync(place)).toEqual([]);
  },
);

it('exports with a bounded amount of memory, and ends in silence when its reader ends first', async () => {
  // DynamoDB Local takes a minute for so many large rows.
  table = await openInbox({ engine: inject('engines').dynalite });
  const body = 'b'.repeat(399_000);
  for (let n = 0; n < 200; n += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, m) => table.add(n + m, { body })));
  }
  // The export has 80 MB, and the heap 64.
  const all = await shell(`${command('export', '--max-old-space-size=64')} | wc -lc`);
  const [lines, bytes, ...others] = all.output.trim().split(/\s+/).map(Number);
  expect([lines, others]).toEqual([200, []]);
  expect(bytes).toBeGreaterThan(200 * body.length);
  expect((await shell(`${command('export')} | head -c 100`)).output).toHaveLength(100);
});

it('serves the page, also of a restarted stack, until npm ends', async () => {
  const { folder, name, url } = table;
  const args = ['--data', folder, '--as', 'olga'];
  const child = spawn('npm', ['run', '--silent', 'inbox', '--', ...args], { cwd: ROOT });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const address =
    /^Inbox +(?<opened>http:\/\/127\.0\.0\.1:(?<port>\d+)\/open\?secret=[\w-]{43})\n$/;
  const { opened = '', port = '' } = address.exec(line.toString())?.groups ?? {};
  const { headers } = await fetch(opened, { redirect: 'manual' });
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  const read = async () => (await fetch(new URL('/', opened), { headers: { cookie } })).text();
  expect(await read()).toContain('Answers are stored as olga');
  for (const [engine, says] of [
    ['http://127.0.0.1:9', 'The engine of the local stack cannot be reached (ECONNREFUSED).'],
    [url, '0 unanswered'],
  ] as const) {
    writeState(folder, { engine, table: name });
    expect(await read()).toContain(says);
  }
  expect(await table.run(`--port ${port}`)).toMatchObject({
    code: 2,
    stderr: containing('is in use; choose another with --port.'),
  });
  // npm does not pass this signal on.
  child.kill('SIGKILL');
  await expect.poll(() => isListening(Number(port))).toBe(false);
});
