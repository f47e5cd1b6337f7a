import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Builds the custom element into the output of vite.config.ts: inquiry-form.js, and its languages in assets/. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  publicDir: false,
  build: {
    target: 'baseline-widely-available',
    emptyOutDir: false,
    lib: {
      entry: join(import.meta.dirname, 'src/element.ts'),
      formats: ['es'],
      fileName: () => 'inquiry-form.js',
    },
    rolldownOptions: { output: { chunkFileNames: 'assets/[name]-[hash].js', minify: true } },
    reportCompressedSize: true,
  },
});
