import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const PRODUCTS = 'tests/{function,mailer,form,inbox,local,deploy,infra}';

const SETUP = ['tests/helpers/build-setup.ts', 'tests/helpers/engines-setup.ts'];
const BROWSER = {
  globalSetup: [...SETUP, 'tests/helpers/stack-setup.ts'],
};

/**
 * The suffix of a file tells what it needs: a browser, processes of the commands, Terraform's AWS provider, an emulator of AWS,
 * or nothing.
 */
const product = (name: string, include: string, more: object = {}) => ({
  test: {
    name,
    include: [`${PRODUCTS}/**/${include}`],
    globalSetup: SETUP,
    testTimeout: 60_000,
    hookTimeout: 90_000,
    // The default poll of a second is too short for a busy machine.
    expect: { poll: { timeout: 30_000 } },
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    ...more,
  },
});

/** `--mode hard` (npm run test:hard) runs the counts in full; otherwise a fast selection of each. */
export default defineConfig(({ mode }) => {
  const hard = (name: string) => ({
    test: {
      name,
      include: [`tests/${name}/**/*.test.ts`],
      globalSetup: SETUP,
      provide: { hard: mode === 'hard' },
      // memory.test.ts takes half an hour, and longer on a busy machine.
      testTimeout: mode === 'hard' ? 3_600_000 : 120_000,
      hookTimeout: 90_000,
    },
  });
  return {
    test: {
      // Most tests wait for processes and for the browser.
      ...(mode !== 'hard' && { maxWorkers: 2 * availableParallelism() }),
      // Only tests that say `concurrent` share the time: those under security and resilience wait for timeouts.
      maxConcurrency: 16,
      projects: [
        product('plain', '!(*.browser|*.process|*.provider|*.apply).test.ts'),
        product('process', '*.process.test.ts'),
        product('browser', '!(states).browser.test.ts', BROWSER),
        // What the browser shows in every state and every language: in npm run test:all.
        product('states', 'states.browser.test.ts', BROWSER),
        // Each start of the provider takes seconds: in npm run test:all.
        product('provider', '*.provider.test.ts', { testTimeout: 300_000 }),
        product('apply', '*.apply.test.ts', { testTimeout: 1_800_000, hookTimeout: 300_000 }),
        hard('security'),
        hard('resilience'),
      ],
    },
  };
});
