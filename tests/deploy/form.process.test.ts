/** `npm run deploy`: the upload of the form. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeployment, FORM_OUTPUTS } from '../helpers/deployment.ts';
import type { Deployment } from '../helpers/deployment.ts';

let deployment: Deployment;
beforeEach(async () => {
  deployment = await createDeployment();
  deployment.arrange({ outputs: FORM_OUTPUTS });
});
afterEach(() => deployment.remove());

const write = (file: string, content: string) =>
  writeFileSync(join(deployment.folder, 'web/dist', file), content);
/** What was written since the last call. */
const takeWrites = () => deployment.aws.writes.splice(0);
const invalidation = 'invalidate / /inquiry-form.js /config.json /index.html';

describe('npm run deploy of a stage with a form', { timeout: 30_000 }, () => {
  it('uploads the assets first, what loads them after them and the page last, then invalidates what has no hash in its name', async () => {
    expect((await deployment.run('develop --yes')).code).toBe(0);
    expect(takeWrites()).toEqual([
      expect.stringMatching(/^put \/form-bucket\/assets\/index-1\.(js|css)$/),
      expect.stringMatching(/^put \/form-bucket\/assets\/index-1\.(js|css)$/),
      'put /form-bucket/favicon.svg',
      'put /form-bucket/inquiry-form.js',
      'put /form-bucket/config.json',
      'put /form-bucket/index.html',
      invalidation,
    ]);
  });

  it('gives every file its type, a long age with a hash in its name, and none to what names the others', async () => {
    for (const type of ['png', 'jpg', 'jpeg', 'webp']) write(`logo.${type}`, type);
    await deployment.run('develop --yes');
    const headers = [...deployment.aws.objects].map(([path, { type, cache }]) => [path, [type, cache]]);
    const forYear = 'public, max-age=31536000, immutable';
    const forHour = 'public, max-age=3600';
    expect(Object.fromEntries(headers)).toEqual({
      '/form-bucket/assets/index-1.css': ['text/css; charset=utf-8', forYear],
      '/form-bucket/assets/index-1.js': ['text/javascript; charset=utf-8', forYear],
      '/form-bucket/config.json': ['application/json', 'no-cache'],
      '/form-bucket/favicon.svg': ['image/svg+xml', forHour],
      '/form-bucket/index.html': ['text/html; charset=utf-8', 'no-cache'],
      '/form-bucket/inquiry-form.js': ['text/javascript; charset=utf-8', 'no-cache'],
      '/form-bucket/logo.jpeg': ['image/jpeg', forHour],
      '/form-bucket/logo.jpg': ['image/jpeg', forHour],
      '/form-bucket/logo.png': ['image/png', forHour],
      '/form-bucket/logo.webp': ['image/webp', forHour],
    });
  });

  it("writes config.json from the outputs, and the page's addresses into its policy", async () => {
    await deployment.run('develop --yes');
    const read = (key: string) => deployment.aws.objects.get(`/form-bucket/${key}`)?.body ?? '';
    expect(JSON.parse(read('config.json'))).toEqual(FORM_OUTPUTS.form_config);
    expect(read('index.html')).toBe(
      `<meta content="default-src 'none'; connect-src 'self' https://issuer.example.com https://api.example.com; base-uri 'none'" />`,
    );
  });

  it('leaves the policy of the page as it is if not all addresses are known', async () => {
    deployment.arrange({ outputs: { ...FORM_OUTPUTS, connect_origins: [] } });
    await deployment.run('develop --yes');
    expect(deployment.aws.objects.get('/form-bucket/index.html')?.body).toContain(
      "connect-src 'self' https: http://localhost:*;",
    );
  });

  it('uploads and invalidates nothing if nothing has changed, and only what has changed otherwise', async () => {
    await deployment.run('develop --yes');
    takeWrites();
    const { output } = await deployment.run('develop --yes');
    expect(takeWrites()).toEqual([]);
    expect(output).toContain('no file has changed\n');

    rmSync(join(deployment.folder, 'web/dist/assets/index-1.js'));
    write('assets/index-2.js', 'new script');
    await deployment.run('develop --yes');
    expect(takeWrites()).toEqual(['put /form-bucket/assets/index-2.js', invalidation]);
    // Pages that are open may still load it.
    expect(deployment.aws.objects.has('/form-bucket/assets/index-1.js')).toBe(true);
  });

  it('uploads a file again if its headers are not those of today', async () => {
    await deployment.run('develop --yes');
    takeWrites();
    const file = deployment.aws.objects.get('/form-bucket/index.html');
    if (file !== undefined) file.cache = 'max-age=1';
    await deployment.run('develop --yes');
    expect(takeWrites()).toEqual(['put /form-bucket/index.html', invalidation]);
  });

  it.each<[string, object, [string, string]?]>([
    [
      '“apiUrl” in config.json must be an https address, not “http://api.example.com”.',
      { form_config: { ...FORM_OUTPUTS.form_config, apiUrl: 'http://api.example.com' } },
    ],
    ['config.json must hold a JSON object.', { form_config: null }],
    [
      'The output connect_origins has "https://api.example.com/", which is not an origin.',
      { connect_origins: ['https://api.example.com/'] },
    ],
    ['index.html has connect-src 0 times, not once.', {}, ['index.html', '<p>no policy</p>']],
    [
      'index.html has connect-src 2 times, not once.',
      {},
      ['index.html', `<meta content="connect-src 'self'; connect-src 'none'" />`],
    ],
  ])('uploads nothing and fails: %s', async (message, outputs, file) => {
    deployment.arrange({ outputs: { ...FORM_OUTPUTS, ...outputs } });
    if (file !== undefined) write(...file);
    const { code, output } = await deployment.run('develop --yes');
    expect([code, output]).toEqual([1, expect.stringContaining(`${message}\n`)]);
    expect(takeWrites()).toEqual([]);
  });

  it('fails for a file of an unknown type', async () => {
    write('film.mkv', '');
    const { code, output } = await deployment.run('develop --yes');
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(
        'web/dist/film.mkv was not uploaded to form-bucket: its content type is not known\n',
      ),
    ]);
    expect(takeWrites().join()).not.toContain('index.html');
  });
});
