import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../lib/paths.ts';

/** The text of a file of this repository. */
export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
