import { expect, it, onTestFinished } from 'vitest';
import { startDocsServer } from '../../local/page-servers.ts';

it('serves a page without scripts, everything it names, the contract of this gateway, and nothing else', async () => {
  const gateway = 'http://127.0.0.1:8';
  const docs = await startDocsServer(0, () => ({ apiUrl: gateway, issuer: '-', formUrl: '-' }));
  onTestFinished(() => docs.close());
  const get = (path: string) => fetch(docs.url + path);
  const page = await get('/');
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'self';/),
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  const named = [...(await page.text()).matchAll(/href="(\/[^"]+)"/g)].map(([, path]) => path);
  expect(named).toContain('/contract.md');
  for (const path of named) expect((await get(path ?? '')).status).toBe(200);
  const document = await (await get('/openapi.yaml')).text();
  expect(document).toContain(`servers: [ { url: ${gateway},`);
  expect((await get('/..%2fstart.ts')).status).toBe(404);
  expect((await fetch(docs.url, { method: 'POST' })).status).toBe(405);
});
