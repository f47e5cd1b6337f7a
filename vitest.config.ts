import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { skippedReporter } from './tests/helpers/skipped-reporter.ts';

/** Programs, folders, languages, and what CONTRIBUTING names: none of the user's settings of AWS, service, terminal or editor. */
const KEPT =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_.*|CI|GITHUB_.*|npm_.*|NODE_(?!ENV).*|GO[A-Z]+|SSL_CERT_.*|JAVA_HOME|DISPLAY|XDG_.*|CHROMIUM_PATH|TERRAFORM|REQUIRE_.*|SCREENSHOTS|TF_PLUGIN_DIR|TF_CLI_CONFIG_FILE|DYNAMODB_ENDPOINT|VITEST.*)$/;
for (const name of Object.keys(process.env)) {
  const isEmulator = name === 'AWS_ENDPOINT_URL' && process.argv.includes('apply');
  if (!KEPT.test(name) && !isEmulator) delete process.env[name];
}

const PRODUCTS = 'tests/{function,mail,text,form,inbox,local,deploy,infra}';

const BROWSER = { globalSetup: ['tests/form/stack-setup.ts'] };
/** Milliseconds; only a hang takes so long. */
const HANG = 10 * 60_000;

/**
 * A file's suffix is what it needs: a browser, processes of the commands, Terraform's AWS provider, or an emulator of
 * AWS.
 */
const product = (name: string, include: string, more: object = {}) => ({
  test: {
    name,
    include: [`${PRODUCTS}/**/${include}`],
    testTimeout: HANG,
    hookTimeout: HANG,
    expect: { poll: { timeout: HANG / 2 } },
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    ...more,
  },
});

/** `--mode hard` (npm run test:hard) runs full counts, otherwise a selection. */
export default defineConfig(({ mode }) => {
  const hard = (name: string) => ({
    test: {
      name,
      include: [`tests/${name}/**/*.test.ts`],
      provide: { hard: mode === 'hard' },
      // memory.test.ts takes half an hour or more.
      testTimeout: mode === 'hard' ? 24 * HANG : HANG,
      hookTimeout: HANG,
      expect: { poll: { timeout: HANG / 2 } },
    },
  });
  return {
    test: {
      // Built and started once for all projects.
      globalSetup: ['tests/helpers/build-setup.ts', 'tests/helpers/engines-setup.ts'],
      reporters: ['default', skippedReporter],
      // A golden part for each story, under the name of its test.
      resolveSnapshotPath: (test) =>
        join(dirname(test), 'golden', `${basename(test).replace(/\.test\.ts$/, '')}.txt`),
      snapshotFormat: { escapeString: false },
      // Many tests wait: for timeouts, for browsers, and at a share of a core.
      maxWorkers: availableParallelism() + 1,
      // For tests that say `concurrent`: those under security and resilience wait for timeouts.
      maxConcurrency: 16,
      projects: [
        product('plain', '!(*.browser|*.firefox|*.apps|*.process|*.provider|*.apply).test.ts'),
        product('process', '*.process.test.ts'),
        product('browser', '!(states).browser.test.ts', BROWSER),
        // In npm run test:all.
        product('states', 'states.browser.test.ts', BROWSER),
        // Journeys in a second browser: in npm run test:all.
        product('firefox', '*.firefox.test.ts', BROWSER),
        // The package of npm in apps of React and Vue, which are installed for it: in npm run test:all.
        product('apps', '*.apps.test.ts', BROWSER),
        // Each start of the provider takes seconds: in npm run test:all.
        product('provider', '*.provider.test.ts'),
        // Each kill of a deployment is followed by another one: an hour beside other work.
        product('apply', '*.apply.test.ts', { testTimeout: 9 * HANG }),
        hard('security'),
        hard('resilience'),
      ],
    },
  };
});
