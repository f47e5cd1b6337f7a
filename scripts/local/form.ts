/** The contact form of the local stack: web/ as Vite builds it, with the config.json of the running stack. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { close, listen } from './server.ts';

const WEB = resolve(import.meta.dirname, '../../web');
const DIST = join(WEB, 'dist');
/** What a build depends on. */
const SOURCES = [
  'index.html',
  'vite.config.ts',
  'src/**/*',
  'public/**/*',
  '../src/contract.ts',
  '../package-lock.json',
];

/** What the form reads at its start. web/README.md */
export interface FormConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly apiUrl: string;
  readonly scopes: string;
}

export interface FormServer {
  readonly url: string;
  /** From now on the page finds this in config.json; before, it gets 503. */
  configure(config: FormConfig): void;
  close(): Promise<void>;
}

/** Builds web/dist where it is missing or older than its sources. Returns whether it had to. */
export async function buildFormWhenStale(): Promise<boolean> {
  const newest = Math.max(
    ...SOURCES.flatMap((pattern) => globSync(pattern, { cwd: WEB })).map((file) => timeOf(join(WEB, file))),
  );
  if (timeOf(join(DIST, 'index.html')) > newest) return false;
  await buildForm();
  return true;
}

/** Builds web/dist. Vite is loaded only then. */
export async function buildForm(): Promise<void> {
  const { build } = await import('vite');
  await build({ configFile: join(WEB, 'vite.config.ts'), logLevel: 'warn' });
}

function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Serves the form on a loopback port, as a host of static files does: with headers that a page cannot set itself. */
export async function startFormServer(port: number): Promise<FormServer> {
  let config: FormConfig | undefined;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    for (const [name, value] of Object.entries(headersFor(config))) response.setHeader(name, value);
    if (pathname === '/config.json') return sendConfig(response, config);
    const file = resolve(DIST, `.${pathname === '/' ? '/index.html' : pathname}`);
    const type = TYPES[extname(file)];
    if (!file.startsWith(DIST + sep) || type === undefined || timeOf(file) === 0) {
      return void response.writeHead(404, { 'content-type': 'text/plain' }).end('Not Found\n');
    }
    // Files under assets/ have their content's hash in the name.
    const cache = pathname.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache';
    response.writeHead(200, { 'content-type': type, 'cache-control': cache }).end(readFileSync(file));
  });
  return {
    url: `http://127.0.0.1:${await listen(server, port)}`,
    configure: (value) => void (config = value),
    close: () => close(server),
  };
}

function sendConfig(response: ServerResponse, config: FormConfig | undefined): void {
  if (config === undefined) return void response.writeHead(503).end();
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  response.writeHead(200, headers).end(`${JSON.stringify(config, null, 2)}\n`);
}

/** As the page's own policy, but with the addresses of this stage by name, and against framing. docs/adr/0053 */
function headersFor(config: FormConfig | undefined): Record<string, string> {
  const origins =
    config === undefined ? [] : [config.issuer, config.apiUrl].map((url) => new URL(url).origin);
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      `connect-src ${["'self'", ...origins].join(' ')}`,
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  };
}
