/** The commands of the documents, run as they are printed. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { HOUR } from '../../src/limits.ts';
import { folder, noJava, noTerminal, start } from '../helpers/npm-start.ts';
import { readText } from '../helpers/repository.ts';

/** An id, or its beginning that is the reference. */
const UUID = /\b[\da-f]{8}-[\da-f]{4}(?:(?:-[\da-f]{4}){2}-[\da-f]{12})?\b/g;

/** What a page shows: commands after `$ `, each with the lines that it prints. */
function readConsole(file: string): { command: string; output: string }[] {
  const blocks = [...readText(file).matchAll(/^```console\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  );
  return blocks.flatMap((block) =>
    [...block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command = '', output = '']) => ({
      command,
      output,
    })),
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

it.skipIf((noJava ?? noTerminal) !== undefined)(
  'prints what README.md, docs/inbox.md and docs/front-end.md show',
  async () => {
    // Limits count by the hour.
    const left = HOUR - (Date.now() % HOUR);
    if (left < 60_000) await sleep(left);
    const data = join(folder, 'readme');
    const command = ['npm', 'start', '--'];
    const env = { INQUIRIES_PER_HOUR: '1' };
    const { api, stop } = await start(data, ['--port', '0'], { command, env });
    // The commands find this stack instead of one of the developer's.
    const definitions = [
      `npm() { case "$*" in *" -- "*) set -- "$@" ;; *) set -- "$@" -- ;; esac; command npm "$@" --data ${data}; }`,
    ];
    const ids = new Map<string, string>();
    for (const { command: printed, output } of [
      'README.md',
      'docs/inbox.md',
      'docs/front-end.md',
    ].flatMap(readConsole)) {
      const own = printed
        .replace('http://127.0.0.1:3000/inquiries', api)
        .replaceAll(UUID, (id) => ids.get(id) ?? id);
      if (output === '') {
        definitions.push(own);
        continue;
      }
      // At a terminal, where the inbox prints tables.
      const script = [...definitions, own].join('\n');
      const actual = execFileSync(
        'script',
        ['--quiet', '--return', '--command', script, '/dev/null'],
        {
          cwd: ROOT,
          encoding: 'utf8',
          env: { ...process.env, SHELL: '/bin/bash' },
        },
      );
      expect(`${printed}\n${normalize(actual)}`).toBe(`${printed}\n${normalize(output)}`);
      const actualIds = actual.match(UUID) ?? [];
      for (const [at, id] of (output.match(UUID) ?? []).entries()) ids.set(id, actualIds[at] ?? id);
    }
    expect(ids.size).toBeGreaterThan(1);
    await stop('SIGTERM');
  },
  // Some twenty processes of npm, which take a second each on a busy machine.
  180_000,
);
