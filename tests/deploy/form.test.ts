/** `npm run deploy`: the upload of the form, and which one is served, also when two deployments run at the same time. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { readForm, runForm } from '../../deploy/form.ts';
import { serveForm, uploadForm } from '../../deploy/site.ts';
import * as chromium from '../../lib/chromium.ts';
import { FORM_OUTPUTS, setUpProject } from '../helpers/programs.ts';
import { paths } from '../helpers/project.ts';

vi.mock(import('../../lib/chromium.ts'), { spy: true });
vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);

const toPage = (connections: string) =>
  `<meta content="default-src 'none'; connect-src ${connections}; base-uri 'none'" />`;
const PAGE = toPage("'self' https: http://localhost:*");
const { site, form_config: CONFIG } = FORM_OUTPUTS;
const write = (file: string, content: string) =>
  writeFileSync(join(paths.WEB, 'dist', file), content);

const aws = await setUpProject();
const { state } = aws;
beforeEach(() => {
  write('index.html', PAGE);
  write('favicon.svg', '<svg/>');
  write('inquiry-form.js', 'element');
  write('assets/index-1.js', 'script');
  write('assets/index-1.css', 'style');
});

const serve = () => serveForm(site, FORM_OUTPUTS.function.name);
/** Uploads the form of a version, and serves that of the live one, which is 10. */
async function upload(origins: readonly string[] = [], version = '10') {
  await uploadForm(site, version, readForm(CONFIG, origins), AbortSignal.any([]));
  return serve();
}
/** What was written since the last call. */
const takeWrites = () => state.changes.splice(0);

it('uploads what users do not see yet; then copies what loads the assets, the page last, and invalidates what has no hash in its name', async () => {
  write('logo.png', 'png');
  await upload();
  const writes = takeWrites();
  const served = writes.findIndex((each) => !/\/(assets|versions\/10)\//.test(each));
  expect(writes.slice(0, served)).toHaveLength(7);
  expect(writes.slice(-4)).toEqual([
    'put /form-bucket/inquiry-form.js',
    'put /form-bucket/config.json',
    'put /form-bucket/index.html',
    expect.stringMatching(
      /^invalidate \/ \/favicon\.svg .* \/inquiry-form\.js \/config\.json \/index\.html$/,
    ),
  ]);
  const headers = Object.entries({
    'index.html': ['text/html; charset=utf-8', 'no-cache'],
    'config.json': ['application/json', 'no-cache'],
    'inquiry-form.js': ['text/javascript; charset=utf-8', 'no-cache'],
    'logo.png': ['image/png', 'public, max-age=3600'],
    'assets/index-1.css': ['text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
  });
  for (const [name, [type, cache]] of headers) {
    expect(state.objects.get(`/form-bucket/${name}`)).toMatchObject({ type, cache });
  }
});

it("writes config.json, and the page's addresses into its policy if all are known", async () => {
  await upload(FORM_OUTPUTS.connect_origins);
  const read = (key: string) => state.objects.get(`/form-bucket/${key}`)?.body ?? '';
  expect(JSON.parse(read('config.json'))).toEqual(CONFIG);
  expect(read('index.html')).toBe(
    toPage("'self' https://issuer.example.com https://api.example.com"),
  );
  await upload();
  expect(read('index.html')).toBe(PAGE);
});

it('uploads and invalidates what has changed only, and keeps what open pages may still load', async () => {
  await upload();
  takeWrites();
  expect([await upload(), takeWrites()]).toEqual([[], []]);

  rmSync(join(paths.WEB, 'dist/assets/index-1.js'));
  write('assets/index-2.js', 'new script');
  await upload();
  expect(takeWrites()).toEqual(['put /form-bucket/assets/index-2.js']);
  expect(state.objects.has('/form-bucket/assets/index-1.js')).toBe(true);

  // Its headers are those of an earlier version of this command.
  Object.assign(state.objects.get('/form-bucket/index.html') ?? {}, { cache: 'max-age=1' });
  await upload();
  expect(takeWrites()).toEqual(['put /form-bucket/index.html', 'invalidate / /index.html']);
});

it('serves the form of the version which is live in the end, if somebody changes that meanwhile', async () => {
  for (const version of ['9', '10']) {
    write('index.html', `${PAGE}${version}`);
    await upload([], version);
  }
  state.objects.delete('/form-bucket/index.html');
  state.answers['PUT /form-bucket/index.html'] = () => {
    state.live = { FunctionVersion: '9', RevisionId: '2' };
    return undefined;
  };
  await serve();
  expect(state.objects.get('/form-bucket/index.html')?.body).toMatch(/9$/);
});

it('refuses a file whose content type is not known', () => {
  write('film.mkv', '');
  expect(() => readForm(CONFIG, [])).toThrow(
    'web/dist/film.mkv has no content type that is known.',
  );
});

it.skipIf(chromium.findChromium(process.env) === undefined)(
  'opens the form in Chromium, which must show a button (skipped without Chromium)',
  async () => {
    const run = (script: string) => {
      const page = `<main></main><script type="module">${script}</script>`;
      return runForm('https://form.invalid/', new Map([['index.html', Buffer.from(page)]]), {});
    };
    const works = `document.querySelector('main').innerHTML = '<button>Sign in</button>'`;
    expect(await run(works)).toBe('run in Chromium');
    await expect(run(`throw new Error('boom')`)).rejects.toThrow('the form does not run: boom');
  },
);

it('does not say that the form runs without a browser', async () => {
  vi.spyOn(chromium, 'findChromium').mockReturnValue(undefined);
  expect(await runForm(site.url, undefined, {})).toMatch(/^not run: no Chromium is installed/);
});
