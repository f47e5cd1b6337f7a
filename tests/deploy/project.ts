/** A temporary folder as the project, in place of lib/paths.ts, which nothing here may need. */
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

export function resetProject(): void {
  folder.remove();
  for (const name of ['dist', 'tmp', 'infra/terraform/bootstrap', 'web/dist/assets']) {
    mkdirSync(join(ROOT, name), { recursive: true });
  }
}

export const removeProject = (): void => folder.remove();
