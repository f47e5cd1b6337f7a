import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../lib/paths.ts';

/** The text of a file of this repository. */
export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The import lines of docs/runbook.md, of the stages' module or of bootstrap: ids with their placeholders, by address. */
export const readImports = (module: 'stages' | 'bootstrap') =>
  new Map(
    [
      ...readText('docs/runbook.md').matchAll(
        /^terraform import (-var=\S+ )?'?([\w.[\]"@-]+)'? (\S+)/gm,
      ),
    ]
      .filter(([, option]) => (option === undefined) === (module === 'stages'))
      .map(([, , address = '', id = '']) => [address, id] as const),
  );
