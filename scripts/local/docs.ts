/**
 * The docs page of the local stack: docs/openapi.yaml in Swagger UI, and as a file. Users can sign in at the local
 * issuer and try the operations. The gateway's CORS allows the contact form only, so the page calls its own origin,
 * which forwards requests to the gateway. docs/adr/0044
 */
import { readFileSync } from 'node:fs';
import { createServer, request as connect } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { inquiriesPath } from '../../src/contract.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { splitTarget } from './event.ts';
import { replies } from './replies.ts';
import { close, listen } from './server.ts';
import { findFile, sendContent } from './static.ts';
import type { Content } from './static.ts';

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
export async function startDocsServer(port: number) {
  let config: DocsConfig | undefined;
  const server = createServer((request, response) => {
    const { rawPath } = splitTarget(request);
    if (config === undefined) return void response.writeHead(replies.unavailable.status).end();
    // One origin of this page is registered with the issuer; `localhost` is another one.
    if (request.headers.host !== new URL(url).host) {
      return void response.writeHead(302, { location: url + rawPath }).end();
    }
    if (rawPath === inquiriesPath) return forward(request, response, config.gateway);
    return sendContent(request, response, find(rawPath, url, config), {
      'content-security-policy': [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        // Swagger UI's style sheet embeds its images.
        "img-src 'self' data:",
        `connect-src 'self' ${config.issuer}`,
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
    });
  });
  const url = `http://127.0.0.1:${await listen(server, port)}`;
  return {
    url,
    /** Starts serving the page; until then every request gets 503. */
    configure: (value: DocsConfig) => void (config = value),
    close: () => close(server),
  };
}

/** The content of a path. The document is read on each request, so a new one needs no restart. */
function find(path: string, url: string, config: DocsConfig): Content | undefined {
  switch (path) {
    case '/':
      return { name: 'index.html', data: PAGE.replace('CLIENT_ID', config.clientId) };
    case '/callback':
      return findFile(SWAGGER_UI, '/oauth2-redirect.html');
    case '/docs-page.js':
      return findFile(import.meta.dirname, path);
    case '/openapi.json':
      return { name: path, data: JSON.stringify(readDocument(config), null, 2) };
    case '/openapi.yaml':
      return { name: path, data: stringify(readDocument(config), { aliasDuplicateObjects: false }) };
    case '/page.json':
      return { name: path, data: JSON.stringify(toPageDocument(readDocument(config), url, config)) };
    default:
      return findFile(SWAGGER_UI, path);
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
