import { globSync } from 'node:fs';
import { join } from 'node:path';
import { buildFormWhenStale, isStale } from '../../lib/pages/page-build.ts';
import { ROOT } from '../../lib/paths.ts';
import { main } from '../../scripts/build.ts';

export async function setup(): Promise<void> {
  const sources = globSync(
    [
      '{src,text,mail,inbox,lib,ui,scripts}/**/*.{ts,json,js,css}',
      'package-lock.json',
      'saved-replies.json',
    ],
    { cwd: ROOT },
  );
  // The build writes these files last.
  const isOld = isStale(
    join(ROOT, 'dist/inbox.zip'),
    sources.map((file) => join(ROOT, file)),
  );
  if (isOld) await main([], process);
  await buildFormWhenStale();
}
