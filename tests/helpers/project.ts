/**
 * A temporary folder that stands in for the project, for commands that read and write files of it: a test file mocks
 * lib/paths.ts with `paths`. It imports nothing that needs lib/paths.ts.
 */
import { mkdirSync, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempDisposableSync(join(tmpdir(), 'project-'));
const { path: ROOT } = folder;
export const paths = {
  ROOT,
  MODULE: join(ROOT, 'infra/terraform'),
  WEB: join(ROOT, 'web'),
  DATA_FOLDER: join(ROOT, '.data'),
};

/** Empties the folder. */
export function resetProject(): void {
  folder.remove();
  for (const name of ['dist', 'tmp', 'infra/terraform/bootstrap', 'web/dist/assets']) {
    mkdirSync(join(ROOT, name), { recursive: true });
  }
}

export const removeProject = (): void => folder.remove();
