/** Serves the contact form: web/ as Vite builds it, and the config.json of the running stack. */
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openFolder } from '../cli.ts';
import { startPageServer } from './page-server.ts';

const WEB = join(import.meta.dirname, '../../web');
const DIST = join(WEB, 'dist');
/** What the build reads. */
const SOURCES = ['index.html', 'vite.config.ts', 'src/**/*', 'public/**/*', '../package-lock.json'];

/** The form's config.json. web/README.md */
interface FormConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly apiUrl: string;
}

/** Builds web/dist if it is missing or older than its sources. @returns Whether it was built. */
export async function buildFormWhenStale(): Promise<boolean> {
  const sources = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: WEB }));
  const newest = Math.max(...sources.map((file) => timeOf(join(WEB, file))));
  if (timeOf(join(DIST, 'index.html')) > newest) return false;
  await buildForm();
  return true;
}

/** Builds web/dist. @throws UsageError when it cannot be written. */
export async function buildForm(): Promise<void> {
  openFolder(DIST, 'output');
  // Loaded only when needed, which takes a second.
  const { build } = await import('vite');
  await build({ configFile: join(WEB, 'vite.config.ts'), logLevel: 'silent' });
}

/** Milliseconds since the epoch, 0 when there is no such file. */
function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * Serves the form on a loopback port, with the page's own policy and the addresses of this stack. docs/adr/0053
 *
 * @throws Error with `code` EADDRINUSE and `port` when the port is taken.
 */
export const startFormServer = (port: number) =>
  startPageServer<FormConfig>({
    port,
    folder: DIST,
    openerPolicy: 'same-origin',
    find: (path, config) =>
      path === '/config.json'
        ? { type: 'application/json', data: JSON.stringify(config, null, 2) }
        : undefined,
    policy: ({ issuer, apiUrl }) => [
      "img-src 'self'",
      `connect-src 'self' ${issuer} ${apiUrl}`,
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ],
  });
