/**
 * Deletes rooms in a copy of this checkout, as docs/architecture.md says: each alone, then all. The rest must compile;
 * without all of them, the tests of function, texts and local stack must pass.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../lib/paths.ts';
import { parseOptions, runCommand, type Main } from '../lib/terminal/command-line.ts';

const SECTION = /^## Leave rooms out\n([^]*?)^## /m;

export const main: Main = async (args, { stdout }) => {
  parseOptions('Usage: npm run test:rooms', {}, args);
  const [, section = ''] =
    SECTION.exec(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')) ?? [];
  const scripts = Array.from(
    section.matchAll(/^```sh\n([^]*?)^```$/gm),
    ([, script = '']) => script,
  );
  if (scripts.length === 0) throw new Error('docs/architecture.md has no rooms to leave out.');
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' });
  for (const script of [...scripts, scripts.join('')]) {
    const folder = mkdtempSync(join(tmpdir(), 'rooms-'));
    const run = (file: string, ...words: string[]) =>
      execFileSync(file, words, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
    stdout.write(script.replaceAll(/^(?!#).*\n/gm, ''));
    try {
      for (const file of files.split('\0').filter(Boolean)) {
        cpSync(join(ROOT, file), join(folder, file));
      }
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      run('bash', '-euc', script);
      run('tsc');
      run('tsc', '-p', 'web');
      if (script === scripts.join('')) {
        run('vitest', 'run', '--project=plain', 'tests/function', 'tests/text', 'tests/local');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return 0;
};

if (import.meta.main) await runCommand(main);
