/** `npm run inbox` as a process: pipes, signals and memory. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, inject, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { hang } from '../helpers/fault-proxy.ts';
import { openInbox } from '../helpers/inbox.ts';
import { toEnvironment } from '../helpers/own-table.ts';
import { readText } from '../helpers/repository.ts';

let table: Awaited<ReturnType<typeof openInbox>>;
let place: string;
beforeEach(async () => {
  table = await openInbox();
  place = mkdtempSync(join(table.folder, 'place-'));
});

/** Runs a line of a shell in a folder of its own, on the table. */
const shell = (line: string) =>
  new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const env = { ...process.env, ...toEnvironment(table.engine) };
    const options = { cwd: place, env, maxBuffer: Infinity };
    const child = execFile('sh', ['-c', line], options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
const command = (verb: string, node = '') =>
  `'${process.execPath}' ${node} '${ROOT}/inbox/main.ts' --data '${table.folder}' ${verb}`;

it('answers with a text from a pipe, and ends with an exit code', async () => {
  const { id } = await table.add(1);
  const reply = `echo 'Yes.' | ${command(`reply ${id} --as Ana`)}`;
  expect(await shell(reply)).toMatchObject({ code: 0, stderr: '' });
  expect(await table.inbox.get(id)).toMatchObject({ reply: 'Yes.', respondent: 'Ana' });
  expect(await shell(reply)).toMatchObject({ code: 3, stdout: '' });
});

/** The lines of the documents' shell blocks that use the inbox. */
const documented = ['docs/inbox.md', 'docs/backup.md']
  .flatMap((file) => Array.from(readText(file).matchAll(/^```sh\n(.*?)^```/gms)))
  .flatMap(([, block = '']) => block.trim().split('\n'))
  .filter((line) => line.includes('inbox --'));

it.each(documented)('prints data only, as it is documented: %s', async (line) => {
  const { email } = await table.add(1);
  const tables = line.includes('--stage')
    ? `--table ${table.name} --erasures e`
    : `--data '${table.folder}'`;
  const { stdout } = await shell(line.replace('inbox --', `--prefix '${ROOT}' inbox -- ${tables}`));
  const files = readdirSync(place).map((name) => readFileSync(join(place, name), 'utf8'));
  const printed = stdout + files.join('');
  expect(printed).toMatch(/^(\uFEFF"id",|\{"id":|\d+\n$| *1 ana@example)/);
  expect(printed.includes(email) || /^\d+\n$/.test(printed)).toBe(true);
});

it('leaves no part of an exported file after a signal', async () => {
  table.meet((_, operation) => (operation === 'Scan' ? hang : undefined));
  const start = (file: string) =>
    spawn(
      process.execPath,
      ['inbox/main.ts', 'export', '--data', table.folder, '--out', join(place, file)],
      { cwd: ROOT },
    );
  const [first, second] = [start('x'), start('y')];
  const exits = Promise.all([once(first, 'exit'), once(second, 'exit')]);
  await expect.poll(() => readdirSync(place), { timeout: 30_000 }).toHaveLength(2);
  first.kill('SIGINT');
  second.kill('SIGTERM');
  expect(await exits).toEqual([
    [130, null],
    [143, null],
  ]);
  expect(readdirSync(place)).toEqual([]);
});

it('exports with a bounded amount of memory, and ends in silence when its reader ends first', async () => {
  // DynamoDB Local takes a minute for so many large rows.
  table = await openInbox({ engine: inject('engines').dynalite });
  const body = 'b'.repeat(399_000);
  for (let n = 0; n < 200; n += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, m) => table.add(n + m, { body })));
  }
  // 80 MB pass through a heap of 64 MB.
  const all = await shell(`${command('export', '--max-old-space-size=64')} | wc -lc`);
  const [lines, bytes] = all.stdout.trim().split(/\s+/).map(Number);
  expect([lines, all.stderr]).toEqual([200, '']);
  expect(bytes).toBeGreaterThan(200 * body.length);
  const { stdout, stderr } = await shell(`${command('export')} | head -c 100`);
  expect([stdout.length, stderr]).toEqual([100, '']);
});
