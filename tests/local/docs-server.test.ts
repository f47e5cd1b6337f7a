import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startDocsServer, type DocsServer } from '../../local/pages/docs-server.ts';
import { readText } from '../helpers/repository.ts';

const GATEWAY = 'http://127.0.0.1:8';
let docs: DocsServer;
beforeAll(async () => {
  docs = await startDocsServer(0);
  docs.configure({ gateway: GATEWAY });
});
afterAll(() => docs.close());
const get = (path: string, init: RequestInit = {}) =>
  fetch(docs.url + path, { redirect: 'manual', ...init });

it('serves a page without scripts, with the headers of every page, and everything it names', async () => {
  const page = await get('/');
  const html = await page.text();
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'self';/),
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  const named = [...html.matchAll(/href="(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(named).toContain('/contract.md');
  for (const path of named) expect((await get(path)).status).toBe(200);
});

it.each(['json', 'yaml'])(
  'serves the document as %s, with the gateway as its server',
  async (format) => {
    const answer = await get(`/openapi.${format}`);
    expect(answer.headers.get('content-type')).toBe(`application/${format}`);
    expect(parse(await answer.text())).toEqual({
      ...(parse(readText('docs/openapi.yaml')) as object),
      servers: [{ url: GATEWAY, description: 'The service on this machine.' }],
    });
  },
);

it('answers 404 to other paths, 405 to other methods, and HEAD without a body', async () => {
  for (const path of ['/nothing', '/..%2fdocs-server.ts', '/%']) {
    expect((await get(path)).status).toBe(404);
  }
  const posted = await get('/', { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  const head = await get('/', { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});
