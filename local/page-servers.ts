import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { startPageServer } from '../lib/page-server.ts';
import { ROOT } from '../lib/paths.ts';

export interface Addresses {
  apiUrl: string;
  issuer: string;
  formUrl: string;
}
export type FindAddresses = () => Addresses | undefined;

/** Default ports, which the files name. */
const PORTS: Record<string, keyof Addresses> = {
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
        (_, name: string) => addresses[PORTS[name] ?? 'apiUrl'],
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
      '/element.md': 'web/README.md',
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
