/** The package of npm, in apps that follow its README. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { beforeAll, expect, it } from 'vitest';
import { ROOT, WEB } from '../../lib/paths.ts';
import { readCodeBlocks, readText } from '../helpers/repository.ts';
import { anyone, createToken, openPage, stack } from './contact-form.ts';

const APPS = join(ROOT, 'tests/form/apps');
const PACKAGE = join(ROOT, 'dist/inquiry-form');
const INSTALLED = join(APPS, 'node_modules/inquiry-form');

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: APPS, encoding: 'utf8' });
const runOwn = (name: string, ...args: string[]) => run(`node_modules/.bin/${name}`, ...args);

beforeAll(async () => {
  await build({ root: WEB, mode: 'package', logLevel: 'silent', build: { emptyOutDir: true } });
  run('npm', 'pack', '--silent', '--pack-destination', PACKAGE, PACKAGE);
  rmSync(INSTALLED, { recursive: true, force: true });
  mkdirSync(INSTALLED);
  run('tar', '-xzf', TARBALL, '-C', INSTALLED, '--strip-components=1');
});

const readVersion = (file: string) => (JSON.parse(readText(file)) as { version: string }).version;
const VERSION = readVersion('web/package/package.json');
const TARBALL = join(PACKAGE, `inquiry-form-${VERSION}.tgz`);

it('has the version of the service, and no finding of publint and attw', () => {
  expect(VERSION).toBe(readVersion('package.json'));
  expect(runOwn('publint', INSTALLED, '--strict')).toContain('All good!');
  // ESM only: Node 22 takes it by `require`, too.
  const rules = ['--profile', 'esm-only', '--ignore-rules', 'cjs-resolves-to-esm'];
  expect(runOwn('attw', TARBALL, ...rules)).toContain('No problems found');
});

it('has types for the DOM, React and Vue, which refuse what a framework would lose', () => {
  using folder = mkdtempDisposableSync(join(APPS, 'types-'));
  const file = join(folder.path, 'app.tsx');
  writeFileSync(
    file,
    `import 'inquiry-form/react';
    import 'inquiry-form/vue';
    import type { GlobalComponents } from 'vue';
    const form = document.querySelector('inquiry-form')!;
    form.getToken = async (refused?: string) => refused ?? null;
    form.branding = { topics: ['Order', { de: 'Rechnung' }] };
    form.addEventListener('sent', ({ detail }) => detail.created_at.at(0));
    export const react = <inquiry-form ref={(element) => element?.refresh()} api-url="https://a" list />;
    // @ts-expect-error -- a property
    export const lost = <inquiry-form getToken={() => null} />;
    type Props = InstanceType<GlobalComponents['inquiry-form']>['$props'];
    export const vue: Props = { 'api-url': 'https://a', getToken: () => null, class: 'wide' };
    // @ts-expect-error -- no such attribute
    export const wrong: Props = { 'api-url': 1 };`,
  );
  const options =
    '--ignoreConfig --noEmit --strict --jsx react-jsx --module esnext --target esnext';
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const found = run(tsc, ...options.split(' '), '--moduleResolution', 'bundler', file);
  expect(found).toBe('');
});

const readBlock = (name: string): string =>
  (readCodeBlocks('web/package/README.md').get(name) ?? '').replace(
    'https://api.example.com',
    stack.url,
  );
const [, VUE_TEMPLATE = ''] = /<template>(.*)<\/template>/s.exec(readBlock('Contact.vue')) ?? [];

const APP = `document.querySelector('#app')`;
const REACT = `import { createElement } from 'react';
  import { Contact } from './Contact.jsx';
  const app = createElement(Contact, globalThis.site);`;
/** What starts the app, by framework. */
const MAINS = {
  react: `${REACT} import { createRoot } from 'react-dom/client'; createRoot(${APP}).render(app);`,
  'react after SSR': `${REACT} import { hydrateRoot } from 'react-dom/client'; hydrateRoot(${APP}, app);`,
  vue: `import { createApp } from 'vue/dist/vue.esm-bundler.js';
    const template = ${JSON.stringify(VUE_TEMPLATE)};
    const app = createApp({ props: ['getToken', 'signIn'], template }, globalThis.site);
    app.config.compilerOptions.isCustomElement = (tag) => tag === 'inquiry-form';
    app.mount(${APP});`,
};
const SERVER = `${REACT} import { renderToString } from 'react-dom/server'; console.log(renderToString(app));`;
const FIRST = `import 'inquiry-form';`;
const LAST = `globalThis.load = () => import('inquiry-form');`;

const CASES = Object.entries(MAINS).flatMap(([name, main]) => [
  [name, 'first', main, FIRST],
  [name, 'last', main, LAST],
]);
it.each(CASES)('sends from an app of %s, its script %s', async (name, place, main, script) => {
  using folder = mkdtempDisposableSync(join(APPS, 'app-'));
  const root = folder.path;
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  const contact = readBlock('Contact.jsx');
  write('Contact.jsx', place === 'first' ? contact : contact.replace(/^import 'inquiry.*/m, ''));
  write('main.jsx', `${script}\n${main}`);
  write('server.jsx', SERVER);
  const options = { root, configFile: false, logLevel: 'silent' } as const;
  let rendered = '';
  if (name.endsWith('SSR')) {
    await build({ ...options, build: { ssr: 'server.jsx', outDir: 'server' } });
    rendered = run(process.execPath, join(root, 'server/server.js')).trim();
  }
  const token = await createToken({ email: anyone() });
  write(
    'index.html',
    `<!doctype html><html lang="en"><title>Shop</title><div id="app">${rendered}</div><script>
    let token = null;
    var site = { getToken: async () => token, signIn() { token = '${token}'; document.querySelector('inquiry-form').refresh(); } };
    </script><script type="module" src="main.jsx"></script></html>`,
  );
  await build({ ...options, build: { target: 'esnext' } });

  const { page, click, deliver, lists, see } = await openPage({ locale: 'en-GB' });
  await page.route(`${stack.demoUrl}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ path: join(root, 'dist', pathname === '/' ? 'index.html' : pathname) });
  });
  await page.goto(stack.demoUrl);
  await page.locator('inquiry-form[list]').waitFor({ state: 'attached' });
  if (place === 'last') await page.evaluate('load().then(() => undefined)');
  await see('Please sign in');
  await click('Sign in');
  await deliver('from an app');
  await lists('from an app');
});
