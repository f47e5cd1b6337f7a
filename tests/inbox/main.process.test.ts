/** `npm run inbox` as a process: pipes, signals and memory. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, inject, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { hang } from '../helpers/fault-proxy.ts';
import { openInbox } from '../helpers/inbox.ts';
import { toEnvironment } from '../helpers/own-table.ts';
import { readText } from '../helpers/repository.ts';

const COMMAND = `'${process.execPath}' inbox/main.ts --data "$DATA"`;
const options = { cwd: ROOT, maxBuffer: Infinity };

let table: Awaited<ReturnType<typeof openInbox>>;
beforeEach(async () => {
  table = await openInbox();
});

/** Runs a line of a shell. */
const shell = (line: string) =>
  new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const env = { ...process.env, DATA: table.folder };
    const child = execFile('sh', ['-c', line], { ...options, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });

it('answers with a text from a pipe, and ends with an exit code', async () => {
  const { id } = await table.add(1);
  const reply = `echo 'Yes.' | ${COMMAND} reply ${id} --as Ana`;
  expect(await shell(reply)).toMatchObject({ code: 0, stderr: '' });
  expect(await table.inbox.get(id)).toMatchObject({ reply: 'Yes.', respondent: 'Ana' });
  expect(await shell(reply)).toMatchObject({ code: 3, stdout: '' });
});

/** The lines of a document's shell blocks that use the inbox. */
const pipesOf = (file: string): string[] =>
  [...readText(file).matchAll(/^```sh\n(.*?)^```/gms)]
    .flatMap(([, block = '']) => block.trim().split('\n'))
    .filter((line) => line.includes('inbox --'));

it.each([...pipesOf('docs/inbox.md'), ...pipesOf('docs/backup.md')])(
  'prints data only, as it is documented: %s',
  async (line) => {
    const { email } = await table.add(1);
    const place = mkdtempSync(join(table.folder, 'place-'));
    // npm itself, on this table.
    const shim = join(place, 'npm');
    const tables = line.includes('--stage')
      ? `--table ${table.name} --erasures e`
      : `--data '${table.folder}'`;
    writeFileSync(shim, `#!/bin/sh\ncd '${ROOT}' && PATH="$BEFORE" exec npm "$@" ${tables}\n`);
    chmodSync(shim, 0o755);
    const before = process.env['PATH'];
    const env = {
      ...process.env,
      ...toEnvironment(table.engine),
      BEFORE: before,
      PATH: `${place}:${before}`,
    };
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: place, env });
    const files = readdirSync(place).filter((name) => name !== 'npm');
    const printed = stdout + files.map((name) => readFileSync(join(place, name), 'utf8')).join();
    expect(printed).toMatch(/^(\uFEFF"id",|\{"id":|\d+\n$| *1 ana@example)/);
    expect(printed.includes(email) || /^\d+\n$/.test(printed)).toBe(true);
  },
);

it('leaves no part of an exported file after a signal', async () => {
  table.meet((_, operation) => (operation === 'Scan' ? hang : undefined));
  const place = mkdtempSync(join(table.folder, 'out-'));
  const args = ['inbox/main.ts', 'export', '--data', table.folder, '--out'];
  const start = (file: string) => spawn(process.execPath, [...args, join(place, file)], options);
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
  const { stdout, stderr } = await shell(
    `'${process.execPath}' --max-old-space-size=64 inbox/main.ts --data "$DATA" export | wc -lc`,
  );
  expect(stderr).toBe('');
  const [lines = 0, bytes = 0] = stdout.trim().split(/\s+/).map(Number);
  expect(lines).toBe(200);
  expect(bytes).toBeGreaterThan(200 * body.length);
  const cut = await shell(`${COMMAND} export | head -c 100`);
  expect([cut.stdout.length, cut.stderr]).toEqual([100, '']);
});
