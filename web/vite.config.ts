import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  defineConfig,
  type BuildEnvironmentOptions,
  type Plugin,
  type Rolldown,
  type UserConfig,
} from 'vite';
import { LANGUAGES } from '../text/languages.ts';
import { loadLocale } from './src/languages/locale.ts';

const read = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');
const hashOf = (text: string): string =>
  `sha256-${createHash('sha256').update(text).digest('base64')}`;

async function renderLanguages(bundle: Rolldown.OutputBundle): Promise<string> {
  const elements = LANGUAGES.map(async (language) => {
    const { direction, strings } = await loadLocale(language, []);
    const chunk = Object.values(bundle).find(
      (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith(`/languages/${language}.ts`),
    );
    return `<meta name="language" data-language="${language}" data-direction="${direction}" data-title="${strings.form.title}" data-wait="${strings.page.wait}" content="./${chunk?.fileName}" />`;
  });
  return (await Promise.all(elements)).join('');
}

/** Paints in the visitor's language before other files arrive; the main style sheet would delay it. */
function firstPaint(): Plugin {
  const [style, script] = [read('../ui/first-paint.css'), read('src/first-paint.js')];
  return {
    name: 'first-paint',
    generateBundle() {
      const source = read('404.html').replace('</title>', () => `</title><style>${style}</style>`);
      this.emitFile({ type: 'asset', fileName: '404.html', source });
    },
    transformIndexHtml: {
      order: 'post',
      async handler(page, { bundle }) {
        if (!page.includes('FIRST_PAINT_STYLE') || bundle === undefined) return page;
        const languages = await renderLanguages(bundle);
        const [sheet = ''] = /<link rel="stylesheet"[^>]*>/.exec(page) ?? [];
        return page
          .replace('FIRST_PAINT_STYLE', hashOf(style))
          .replace('FIRST_PAINT_SCRIPT', hashOf(script))
          .replace(sheet, '')
          .replace('<title>', () => `<style>${style}</style>${languages}<title>`)
          .replace('</body>', () => `<script>${script}</script>${sheet}</body>`);
      },
    },
  };
}

const build: BuildEnvironmentOptions = {
  target: 'baseline-widely-available',
  // The first versions with light-dark().
  cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
  // The policy refuses data: addresses of inlined files.
  assetsInlineLimit: 0,
  modulePreload: false,
};

const element: BuildEnvironmentOptions = {
  ...build,
  lib: {
    entry: join(import.meta.dirname, 'src/element.ts'),
    formats: ['es'],
    fileName: () => 'inquiry-form.js',
  },
  rolldownOptions: { output: { chunkFileNames: 'assets/[name]-[hash].js', minify: true } },
};

const MODES: Partial<Record<string, UserConfig>> = {
  element: { publicDir: false, build: { ...element, emptyOutDir: false } },
  package: { publicDir: 'package', build: { ...element, outDir: '../dist/inquiry-form' } },
};

/** Builds the page, or by `--mode` the element, beside the page or as a package of npm. */
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  // A relative base works under any path.
  base: './',
  ...(MODES[mode] ?? { build, plugins: [firstPaint()] }),
}));
