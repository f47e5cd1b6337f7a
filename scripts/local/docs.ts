/**
 * The docs page of the local stack: docs/openapi.yaml in Swagger UI, and as a file. Users can sign in at the local
 * issuer and try the operations. The gateway's CORS allows the contact form only, so the page calls its own origin,
 * which forwards requests to the gateway. docs/adr/0044
 */
import { readFileSync } from 'node:fs';
import { request as connect } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { inquiriesPath } from '../../src/contract.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { splitTarget } from './event.ts';
import { startPageServer } from './page-server.ts';
import type { Content } from './page-server.ts';
import { replies } from './replies.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/openapi.yaml');
const PAGE = readFileSync(join(import.meta.dirname, 'docs-page.html'), 'utf8');
const SWAGGER_UI = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css')));

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
    folder: SWAGGER_UI,
    // Swagger UI's sign-in opens a window that calls back.
    openerPolicy: 'unsafe-none',
    find,
    // Swagger UI's style sheet embeds its images.
    policy: ({ issuer }) => [
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      `connect-src 'self' ${issuer}`,
    ],
    handle(request, response, { gateway }) {
      const isCall = splitTarget(request).rawPath === inquiriesPath;
      if (isCall) forward(request, response, gateway);
      return isCall;
    },
  });

/** The content of a path. The document is read on each request, so a new one needs no restart. */
function find(path: string, config: DocsConfig, url: string): Content | undefined {
  const html = 'text/html; charset=utf-8';
  switch (path) {
    case '/':
      return { type: html, data: PAGE.replace('CLIENT_ID', config.clientId) };
    case '/callback':
      return { type: html, data: readFileSync(join(SWAGGER_UI, 'oauth2-redirect.html'), 'utf8') };
    case '/docs-page.js':
      return { type: 'text/javascript', data: readFileSync(join(import.meta.dirname, path), 'utf8') };
    case '/openapi.json':
      return { type: 'application/json', data: JSON.stringify(readDocument(config), null, 2) };
    case '/openapi.yaml':
      return {
        type: 'application/yaml',
        data: stringify(readDocument(config), { aliasDuplicateObjects: false }),
      };
    case '/page.json': {
      const document = toPageDocument(readDocument(config), url, config);
      return { type: 'application/json', data: JSON.stringify(document) };
    }
    default:
      return undefined;
  }
}

/** The document with the running gateway as its server. */
function readDocument({ gateway }: DocsConfig): OpenApiDocument {
  const document = parse(readFileSync(DOCUMENT, 'utf8')) as OpenApiDocument;
  return { ...document, servers: [{ url: gateway, description: 'The service on this machine.' }] };
}

/** The document for Swagger UI: calls go through this server, and sign-in is an OAuth2 scheme. */
function toPageDocument({ components, ...document }: OpenApiDocument, url: string, config: DocsConfig) {
  const signIn = {
    type: 'oauth2',
    description: 'Signs in at the local issuer and sends the ID token.',
    'x-tokenName': 'id_token',
    flows: {
      authorizationCode: {
        authorizationUrl: `${config.issuer}/oauth2/authorize`,
        tokenUrl: `${config.issuer}/oauth2/token`,
        scopes: { openid: 'the claims email and sub' },
      },
    },
  };
  return {
    ...document,
    servers: [{ url, description: `This page, which forwards requests to ${config.gateway}` }],
    security: [{ signIn: [] }, ...document.security],
    components: { ...components, securitySchemes: { signIn, ...components.securitySchemes } },
  };
}

/** Forwards a request to the gateway unchanged, and the response back. */
function forward(request: IncomingMessage, response: ServerResponse, gateway: string): void {
  const { method = 'GET', url = '/', headers } = request;
  const outgoing = connect(gateway + url, { method, headers: { ...headers, host: new URL(gateway).host } });
  outgoing.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? replies.internalError.status, incoming.headers);
    incoming.pipe(response);
  });
  outgoing.on('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  });
  request.pipe(outgoing);
}
