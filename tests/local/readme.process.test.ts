/** The commands of the README and of two guides, run as printed against `npm start`. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import { readText } from '../helpers/repository.ts';

/** An id, or its beginning that is the reference. */
const UUID = /\b[\da-f]{8}-[\da-f]{4}(?:(?:-[\da-f]{4}){2}-[\da-f]{12})?\b/g;
const hasTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') ?? false;
const reason = hasTerminal ? dynamoDbLocalUnavailableReason() : 'the `script` command of util-linux is missing';
if (reason !== undefined) process.stdout.write(`\nSKIPPED: the commands of the README, because ${reason}.\n`);

/** What a page shows: commands after `$ `, each with the lines that it prints. */
function readConsole(file: string): { command: string; output: string }[] {
  const blocks = [...readText(file).matchAll(/^```console\n(.*?)^```/gms)].map(([, text = '']) => text);
  return blocks.flatMap((block) =>
    [...block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command = '', output = '']) => ({ command, output })),
  );
}

/** Without what differs from run to run: progress that was erased, ids, times, seconds and the name of the operator. */
const normalize = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.split('\r\u001B[K').at(-1) ?? '')
    .join('\n')
    .replaceAll(UUID, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/^429 \d{1,4}\b/gm, '429 SECONDS')
    .replaceAll(/(?<=^ID +)\d+[smh] +/gm, 'AGE ')
    .replaceAll(/ as \S+\.$/gm, ' as NAME.')
    .replaceAll(/[ \r]+$/gm, '')
    .trimEnd();

it.skipIf(reason !== undefined)(
  'prints what README.md, docs/inbox.md and docs/front-end.md show',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inquiries-readme-'));
    const stack = spawn('npm', ['start', '--', '--port', '0', '--data', folder], {
      cwd: ROOT,
      env: { ...process.env, INQUIRIES_PER_HOUR: '1' },
    });
    const exit = once(stack, 'exit');
    onTestFinished(async () => {
      stack.kill('SIGTERM');
      await exit;
      rmSync(folder, { recursive: true });
    });
    let printed = '';
    stack.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await expect.poll(() => printed, { timeout: 60_000 }).toContain('curl -X POST');
    const api = /API +(\S+)/.exec(printed)?.[1] ?? '';

    // The commands find this stack instead of one of the developer's.
    const definitions = [
      `npm() { case "$*" in *" -- "*) set -- "$@" ;; *) set -- "$@" -- ;; esac; command npm "$@" --data ${folder}; }`,
    ];
    const ids = new Map<string, string>();
    for (const { command, output } of ['README.md', 'docs/inbox.md', 'docs/front-end.md'].flatMap(readConsole)) {
      const own = command.replace('http://127.0.0.1:3000/inquiries', api).replaceAll(UUID, (id) => ids.get(id) ?? id);
      if (output === '') {
        definitions.push(own);
        continue;
      }
      // At a terminal, where the inbox prints tables.
      const script = [...definitions, own].join('\n');
      const actual = execFileSync('script', ['--quiet', '--return', '--command', script, '/dev/null'], {
        cwd: ROOT,
        encoding: 'utf8',
        env: { ...process.env, SHELL: '/bin/bash' },
      });
      expect(`${command}\n${normalize(actual)}`).toBe(`${command}\n${normalize(output)}`);
      const actualIds = actual.match(UUID) ?? [];
      for (const [at, id] of (output.match(UUID) ?? []).entries()) ids.set(id, actualIds[at] ?? id);
    }
    expect(ids.size).toBeGreaterThan(1);
  },
  // Some twenty processes of npm, which take a second each on a busy machine.
  180_000,
);
