/** `npm run deploy`: the upload of the form. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { uploadForm } from '../../deploy/site.ts';
import { startAws } from '../helpers/aws.ts';
import { FORM_OUTPUTS } from '../helpers/programs.ts';
import { paths, removeProject, resetProject } from '../helpers/project.ts';

vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);

const PAGE = `<meta content="default-src 'none'; connect-src 'self' https: http://localhost:*; base-uri 'none'" />`;
const write = (file: string, content: string) => writeFileSync(join(paths.WEB, 'dist', file), content);

const aws = await startAws();
beforeEach(() => {
  resetProject();
  aws.reset();
  write('index.html', PAGE);
  write('favicon.svg', '<svg/>');
  write('inquiry-form.js', 'element');
  write('assets/index-1.js', 'script');
  write('assets/index-1.css', 'style');
});
afterAll(async () => {
  await aws.close();
  removeProject();
});

interface Settings {
  readonly config?: unknown;
  readonly origins?: readonly string[];
}
/** Uploads the form. @returns What was uploaded. */
const upload = ({
  config = FORM_OUTPUTS.form_config,
  origins = FORM_OUTPUTS.connect_origins,
}: Settings = {}) => uploadForm(FORM_OUTPUTS.site, config, origins, new AbortController().signal);
/** What was written since the last call. */
const takeWrites = () => aws.state.changes.splice(0);
const invalidation = 'invalidate / /inquiry-form.js /config.json /index.html';

describe('npm run deploy of a stage with a form', () => {
  it('uploads the assets first, what loads them after them and the page last, then invalidates what has no hash in its name', async () => {
    await upload();
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
    await upload();
    const headers = [...aws.state.objects].map(([path, { type, cache }]) => [path, [type, cache]]);
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
    await upload();
    const read = (key: string) => aws.state.objects.get(`/form-bucket/${key}`)?.body ?? '';
    expect(JSON.parse(read('config.json'))).toEqual(FORM_OUTPUTS.form_config);
    expect(read('index.html')).toBe(
      `<meta content="default-src 'none'; connect-src 'self' https://issuer.example.com https://api.example.com; base-uri 'none'" />`,
    );
  });

  it('leaves the policy of the page as it is if not all addresses are known', async () => {
    await upload({ origins: [] });
    expect(aws.state.objects.get('/form-bucket/index.html')?.body).toContain(
      "connect-src 'self' https: http://localhost:*;",
    );
  });

  it('uploads and invalidates nothing if nothing has changed, and only what has changed otherwise', async () => {
    await upload();
    takeWrites();
    expect([await upload(), takeWrites()]).toEqual([[], []]);

    rmSync(join(paths.WEB, 'dist/assets/index-1.js'));
    write('assets/index-2.js', 'new script');
    await upload();
    expect(takeWrites()).toEqual(['put /form-bucket/assets/index-2.js', invalidation]);
    // Pages that are open may still load it.
    expect(aws.state.objects.has('/form-bucket/assets/index-1.js')).toBe(true);
  });

  it('uploads a file again if its headers are not those of today', async () => {
    await upload();
    takeWrites();
    const file = aws.state.objects.get('/form-bucket/index.html');
    if (file !== undefined) file.cache = 'max-age=1';
    await upload();
    expect(takeWrites()).toEqual(['put /form-bucket/index.html', invalidation]);
  });

  it.each<[string, Settings, string?]>([
    [
      '“apiUrl” in config.json must be an https address, not “http://api.example.com”.',
      { config: { ...FORM_OUTPUTS.form_config, apiUrl: 'http://api.example.com' } },
    ],
    ['config.json must hold a JSON object.', { config: null }],
    [
      'The output connect_origins has "https://api.example.com/", which is not an origin.',
      { origins: ['https://api.example.com/'] },
    ],
    ['index.html has connect-src 0 times, not once.', {}, '<p>no policy</p>'],
    ['index.html has connect-src 2 times, not once.', {}, `connect-src 'self'; connect-src 'none'`],
  ])('uploads nothing and fails: %s', async (message, settings, page = PAGE) => {
    write('index.html', page);
    await expect(upload(settings)).rejects.toThrow(message);
    expect(takeWrites()).toEqual([]);
  });

  it('fails for a file of an unknown type', async () => {
    write('film.mkv', '');
    await expect(upload()).rejects.toThrow(
      'web/dist/film.mkv was not uploaded to form-bucket: its content type is not known',
    );
    expect(takeWrites().join()).not.toContain('index.html');
  });
});
