import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startDocsServer, type DocsServer } from '../../local/pages/docs-server.ts';
import { readText } from '../helpers/repository.ts';

const ISSUER = 'http://127.0.0.1:9';
const GATEWAY = 'http://127.0.0.1:8';
let docs: DocsServer;
beforeAll(async () => {
  docs = await startDocsServer(0);
  docs.configure({ gateway: GATEWAY, issuer: ISSUER, clientId: 'client' });
});
afterAll(() => docs.close());
const get = (path: string, init: RequestInit = {}) =>
  fetch(docs.url + path, { redirect: 'manual', ...init });

it('serves the page and everything it loads, with a policy that allows no origin but those of the API and the issuer', async () => {
  const page = await get('/');
  const html = await page.text();
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).toContain(`connect-src 'self' ${ISSUER} ${GATEWAY};`);
  const loaded = [...html.matchAll(/(?:src|rel="stylesheet" href)="([^"]+)"/g)].map(
    ([, path]) => path,
  );
  expect(loaded).toEqual([
    '/swagger-ui.css',
    '/docs-page.css',
    '/swagger-ui-bundle.js',
    '/docs-page.js',
  ]);
  const linked = [...html.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path);
  expect(linked).toContain('/front-end.md');
  for (const path of [
    ...loaded,
    ...linked,
    '/page.json',
    '/callback?code=1',
    '/oauth2-redirect.js',
  ]) {
    expect((await get(path ?? '')).status).toBe(200);
  }
});

it('serves the document raw, with the gateway as its server, as JSON and as YAML', async () => {
  const committed = parse(readText('docs/openapi.yaml')) as object;
  const servers = [{ url: GATEWAY, description: 'The service on this machine.' }];
  for (const format of ['json', 'yaml']) {
    const answer = await get(`/openapi.${format}`);
    expect(answer.headers.get('content-type')).toBe(`application/${format}`);
    expect(parse(await answer.text())).toEqual({ ...committed, servers });
  }
});

it('answers 404 and 405', async () => {
  for (const path of ['/nothing', '/..%2fajv/package.json', '/%']) {
    expect((await get(path)).status).toBe(404);
  }
  const posted = await get('/', { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  const head = await get('/', { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});
