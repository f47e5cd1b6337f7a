/** `npm run deploy`: the upload of the form, and which one is served, also when two deployments run at the same time. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { serveForm, uploadForm } from '../../deploy/site.ts';
import { listVersions, readLive, switchAlias, type Live } from '../../deploy/versions.ts';
import { FORM_OUTPUTS, setUpProject } from '../helpers/programs.ts';
import { paths } from '../helpers/project.ts';

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
    expect(aws.state.objects.get('/form-bucket/index.html')?.body).toMatch(/9$/);
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

/**
 * What `release` of deploy/deploy.ts does on AWS, step by step, after a plan. Terraform refuses a plan if the state has changed since.
 */
function createDeployment(commit: string) {
  let [live, version]: [Live | undefined, string] = [undefined, ''];
  let serial = 0;
  return [
    async () => {
      serial = aws.state.versions.length;
      live = await readLive(NAME);
    },
    async () => {
      if (aws.state.versions.length !== serial) throw new Error('Saved plan is stale');
      aws.state.versions.push(String(11 + serial));
      aws.state.commits[11 + serial] = commit;
    },
    async () => {
      // The output of Terraform.
      version = aws.state.versions.at(-1) ?? '';
      const [newest] = await listVersions(NAME);
      if (newest?.commit !== commit) throw new Error('Somebody else has published');
      write('index.html', `${PAGE}${commit}`);
      write('inquiry-form.js', commit);
      await uploadFor(version);
    },
    async () => switchAlias(NAME, version, live?.revisionId),
    async () => void (await serveForm(site, NAME)),
  ];
}

/** Every order of two sequences of this length, each kept in its own order: whose step is next. */
const orders = (first: number, second: number): string[] =>
  first + second === 0
    ? ['']
    : [
        ...(first > 0 ? orders(first - 1, second).map((rest) => `a${rest}`) : []),
        ...(second > 0 ? orders(first, second - 1).map((rest) => `b${rest}`) : []),
      ];

it('two deployments in every order of their steps leave the stage as one of them, whole', async () => {
  // Those that begin with the other one are the same with the names exchanged.
  const all = orders(4, 5).map((rest) => `a${rest}`);
  expect(all).toHaveLength(126);
  for (const file of ['favicon.svg', 'assets/index-1.js', 'assets/index-1.css']) {
    rmSync(join(paths.WEB, 'dist', file));
  }
  const results = new Map<string, number>();
  for (const order of all) {
    aws.reset();
    const deployments = { a: createDeployment('a'), b: createDeployment('b') };
    const ended = new Set<string>();
    for (const name of order as Iterable<'a' | 'b'>) {
      if (ended.has(name)) continue;
      await deployments[name]
        .shift()?.()
        .catch(() => ended.add(name));
    }
    const { version } = await readLive(NAME);
    const served = ['index.html', 'inquiry-form.js'].map((file) =>
      aws.state.objects.get(`/form-bucket/${file}`)?.body.at(-1),
    );
    const result = [aws.state.commits[Number(version)], ...served, `${ended.size} refused`].join(
      ' ',
    );
    results.set(result, (results.get(result) ?? 0) + 1);
  }
  // Neither is refused only if b begins after a has made its version live.
  expect([...results.keys()].toSorted()).toEqual([
    'a a a 1 refused',
    'b b b 0 refused',
    'b b b 1 refused',
  ]);
});
