import { globSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { InlineConfig, ViteDevServer } from 'vite';
import { openFolder } from '../terminal/command-line.ts';
import { UI, WEB } from '../paths.ts';

export const outputOf = (page: string): string => join(page, 'dist');

/**
 * Builds a page whose output is missing or older than its sources.
 *
 * @param page - The folder of its index.html.
 * @returns Whether it was built.
 */
export async function buildPageWhenStale(page: string): Promise<boolean> {
  const sources = [page, WEB, UI].flatMap((folder) =>
    globSync(['*.*', '{src,public}/**/*'], { cwd: folder }).map((file) => join(folder, file)),
  );
  // Written last: an interrupted build is repeated.
  const last = page === WEB ? 'inquiry-form.js' : 'index.html';
  const lock = join(WEB, '../package-lock.json');
  if (!isStale(join(outputOf(page), last), [...sources, lock])) return false;
  await buildPage(page);
  return true;
}

/** @throws UsageError if its output cannot be written. */
export async function buildPage(page: string): Promise<void> {
  openFolder(outputOf(page), 'output');
  // Loading Vite takes a second.
  const { build } = await import('vite');
  await build({ ...configOf(page), logLevel: 'silent' });
  // The custom element is beside the form.
  if (page === WEB) {
    await build({ ...configOf(page), mode: 'element', logLevel: 'silent' });
  }
}

/**
 * Vite's development server without a port.
 *
 * @param server - Answers with `middlewares`, and takes the WebSocket connections.
 */
export async function startLivePage(page: string, server: Server): Promise<ViteDevServer> {
  const { createServer } = await import('vite');
  return createServer({
    ...configOf(page),
    // Otherwise every path would be the page.
    appType: 'mpa',
    clearScreen: false,
    // Dependencies are ES modules. Bundling them would write to node_modules, which checkouts may share.
    optimizeDeps: { noDiscovery: true },
    server: {
      middlewareMode: true,
      ws: { server },
      cors: false,
      // Imported files are served, too, but no others, such as the issuer's key.
      fs: { allow: [page] },
    },
    plugins: [
      {
        name: 'policy-of-the-header',
        // The page's policy forbids Vite's client; the header's allows it.
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

const timeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Whether a file is missing or older than one of its sources. */
export const isStale = (file: string, sources: readonly string[]): boolean =>
  timeOf(file) <= Math.max(...sources.map(timeOf));
