/** The demo of the local stack: the page of another site, with a sign-in and a policy of its own, that embeds the form. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../lib/paths.ts';
import { startPageServer } from '../../lib/page-server.ts';

const FOLDER = join(import.meta.dirname, 'demo');
const OIDC_CLIENT = join(ROOT, 'node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js');

/** Addresses of the running stack; each replaces its {name} in the page. */
interface DemoConfig {
  readonly issuer: string;
  readonly clientId: string;
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
      if (path === '/oidc-client-ts.js') {
        return { type: 'text/javascript', data: readFileSync(OIDC_CLIENT, 'utf8') };
      }
      if (path !== '/') return undefined;
      const page = readFileSync(join(FOLDER, 'page.html'), 'utf8');
      const data = Object.entries(config).reduce(
        (html, [name, value]) => html.replace(`{${name}}`, value),
        page,
      );
      return { type: 'text/html; charset=utf-8', data };
    },
    policy: ({ issuer, apiUrl, formUrl }) => [
      `script-src-elem 'self' ${formUrl}`,
      "style-src 'self'",
      'img-src data:',
      `connect-src ${issuer} ${apiUrl}`,
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ],
  });
