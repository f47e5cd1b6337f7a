import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const project = (name: string, more: object = {}) => ({
  test: { name, include: [`tests/${name}/**/*.test.ts`], ...more },
});

/** `--mode hard` (npm run test:hard) runs the counts in full; otherwise a fast selection of each. */
export default defineConfig(({ mode }) => {
  const hard = {
    globalSetup: ['tests/helpers/engines-setup.ts', 'tests/helpers/report-setup.ts'],
    provide: { hard: mode === 'hard' },
    testTimeout: mode === 'hard' ? 1_800_000 : 120_000,
    hookTimeout: 90_000,
  };
  return {
    test: {
      // Most tests wait for processes: two workers on two cores, too, where Vitest would start one.
      ...(mode !== 'hard' && { maxWorkers: Math.max(2, availableParallelism() - 1) }),
      // Only tests that say `concurrent` share the time: those under security and resilience wait for timeouts.
      maxConcurrency: 16,
      projects: [
        project('unit', { testTimeout: 60_000, hookTimeout: 60_000 }),
        project('integration', {
          globalSetup: 'tests/helpers/engines-setup.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        }),
        project('e2e', { testTimeout: 60_000, hookTimeout: 90_000 }),
        project('browser', {
          testTimeout: 60_000,
          hookTimeout: 90_000,
          // The default of a second is too short for a busy machine.
          expect: { poll: { timeout: 15_000 } },
        }),
        project('repository', { testTimeout: 60_000, hookTimeout: 60_000 }),
        project('security', hard),
        project('resilience', hard),
      ],
    },
  };
});
