/** Serves the contact form: web/ as Vite builds it, and the config.json of the running stack. */
import { globSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { openFolder } from '../cli.ts';
import { splitTarget } from './event.ts';
import { replies } from './replies.ts';
import { close, listen } from './server.ts';
import { findFile, sendContent } from './static.ts';

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

export interface FormServer {
  readonly url: string;
  /** Starts serving the form; until then every request gets 503. */
  configure(config: FormConfig): void;
  close(): Promise<void>;
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
 * Serves the form on a loopback port.
 *
 * @throws Error with `code` EADDRINUSE and `port` when the port is taken.
 */
export async function startFormServer(port: number): Promise<FormServer> {
  let config: FormConfig | undefined;
  const server = createServer((request, response) => {
    const { rawPath } = splitTarget(request);
    if (config === undefined) return void response.writeHead(replies.unavailable.status).end();
    // One origin of the form is registered with issuer and gateway; `localhost` is another one.
    if (request.headers.host !== new URL(url).host) {
      return void response.writeHead(302, { location: url }).end();
    }
    const content =
      rawPath === '/config.json'
        ? { name: rawPath, data: JSON.stringify(config, null, 2) }
        : findFile(DIST, rawPath === '/' ? '/index.html' : rawPath);
    return sendContent(request, response, content, {
      'content-security-policy': policyFor(config),
      'cross-origin-opener-policy': 'same-origin',
    });
  });
  const url = `http://127.0.0.1:${await listen(server, port)}`;
  return { url, configure: (value) => void (config = value), close: () => close(server) };
}

/** The page's own policy with the addresses of this stack, and without framing. docs/adr/0053 */
function policyFor({ issuer, apiUrl }: FormConfig): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${issuer} ${apiUrl}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
