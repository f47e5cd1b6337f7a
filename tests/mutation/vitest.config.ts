import { defineConfig } from 'vitest/config';

/** The tests that StrykerJS runs for each mutant: those that import src/ into their own process. docs/mutation.md */
export default defineConfig({
  test: {
    include: ['tests/{function,mailer}/*.test.ts'],
    exclude: [
      'tests/**/*.process.test.ts',
      'tests/function/{build,openapi,contract,retention,capacity}.test.ts',
      'tests/mailer/mailer.test.ts',
    ],
    globalSetup: 'tests/helpers/engines-setup.ts',
    // Instrumented code is slower; StrykerJS has a time limit of its own for each mutant.
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
