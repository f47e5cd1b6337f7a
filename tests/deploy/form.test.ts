/** `npm run deploy`: the upload of the form, and which one is served. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { serveForm, uploadForm } from '../../deploy/site.ts';
import { FORM_OUTPUTS, setUpProject } from '../helpers/programs.ts';
import { paths } from '../helpers/project.ts';

vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);

const PAGE = `<meta content="default-src 'none'; connect-src 'self' https: http://localhost:*; base-uri 'none'" />`;
const write = (file: string, content: string) => writeFileSync(join(paths.WEB, 'dist', file), content);

const aws = await setUpProject();
beforeEach(() => {
  write('index.html', PAGE);
  write('favicon.svg', '<svg/>');
  write('inquiry-form.js', 'element');
  write('assets/index-1.js', 'script');
  write('assets/index-1.css', 'style');
});

interface Settings {
  readonly config?: unknown;
  readonly origins?: readonly string[];
}
const { site } = FORM_OUTPUTS;
const NAME = FORM_OUTPUTS.function.name;
const uploadFor = (
  version: string,
  { config = FORM_OUTPUTS.form_config, origins = FORM_OUTPUTS.connect_origins }: Settings = {},
) => uploadForm(site, version, config, origins, new AbortController().signal);
/** Uploads the form of the live version, and serves it. @returns What was uploaded. */
const upload = async (settings?: Settings) => {
  const uploaded = await uploadFor('10', settings);
  await serveForm(site, NAME);
  return uploaded;
};
/** What was written since the last call. */
const takeWrites = () => aws.state.changes.splice(0);
const invalidation = 'invalidate / /inquiry-form.js /config.json /index.html';

describe('npm run deploy of a stage with a form', () => {
  it('uploads what users do not see yet; then copies what loads the assets, the page last, and invalidates what has no hash in its name', async () => {
    await upload();
    const writes = takeWrites();
    const names = ['config.json', 'favicon.svg', 'index.html', 'inquiry-form.js'];
    expect(writes.splice(0, 6).toSorted()).toEqual([
      'put /form-bucket/assets/index-1.css',
      'put /form-bucket/assets/index-1.js',
      ...names.map((file) => `put /form-bucket/versions/10/${file}`),
    ]);
    expect(writes).toEqual([
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
    const served = [...aws.state.objects].filter(([path]) => !path.includes('/versions/'));
    const headers = served.map(([path, { type, cache }]) => [path, [type, cache]]);
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
    expect(JSON.parse(aws.readObject('/form-bucket/config.json') ?? '')).toEqual(FORM_OUTPUTS.form_config);
    expect(aws.readObject('/form-bucket/index.html')).toBe(
      `<meta content="default-src 'none'; connect-src 'self' https://issuer.example.com https://api.example.com; base-uri 'none'" />`,
    );
  });

  it('leaves the policy of the page as it is if not all addresses are known', async () => {
    await upload({ origins: [] });
    expect(aws.readObject('/form-bucket/index.html')).toContain(
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
    expect(takeWrites()).toEqual(['put /form-bucket/assets/index-2.js']);
    // Pages that are open may still load it.
    expect(aws.state.objects.has('/form-bucket/assets/index-1.js')).toBe(true);
  });

  it('uploads a file again if its headers are not those of today', async () => {
    await upload();
    takeWrites();
    const pages = ['/form-bucket/versions/10/index.html', '/form-bucket/index.html'];
    for (const path of pages) Object.assign(aws.state.objects.get(path) ?? {}, { cache: 'max-age=1' });
    await upload();
    expect(takeWrites()).toEqual([...pages.map((path) => `put ${path}`), invalidation]);
  });

  it('is that of the version which is live in the end, if somebody changes that meanwhile', async () => {
    for (const version of ['9', '10']) {
      write('index.html', `${PAGE}${version}`);
      await uploadFor(version);
    }
    aws.state.answers['PUT /form-bucket/index.html'] = () => {
      for (const alias of aws.state.aliases) alias.version = '9';
      return undefined;
    };
    await serveForm(site, NAME);
    expect(aws.readObject('/form-bucket/index.html')).toMatch(/9$/);
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

  it('ends between two files when it is interrupted', async () => {
    const interruption = new AbortController();
    aws.state.answers['PUT /form-bucket/versions/10/index.html'] = () => {
      interruption.abort(130);
      return undefined;
    };
    const { form_config, connect_origins } = FORM_OUTPUTS;
    const uploading = uploadForm(site, '10', form_config, connect_origins, interruption.signal);
    await expect(uploading).rejects.toBe(130);
    expect(takeWrites().at(-1)).toBe('put /form-bucket/versions/10/index.html');
  });

  it('fails for a file of an unknown type', async () => {
    write('film.mkv', '');
    await expect(upload()).rejects.toThrow(
      'web/dist/film.mkv was not uploaded to form-bucket: its content type is not known',
    );
    expect(takeWrites().join()).not.toContain('index.html');
  });
});
