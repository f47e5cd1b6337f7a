import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startDocsServer } from '../../scripts/local/docs.ts';
import type { DocsServer } from '../../scripts/local/docs.ts';
import { close, listen } from '../../scripts/local/server.ts';
import { readText } from '../helpers/repository.ts';

const ISSUER = 'http://127.0.0.1:9';
const committed = parse(readText('docs/openapi.yaml')) as object;

/** A gateway that echoes the request. */
const gateway = createServer((request, response) => {
  const { method, url, headers } = request;
  void text(request).then((body) =>
    response
      .writeHead(418, { link: '<?before=1>; rel="next"' })
      .end(JSON.stringify({ method, url, authorization: headers.authorization, host: headers.host, body })),
  );
});
let gatewayUrl = '';
let docs: DocsServer;
beforeAll(async () => {
  gatewayUrl = `http://127.0.0.1:${await listen(gateway, 0)}`;
  docs = await startDocsServer(0);
  docs.configure({ gateway: gatewayUrl, issuer: ISSUER, clientId: 'client' });
});
afterAll(async () => {
  await docs.close();
  await close(gateway);
});
const get = (path: string, init: RequestInit = {}) => fetch(docs.url + path, { redirect: 'manual', ...init });

describe('the docs server', () => {
  it('serves the page and everything it loads, with a policy that allows no other origin', async () => {
    const page = await get('/');
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect((await get('/swagger-ui.css')).headers.get('cache-control')).toBe('no-cache');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).toContain(`connect-src 'self' ${ISSUER};`);
    expect(html).toContain('data-client-id="client"');
    const loaded = [...html.matchAll(/(?:src|rel="stylesheet" href)="([^"]+)"/g)].map(([, path]) => path);
    expect(loaded).toEqual(['/swagger-ui.css', '/swagger-ui-bundle.js', '/docs-page.js']);
    for (const path of loaded) expect((await get(path ?? '')).status).toBe(200);
  });

  it('serves the document raw, with the gateway as its server, as JSON and as YAML', async () => {
    const servers = [{ url: gatewayUrl, description: 'The service on this machine.' }];
    for (const format of ['json', 'yaml']) {
      const answer = await get(`/openapi.${format}`);
      expect(answer.headers.get('content-type')).toBe(`application/${format}`);
      expect(parse(await answer.text())).toEqual({ ...committed, servers });
    }
  });

  it('configures the page to call this origin, to sign in at the issuer and to send the ID token', async () => {
    expect(await (await get('/page.json')).json()).toMatchObject({
      servers: [{ url: docs.url, description: `This page, which forwards requests to ${gatewayUrl}` }],
      security: [{ signIn: [] }, { bearer: [] }],
      components: {
        securitySchemes: {
          signIn: {
            'x-tokenName': 'id_token',
            flows: { authorizationCode: { tokenUrl: `${ISSUER}/oauth2/token` } },
          },
        },
      },
    });
  });

  it('receives the issuer’s redirect at /callback', async () => {
    const page = await get('/callback?code=1&state=2');
    expect(await page.text()).toContain('<script src="oauth2-redirect.js">');
    expect((await get('/oauth2-redirect.js')).status).toBe(200);
  });

  it('forwards requests to the gateway unchanged, and the responses back', async () => {
    const headers = { Authorization: 'Bearer t', 'Content-Type': 'application/json' };
    const answer = await get('/inquiries?limit=2', { method: 'POST', headers, body: '{"a":1}' });
    expect(answer.status).toBe(418);
    expect(answer.headers.get('link')).toBe('<?before=1>; rel="next"');
    expect(await answer.json()).toEqual({
      method: 'POST',
      url: '/inquiries?limit=2',
      authorization: 'Bearer t',
      host: new URL(gatewayUrl).host,
      body: '{"a":1}',
    });
  });

  it('redirects from another name of this machine', async () => {
    const { port } = new URL(docs.url);
    const answer = await fetch(`http://localhost:${port}/openapi.json?x`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, `${docs.url}/openapi.json`]);
  });

  it('answers 404 and 405', async () => {
    for (const path of [
      '/nothing',
      '/nothing.js',
      '/inquiries/1',
      '/..%2fajv/package.json',
      '/%2e%2e/ajv/package.json',
      '/%',
    ])
      expect((await get(path)).status).toBe(404);
    const posted = await get('/', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await get('/', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('answers 503 until it is configured, and 502 when the gateway does not respond', async () => {
    const other = await startDocsServer(0);
    expect((await fetch(other.url)).status).toBe(503);
    other.configure({ gateway: 'http://127.0.0.1:1', issuer: ISSUER, clientId: 'client' });
    expect((await fetch(`${other.url}/inquiries`)).status).toBe(502);
    await other.close();
  });
});
