/** The docs page of the local stack: curl commands, the guides as text, and docs/openapi.yaml for this stack. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { startPageServer, type Content } from '../../lib/page-server.ts';
import { ROOT } from '../../lib/paths.ts';

const FOLDER = join(import.meta.dirname, 'docs');

interface DocsConfig {
  /** The address of the running gateway. */
  readonly gateway: string;
}

/** Serves the page on a loopback port. @throws Error with `code` EADDRINUSE and `port` when the port is taken. */
export const startDocsServer = (port: number) =>
  startPageServer<DocsConfig>({
    port,
    folder: FOLDER,
    openerPolicy: 'same-origin',
    find,
    policy: () => ["style-src 'self'", 'img-src data:'],
  });

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Texts by their paths. */
const TEXTS: Readonly<Record<string, string>> = {
  '/contract.md': 'docs/contract.md',
  '/front-end.md': 'docs/front-end.md',
  '/element.md': 'web/README.md',
};

/** The content of a path. It is read on each request, so that a change needs no restart. */
function find(path: string, { gateway }: DocsConfig): Content | undefined {
  if (path === '/') {
    const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
    const data = html.replaceAll('{api}', `${gateway}/inquiries`);
    return { type: 'text/html; charset=utf-8', data };
  }
  if (path === '/openapi.yaml') {
    return { type: 'application/yaml', data: stringify(readDocument(gateway)) };
  }
  const file = TEXTS[path];
  return file === undefined ? undefined : { type: 'text/plain; charset=utf-8', data: read(file) };
}

/** The document with the running gateway as its server. */
function readDocument(gateway: string): object {
  const document = parse(read('docs/openapi.yaml')) as object;
  return { ...document, servers: [{ url: gateway, description: 'The service on this machine.' }] };
}
