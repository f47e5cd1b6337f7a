/**
 * The demo of the local stack: the page of another site, with a sign-in and a policy of its own, that embeds the form.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../lib/paths.ts';
import { hashOf, startPageServer } from '../../lib/page-server.ts';

const FOLDER = join(import.meta.dirname, 'demo');
const OIDC_CLIENT = join(ROOT, 'node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js');

/** Addresses of the running stack, which replace their names in the page. */
interface DemoConfig {
  readonly issuer: string;
  readonly apiUrl: string;
  readonly formUrl: string;
}

/** Serves the page on a loopback port. @throws Error with `code` EADDRINUSE and `port` when the port is taken. */
export const startDemoServer = (port: number) =>
  startPageServer<DemoConfig>({
    port,
    folder: FOLDER,
    openerPolicy: 'same-origin',
    find(path, config) {
      if (path === '/oidc-client-ts.min.js') {
        return { type: 'text/javascript', data: readFileSync(OIDC_CLIENT, 'utf8') };
      }
      if (path !== '/') return undefined;
      return { type: 'text/html; charset=utf-8', data: readPage(config) };
    },
    policy(config) {
      const [, script = ''] = /<script type="module">(.*?)<\/script>/s.exec(readPage(config)) ?? [];
      return [
        `script-src-elem 'self' ${config.formUrl} ${hashOf(script)}`,
        "style-src 'self'",
        'img-src data:',
        `connect-src ${config.issuer} ${config.apiUrl}`,
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ];
    },
  });

/** It is read on each request. */
function readPage(config: DemoConfig): string {
  const page = readFileSync(join(FOLDER, 'index.html'), 'utf8');
  return page.replaceAll(
    /\{(issuer|apiUrl|formUrl)\}/g,
    (_, name: keyof DemoConfig) => config[name],
  );
}
