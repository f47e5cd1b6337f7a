import { defineConfig } from 'vitest/config';

/** The tests that StrykerJS runs for each mutant: those that import src/ in their own process. docs/mutation.md */
export default defineConfig({
  test: {
    include: ['tests/unit/**/*.test.ts', 'tests/integration/{store,long-lists}.test.ts'],
    exclude: ['tests/unit/{build,client,web-*,openapi,stand-ins}.test.ts'],
    globalSetup: 'tests/helpers/engines-setup.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
