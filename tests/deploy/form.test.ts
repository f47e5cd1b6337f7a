import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { FORM_OUTPUTS, setUpProject } from './programs.ts';
import { readForm, readStageForm, runForm, serveForm, uploadForm } from '../../deploy/form.ts';
import * as chromium from '../../lib/pages/chromium.ts';
import { paths } from './project.ts';

vi.mock(import('../../lib/pages/chromium.ts'), { spy: true });

const toPage = (connections: string) =>
  `<meta content="default-src 'none'; connect-src ${connections}; base-uri 'none'" />`;
const PAGE = toPage("'self' https: http://localhost:*");
const { site, form_config: CONFIG, function: versions } = FORM_OUTPUTS;
const { state } = await setUpProject();
const write = (file: string, content: string) =>
  writeFileSync(join(paths.WEB, 'dist', file), content);
const serve = () => serveForm(site, versions.name);
beforeEach(() => {
  write('index.html', PAGE);
  write('logo.png', 'png');
  write('inquiry-form.js', 'element');
  write('assets/index-1.css', 'style');
});

it('uploads unseen files first, then what loads the assets, the page last, and invalidates', async () => {
  await uploadForm(site, '10', readStageForm(FORM_OUTPUTS) ?? new Map());
  const uploaded = state.changes.splice(0).toSorted();
  await serve();
  // The page's policy names the addresses, which are all known.
  const files = ['config.json', 'index.html'].map((name) =>
    state.objects.get(`/form-bucket/${name}`),
  );
  const texts = [...uploaded, '', ...state.changes, '', ...files];
  expect(texts.join('\n')).toMatchSnapshot();
});

it('serves the form of the version that is live in the end, if it changes meanwhile', async () => {
  for (const version of ['9', '10']) {
    write('index.html', PAGE + version);
    await uploadForm(site, version, readForm(CONFIG, []));
  }
  state.answers['PUT /form-bucket/index.html'] = () => {
    state.live = '9';
    return undefined;
  };
  expect(await serve()).toBe('9');
  expect(state.objects.get('/form-bucket/index.html')).toBe(`${PAGE}9`);
});

it.each([
  ['film.mkv has no content type that is known.', 'film.mkv', {}],
  ['“logo” is not in web/public: “missing.png”.', 'logo.png', { logo: 'missing.png' }],
])('refuses: %s', (message, file, settings) => {
  write(file, '');
  expect(() => readForm({ ...CONFIG, ...settings }, [])).toThrow(
    `The form cannot be served: ${message}`,
  );
});

const installed = chromium.findChromium(process.env);
it.skipIf(installed === undefined)(
  'opens the form in Chromium, which must show a button (skipped without Chromium)',
  async () => {
    const run = (script: string) => {
      const page = `<main></main><script type="module">${script}</script>`;
      const files = new Map([['index.html', Buffer.from(page)]]);
      return runForm('https://form.invalid/', files, { CHROMIUM_PATH: installed });
    };
    const works = `document.querySelector('main').innerHTML = '<button>Sign in</button>'`;
    expect(await run(works)).toBe('run in Chromium');
    await expect(run(`throw new Error('boom')`)).rejects.toThrow('the form does not run: boom');
  },
);

it('does not say that the form runs without a browser', async () => {
  vi.mocked(chromium.findChromium).mockReturnValueOnce(undefined);
  expect(await runForm(site.url, undefined, {})).toMatch(/^not run: no Chromium is installed/);
});
