/** The docs page of the local stack: curl commands, the guides and docs/openapi.yaml as text, for this stack. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPageServer } from '../../lib/page-server.ts';
import { ROOT } from '../../lib/paths.ts';

/** Files by their paths. */
const FILES: Readonly<Record<string, string>> = {
  '/': 'local/pages/docs/index.html',
  '/contract.md': 'docs/contract.md',
  '/front-end.md': 'docs/front-end.md',
  '/element.md': 'web/README.md',
  '/openapi.yaml': 'docs/openapi.yaml',
};

interface DocsConfig {
  /** The address of the running gateway, which replaces the default one. */
  readonly gateway: string;
}

/** Serves the page on a loopback port. @throws Error with `code` EADDRINUSE and `port` when the port is taken. */
export const startDocsServer = (port: number) =>
  startPageServer<DocsConfig>({
    port,
    folder: join(import.meta.dirname, 'docs'),
    openerPolicy: 'same-origin',
    find(path, { gateway }) {
      const file = FILES[path];
      if (file === undefined) return undefined;
      const text = readFileSync(join(ROOT, file), 'utf8');
      const data = text.replaceAll('http://127.0.0.1:3000', gateway);
      return { type: `text/${path === '/' ? 'html' : 'plain'}; charset=utf-8`, data };
    },
    policy: () => ["style-src 'self'", 'img-src data:'],
  });
