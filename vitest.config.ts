import { defineConfig } from 'vitest/config';

const project = (name: string, more: object = {}) => ({
  test: { name, include: [`tests/${name}/**/*.test.ts`], ...more },
});

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      project('integration', {
        globalSetup: 'tests/helpers/engines-setup.ts',
        testTimeout: 60_000,
        hookTimeout: 60_000,
      }),
      project('e2e', { testTimeout: 60_000, hookTimeout: 90_000 }),
      project('browser', { testTimeout: 60_000, hookTimeout: 90_000 }),
    ],
  },
});
