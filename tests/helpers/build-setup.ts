import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildPageWhenStale } from '../../lib/page-build.ts';
import { ROOT } from '../../lib/paths.ts';
import { main } from '../../scripts/build.ts';

const SOURCES = ['{src,scripts}/**/*.ts', 'package-lock.json'];

export async function setup(): Promise<void> {
  const timeOf = (file: string): number =>
    statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newest = Math.max(...globSync(SOURCES, { cwd: ROOT }).map(timeOf));
  const oldest = Math.min(...['dist/handler.mjs', 'dist/mailer.zip'].map(timeOf));
  if (oldest < newest) await main([], process);
  for (const page of ['web', 'inbox/page']) await buildPageWhenStale(join(ROOT, page));
}
