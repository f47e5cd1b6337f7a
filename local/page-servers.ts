/** Serves the form, the demo and the API's documents. docs/adr/0017 */
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { ViteDevServer } from 'vite';
import { FORM_OUTPUT, startLiveForm } from '../lib/pages/page-build.ts';
import { hashOf, startPageServer } from '../lib/pages/page-server.ts';
import { ROOT } from '../lib/paths.ts';

export interface Addresses {
  apiUrl: string;
  issuer: string;
  formUrl: string;
}
export type FindAddresses = () => Addresses | undefined;

const DEFAULT_PORTS: Record<string, keyof Addresses> = {
  3000: 'apiUrl',
  3001: 'issuer',
  3003: 'formUrl',
};
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

const startTextServer = (
  port: number,
  files: Record<string, string>,
  configure: FindAddresses,
  policy: (addresses: Addresses) => string[],
) =>
  startPageServer<Addresses>({
    port,
    folder: join(ROOT, 'local/pages'),
    configure,
    find(path, addresses) {
      const file = files[path];
      if (file === undefined) return undefined;
      const data = readFileSync(join(ROOT, file), 'utf8').replaceAll(
        /http:\/\/127\.0\.0\.1:(300[013])/g,
        (_, name: string) => addresses[DEFAULT_PORTS[name] ?? 'apiUrl'],
      );
      return { type: `${TYPES[extname(file)] ?? 'text/plain'}; charset=utf-8`, data };
    },
    policy: (addresses) => ["style-src 'self'", 'img-src data:', ...policy(addresses)],
  });

export const startDocsServer = (port: number, configure: FindAddresses) =>
  startTextServer(
    port,
    {
      '/': 'local/pages/docs.html',
      '/contract.md': 'docs/contract.md',
      '/front-end.md': 'docs/front-end.md',
      '/element.md': 'web/package/README.md',
      '/openapi.yaml': 'docs/openapi.yaml',
    },
    configure,
    () => [],
  );

export const startDemoServer = (port: number, configure: FindAddresses) =>
  startTextServer(
    port,
    {
      '/': 'local/pages/demo.html',
      '/demo.js': 'local/pages/demo.js',
      '/oidc-client-ts.min.js': 'node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js',
    },
    configure,
    ({ apiUrl, issuer, formUrl }) => [
      `script-src-elem 'self' ${formUrl}`,
      `connect-src ${issuer} ${apiUrl}`,
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ],
  );

interface FormConfig extends Record<string, unknown> {
  issuer: string;
  clientId: string;
  apiUrl: string;
}

const hashOfFile = (file: string): string => hashOf(readFileSync(join(ROOT, file), 'utf8'));

/**
 * @param options.embedders - Origins that may load the custom element's sources; the built one is open to any.
 * @param options.live - Serves the sources with Vite.
 */
export async function startFormServer(
  port: number,
  {
    live,
    embedders,
    configure,
  }: {
    live: boolean;
    embedders: readonly string[];
    configure(): FormConfig | undefined;
  },
) {
  let vite: ViteDevServer | undefined;
  const page = await startPageServer<FormConfig>({
    port,
    folder: FORM_OUTPUT,
    configure,
    find: (path, config) =>
      path === '/config.json'
        ? { type: 'application/json', data: JSON.stringify(config, null, 2) }
        : undefined,
    policy: ({ issuer, apiUrl }, url) => [
      "img-src 'self'",
      ...(live
        ? [
            "script-src 'self'",
            "style-src 'self'",
            `connect-src 'self' ${issuer} ${apiUrl} ${url.replace('http', 'ws')}`,
            // Vite's client needs the next two.
            "style-src-elem 'self' 'unsafe-inline'",
            'worker-src blob:',
          ]
        : [
            `script-src 'self' ${hashOfFile('web/src/first-paint.js')}`,
            `style-src 'self' ${hashOfFile('ui/first-paint.css')}`,
            `connect-src 'self' ${issuer} ${apiUrl}`,
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
          ]),
    ],
    allowOrigin: (origin) => (live ? embedders.find((one) => one === origin) : '*'),
    send: live
      ? (request, response, next) => {
          if (request.url === '/inquiry-form.js') request.url = '/src/element.ts';
          vite?.middlewares(request, response, next);
        }
      : undefined,
  });
  if (live) vite = await startLiveForm(page.server);
  return {
    url: page.url,
    async close(): Promise<void> {
      await vite?.close();
      await page.close();
    },
  };
}
