import { join } from 'node:path';
import { defineConfig } from 'vite';
import form from './vite.config.ts';

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  publicDir: false,
  build: {
    ...form.build,
    emptyOutDir: false,
    lib: {
      entry: join(import.meta.dirname, 'src/element.ts'),
      formats: ['es'],
      fileName: () => 'inquiry-form.js',
    },
    rolldownOptions: { output: { chunkFileNames: 'assets/[name]-[hash].js', minify: true } },
  },
});
