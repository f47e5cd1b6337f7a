import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Builds the custom element into the output of vite.config.ts: inquiry-form.js, and its languages in assets/. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  publicDir: false,
  build: {
    target: 'baseline-widely-available',
    // Browsers with light-dark(): its replacement for older ones needs `color-scheme` in the same style sheet, where the
    // element takes it from the page.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    emptyOutDir: false,
    lib: { entry: join(import.meta.dirname, 'src/element.ts'), formats: ['es'], fileName: () => 'inquiry-form.js' },
    rolldownOptions: { output: { chunkFileNames: 'assets/[name]-[hash].js', minify: true } },
  },
});
