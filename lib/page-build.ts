/** Builds the pages with Vite, or serves them from their sources, as web/vite.config.ts says. */
import { globSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { InlineConfig, ViteDevServer } from 'vite';
import { openFolder } from './command-line.ts';
import { UI, WEB } from './paths.ts';

/** Where the build of a page lies. */
export const outputOf = (page: string): string => join(page, 'dist');

/**
 * Builds a page if its output is missing or older than its sources, web/, ui/ and the dependencies. A build takes seconds,
 * and Vite itself does not know whether one is needed.
 *
 * @param page - The folder of its index.html.
 * @returns Whether it was built.
 */
export async function buildPageWhenStale(page: string): Promise<boolean> {
  const sources = [page, WEB, UI].flatMap((folder) =>
    globSync(['*.*', '{src,public}/**/*'], { cwd: folder }).map((file) => join(folder, file)),
  );
  const newest = Math.max(...[...sources, join(WEB, '../package-lock.json')].map(timeOf));
  // Written last: a build that was interrupted is done again.
  const last = page === WEB ? 'inquiry-form.js' : 'index.html';
  if (timeOf(join(outputOf(page), last)) > newest) return false;
  await buildPage(page);
  return true;
}

/** Builds a page. @throws UsageError when its output cannot be written. */
export async function buildPage(page: string): Promise<void> {
  openFolder(outputOf(page), 'output');
  // Imported here, because loading Vite takes a second.
  const { build } = await import('vite');
  await build({ ...configOf(page), logLevel: 'silent' });
  // The custom element lies next to the form.
  if (page === WEB) {
    await build({ configFile: join(WEB, 'vite.element.config.ts'), logLevel: 'silent' });
  }
}

/**
 * Starts Vite's development server for a page, without a port of its own.
 *
 * @param server - Answers with `middlewares`, and takes the WebSocket connections that announce changes.
 */
export async function startLivePage(page: string, server: Server): Promise<ViteDevServer> {
  const { createServer } = await import('vite');
  return createServer({
    ...configOf(page),
    // Without this, every path would be the page.
    appType: 'mpa',
    clearScreen: false,
    // All dependencies are ES modules. Bundling them would write to node_modules, which checkouts may share.
    optimizeDeps: { noDiscovery: true },
    server: {
      middlewareMode: true,
      ws: { server },
      cors: false,
      // Files that they import are served, too, but no others: the repository holds the issuer's key.
      fs: { allow: [page] },
    },
    plugins: [
      {
        name: 'policy-of-the-header',
        // The page's own policy forbids what Vite's client does; the header has one that allows it.
        transformIndexHtml: (html) =>
          html.replace(/<meta\s+http-equiv="Content-Security-Policy"[^>]*>/, ''),
      },
    ],
  });
}

const configOf = (page: string): InlineConfig => ({
  configFile: join(WEB, 'vite.config.ts'),
  root: page,
  publicDir: join(WEB, 'public'),
});

/** Milliseconds since the epoch, 0 when there is no such file. */
function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
