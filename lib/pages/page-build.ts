import { globSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { InlineConfig, ViteDevServer } from 'vite';
import { openFolder } from '../terminal/command-line.ts';
import { ROOT, WEB } from '../paths.ts';

export const FORM_OUTPUT = join(WEB, 'dist');

/**
 * Builds the form and its custom element if they are missing or older than their sources.
 *
 * @returns Whether it did.
 */
export async function buildFormWhenStale(): Promise<boolean> {
  const files = ['web/*.*', 'web/{src,public}/**/*', '{ui,text,src}/**/*', 'package-lock.json'];
  const sources = globSync(files, { cwd: ROOT }).map((file) => join(ROOT, file));
  // This file is written last, so an interrupted build is repeated.
  const last = join(FORM_OUTPUT, 'inquiry-form.js');
  if (!isStale(last, sources)) return false;
  await buildForm();
  return true;
}

/** @throws UsageError if its output cannot be written. */
async function buildForm(): Promise<void> {
  openFolder(FORM_OUTPUT, 'output');
  // Loading Vite takes a second.
  const { build } = await import('vite');
  await build({ ...CONFIG, logLevel: 'silent' });
  await build({ ...CONFIG, mode: 'element', logLevel: 'silent' });
}

/**
 * Starts Vite's development server without a port.
 *
 * @param server - Answers with `middlewares`, and takes the WebSocket connections.
 */
export async function startLiveForm(server: Server): Promise<ViteDevServer> {
  const { createServer } = await import('vite');
  return createServer({
    ...CONFIG,
    // With the default, every path would be the page.
    appType: 'mpa',
    clearScreen: false,
    // Dependencies are ES modules. Bundling them would write to node_modules, which checkouts may share.
    optimizeDeps: { noDiscovery: true },
    server: {
      middlewareMode: true,
      ws: { server },
      cors: false,
      // Vite serves imported files, too, but no others, such as the issuer's key.
      fs: { allow: [WEB] },
    },
    plugins: [
      {
        name: 'policy-of-the-header',
        // The policy in the page forbids Vite's client, the header's does not.
        transformIndexHtml: (html) =>
          html.replace(/<meta\s+http-equiv="Content-Security-Policy"[^>]*>/, ''),
      },
    ],
  });
}

const CONFIG: InlineConfig = { configFile: join(WEB, 'vite.config.ts') };

const timeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** A missing file is stale. */
export const isStale = (file: string, sources: readonly string[]): boolean =>
  timeOf(file) <= Math.max(...sources.map(timeOf));
