/**
 * The docs page of the local stack: docs/openapi.yaml in Swagger UI, and as a file. Users can sign in at the local
 * issuer and try the operations, for which the gateway's CORS allows the page's origin. docs/adr/0017
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenAPIV3_1 } from 'openapi-types';
import sirv from 'sirv';
import { parse, stringify } from 'yaml';
import { startPageServer, type Content } from '../../lib/page-server.ts';
import { ROOT } from '../../lib/paths.ts';

/** Texts of the repository by their path on this server. */
const GUIDES = new Map([
  ['/front-end.md', 'docs/front-end.md'],
  ['/element.md', 'web/README.md'],
]);
const FOLDER = join(import.meta.dirname, 'docs');
/** In this mode sirv reads files on each request. */
const sendPage = sirv(FOLDER, { dev: true });
const sendSwaggerUi = sirv(
  dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css'))),
  {
    dev: true,
  },
);

/** Addresses of the running stack. */
interface DocsConfig {
  readonly gateway: string;
  readonly issuer: string;
  readonly clientId: string;
}

export type DocsServer = Awaited<ReturnType<typeof startDocsServer>>;

/** Serves the page on a loopback port. @throws Error with `code` EADDRINUSE and `port` when the port is taken. */
export const startDocsServer = (port: number) =>
  startPageServer<DocsConfig>({
    port,
    folder: FOLDER,
    send(request, response, next) {
      // The path that the issuer registers for each origin.
      request.url = request.url?.replace(/^\/callback(?=\?|$)/, '/oauth2-redirect.html');
      sendPage(request, response, () => sendSwaggerUi(request, response, next));
    },
    // Swagger UI's sign-in opens a window that calls back.
    openerPolicy: 'unsafe-none',
    find,
    // Swagger UI's style sheet embeds its images.
    policy: ({ issuer, gateway }) => [
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      `connect-src 'self' ${issuer} ${gateway}`,
    ],
  });

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The content of a path. It is read on each request, so that a change needs no restart. */
function find(path: string, config: DocsConfig): Content | undefined {
  const guide = GUIDES.get(path);
  if (guide !== undefined) return { type: 'text/plain; charset=utf-8', data: read(guide) };
  if (!['/', '/openapi.json', '/openapi.yaml', '/page.json'].includes(path)) return undefined;
  const document = readDocument(config);
  if (path === '/') {
    const html = readFileSync(join(FOLDER, 'index.html'), 'utf8').replace(
      '{version}',
      document.info.version,
    );
    return {
      type: 'text/html; charset=utf-8',
      data: html.replaceAll('{api}', `${config.gateway}/inquiries`),
    };
  }
  if (path === '/openapi.yaml') {
    return {
      type: 'application/yaml',
      data: stringify(document, { aliasDuplicateObjects: false }),
    };
  }
  const page = { clientId: config.clientId, spec: toPageDocument(document, config) };
  const data = JSON.stringify(path === '/page.json' ? page : document, null, 2);
  return { type: 'application/json', data };
}

/** The document with the running gateway as its server. */
function readDocument({ gateway }: DocsConfig): OpenAPIV3_1.Document {
  const document = parse(read('docs/openapi.yaml')) as OpenAPIV3_1.Document;
  return { ...document, servers: [{ url: gateway, description: 'The service on this machine.' }] };
}

/** The document for Swagger UI: sign-in is an OAuth2 scheme. */
function toPageDocument({ components, ...document }: OpenAPIV3_1.Document, { issuer }: DocsConfig) {
  const signIn = {
    type: 'oauth2',
    description: 'Signs in at the local issuer and sends the ID token.',
    'x-tokenName': 'id_token',
    flows: {
      authorizationCode: {
        authorizationUrl: `${issuer}/oauth2/authorize`,
        tokenUrl: `${issuer}/oauth2/token`,
        scopes: { openid: 'the claims email and sub' },
      },
    },
  };
  return {
    ...document,
    security: [{ signIn: [] }, ...(document.security ?? [])],
    components: { ...components, securitySchemes: { signIn, ...components?.securitySchemes } },
  };
}
