import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

/**
 * Puts src/first-paint.css into the page, so that it is painted before another file has arrived, and its hash into the
 * page's policy. The other style sheet is moved behind the static content, whose painting it would block.
 */
function firstPaint(): Plugin {
  const file = join(import.meta.dirname, 'src/first-paint.css');
  return {
    name: 'first-paint',
    transformIndexHtml: {
      order: 'post',
      handler(page) {
        // The operators' page is built with this configuration, too.
        if (!page.includes('FIRST_PAINT_HASH')) return page;
        const style = readFileSync(file, 'utf8');
        const hash = createHash('sha256').update(style).digest('base64');
        const [link = ''] = /\s*<link rel="stylesheet"[^>]*>/.exec(page) ?? [];
        return page
          .replace('FIRST_PAINT_HASH', `sha256-${hash}`)
          .replace(link, '')
          .replace('<title>', () => `<style>${style}</style>\n    <title>`)
          .replace('</body>', `${link.trimStart()}\n  </body>`);
      },
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [firstPaint()],
  // Relative addresses: the build can lie under any path of any host.
  base: './',
  build: {
    target: 'baseline-widely-available',
    emptyOutDir: true,
    // Inlined files would be data: addresses, which the Content-Security-Policy refuses.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: true,
  },
});
