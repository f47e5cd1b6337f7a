/** Builds the pages with Vite, as web/vite.config.ts says. */
import { globSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openFolder } from '../cli.ts';

const WEB = resolve(import.meta.dirname, '../../web');

/** Where the build of a page lies. */
export const outputOf = (page: string): string => join(page, 'dist');

/**
 * Builds a page if its output is missing or older than its sources, web/ and the dependencies.
 *
 * @param page - The folder of its index.html.
 * @returns Whether it was built.
 */
export async function buildPageWhenStale(page: string): Promise<boolean> {
  const sources = [page, WEB].flatMap((folder) =>
    globSync(['*.*', 'src/**/*', 'public/**/*'], { cwd: folder }).map((file) => join(folder, file)),
  );
  const newest = Math.max(...[...sources, join(WEB, '../package-lock.json')].map(timeOf));
  if (timeOf(join(outputOf(page), 'index.html')) > newest) return false;
  await buildPage(page);
  return true;
}

/** Builds a page. @throws UsageError when its output cannot be written. */
export async function buildPage(page: string): Promise<void> {
  openFolder(outputOf(page), 'output');
  // Loaded only when needed, which takes a second.
  const { build } = await import('vite');
  await build({
    configFile: join(WEB, 'vite.config.ts'),
    root: page,
    publicDir: join(WEB, 'public'),
    logLevel: 'silent',
  });
  // The custom element lies next to the form.
  if (page === WEB) await build({ configFile: join(WEB, 'vite.element.config.ts'), logLevel: 'silent' });
}

/** Milliseconds since the epoch, 0 when there is no such file. */
function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
