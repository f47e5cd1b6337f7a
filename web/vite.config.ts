import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
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
