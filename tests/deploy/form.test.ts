/** `npm run deploy`: the upload of the form, and which one is served, also when two deployments run at the same time. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { listDifferences, readForm, runForm } from '../../deploy/form.ts';
import { serveForm, uploadForm } from '../../deploy/site.ts';
import * as chromium from '../../lib/chromium.ts';
import { FORM_OUTPUTS, setUpProject } from '../helpers/programs.ts';
import { paths } from '../helpers/project.ts';

vi.mock(import('../../lib/chromium.ts'), { spy: true });
vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);

const PAGE = `<meta content="default-src 'none'; connect-src 'self' https: http://localhost:*; base-uri 'none'" />`;
const write = (file: string, content: string) =>
  writeFileSync(join(paths.WEB, 'dist', file), content);

const aws = await setUpProject();
beforeEach(() => {
  write('index.html', PAGE);
  write('favicon.svg', '<svg/>');
  write('inquiry-form.js', 'element');
  write('assets/index-1.js', 'script');
  write('assets/index-1.css', 'style');
});

interface Settings {
  readonly config?: object;
  readonly origins?: readonly string[];
}
const { site } = FORM_OUTPUTS;
const NAME = FORM_OUTPUTS.function.name;
const uploadFor = (
  version: string,
  { config = FORM_OUTPUTS.form_config, origins = FORM_OUTPUTS.connect_origins }: Settings = {},
) => uploadForm(site, version, readForm(config, origins), new AbortController().signal);
/** Uploads the form of the live version, and serves it. @returns What was uploaded. */
const upload = async (settings?: Settings) => {
  const uploaded = await uploadFor('10', settings);
  await serveForm(site, NAME);
  return uploaded;
};
/** What was written since the last call. */
const takeWrites = () => aws.state.changes.splice(0);

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
      'invalidate / /favicon.svg /inquiry-form.js /config.json /index.html',
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

  it("writes config.json from the outputs, and the page's addresses into its policy if all are known", async () => {
    await upload();
    const read = (key: string) => aws.state.objects.get(`/form-bucket/${key}`)?.body ?? '';
    expect(JSON.parse(read('config.json'))).toEqual(FORM_OUTPUTS.form_config);
    expect(read('index.html')).toBe(
      `<meta content="default-src 'none'; connect-src 'self' https://issuer.example.com https://api.example.com; base-uri 'none'" />`,
    );
    await upload({ origins: [] });
    expect(read('index.html')).toBe(PAGE);
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
    for (const path of pages) {
      Object.assign(aws.state.objects.get(path) ?? {}, { cache: 'max-age=1' });
    }
    await upload();
    expect(takeWrites()).toEqual([
      ...pages.map((path) => `put ${path}`),
      'invalidate / /index.html',
    ]);
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
    expect(aws.state.objects.get('/form-bucket/index.html')?.body).toMatch(/9$/);
  });

  it.each<[string, Settings, string?]>([
    [
      'The form would refuse its settings: “apiUrl” in config.json must be an https address, not “http://api.example.com”.',
      { config: { ...FORM_OUTPUTS.form_config, apiUrl: 'http://api.example.com' } },
    ],
    [
      'The output connect_origins has "https://api.example.com/", which is not an origin.',
      { origins: ['https://api.example.com/'] },
    ],
    ['index.html has connect-src 0 times, not once.', {}, '<p>no policy</p>'],
    ['index.html has connect-src 2 times, not once.', {}, `connect-src 'self'; connect-src 'none'`],
  ])('uploads nothing and fails: %s', async (message, settings, page = PAGE) => {
    write('index.html', page);
    await expect(async () => upload(settings)).rejects.toThrow(message);
    expect(takeWrites()).toEqual([]);
  });

  it('uploads nothing and fails for a file of an unknown type', () => {
    write('film.mkv', '');
    expect(() => readForm(FORM_OUTPUTS.form_config, [])).toThrow(
      'web/dist/film.mkv has no content type that is known.',
    );
  });

  it('ends between two files when it is interrupted', async () => {
    const interruption = new AbortController();
    aws.state.answers['PUT /form-bucket/versions/10/index.html'] = () => {
      interruption.abort(130);
      return undefined;
    };
    const form = readForm(FORM_OUTPUTS.form_config, FORM_OUTPUTS.connect_origins);
    await expect(uploadForm(site, '10', form, interruption.signal)).rejects.toBe(130);
    expect(takeWrites().at(-1)).toBe('put /form-bucket/versions/10/index.html');
  });
});

describe('the form that is served', () => {
  it('is compared with the one built, file by file', async () => {
    const form = readForm(FORM_OUTPUTS.form_config, []);
    const served: Record<string, string> = { ...Object.fromEntries(form), '': PAGE };
    delete served['config.json'];
    served['assets/index-1.js'] = 'defaced';
    vi.stubGlobal('fetch', async (url: URL) => {
      const body = served[url.pathname.slice(1)];
      return new Response(body ?? null, { status: body === undefined ? 403 : 200 });
    });
    expect((await listDifferences(site.url, form)).toSorted()).toEqual([
      'assets/index-1.js is not the one that was built',
      'config.json is answered with 403',
    ]);
  });

  const page = (script: string) => `<main></main><script type="module">${script}</script>`;
  it.skipIf(chromium.findChromium(process.env) === undefined)(
    'is opened in Chromium, which must show a button (skipped without Chromium)',
    async () => {
      const run = (script: string) =>
        runForm('https://form.invalid/', new Map([['index.html', Buffer.from(page(script))]]), {});
      const works = `document.querySelector('main').innerHTML = '<button>Sign in</button>'`;
      expect(await run(works)).toBe('run in Chromium');
      await expect(run(`throw new Error('boom')`)).rejects.toThrow('the form does not run: boom');
    },
  );

  it('is not said to run without a browser', async () => {
    vi.spyOn(chromium, 'findChromium').mockReturnValue(undefined);
    expect(await runForm(site.url, undefined, {})).toMatch(/^not run: no Chromium is installed/);
  });
});
