import { defineConfig } from 'oxlint';

/** What rooms may import, as in docs/architecture.md. docs/adr/0073 */
export const ARROWS = {
  src: [],
  ui: [],
  web: ['src', 'ui'],
  lib: ['src', 'infra'],
  inbox: ['src', 'ui', 'lib'],
  local: ['src', 'lib', 'infra'],
  deploy: ['web', 'lib'],
  scripts: ['src', 'lib'],
  bench: ['src', 'lib', 'local'],
  tests: [],
  infra: [],
} as const;

/** Imports from a room into one that it may not use. */
function outOf(room: keyof typeof ARROWS) {
  const allowed = [room, ...ARROWS[room]];
  const others = Object.keys(ARROWS).filter((other) => !allowed.some((one) => one === other));
  return {
    regex: `^(\\.\\./)+(${others.join('|')})/`,
    message: `${room} may import ${allowed.join(', ')}.`,
  };
}

/** A file's last override holds. */
const refuseImports = (files: string, ...patterns: object[]) => ({
  files: [files],
  rules: { 'eslint/no-restricted-imports': ['error', { patterns }] as ['error', object] },
});

const database = {
  regex: '^(@aws-sdk/|electrodb$)',
  message: 'Only entities and mailer know DynamoDB.',
};
const table = {
  regex: '^(electrodb|@aws-sdk/(client|lib)-dynamodb)$',
  message: 'Only src/entities speaks to DynamoDB.',
};
const mailer = {
  regex: '/(mailer|receiver)/',
  message: 'The request function knows nothing of mails.',
};
/** A handler runs when it is imported. */
const handlers = { regex: '/handler\\.ts$', message: 'Nothing imports a handler.' };
const contract = {
  regex: '/src/contract\\.ts$',
  allowTypeImports: true,
  message: 'web may import only types of the contract.',
};
const service = {
  group: ['../../src/**', '!../../src/{contract,limits}.ts', '!../../src/text/*.ts'],
  message: "web may import src's text, contract and limits.",
};
const outOfText = { group: ['../**', '!../limits.ts'], message: 'text may import limits.' };

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  rules: {
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'import/no-default-export': 'error',
    'import/no-cycle': 'error',
    'vitest/valid-title': ['error', { mustMatch: '^.{1,90}$' }],
    'vitest/expect-expect': ['error', { assertFunctionNames: ['expect', 'expect*'] }],
    'eslint/curly': ['error', 'multi-line', 'consistent'],
    'eslint/eqeqeq': 'error',
    'eslint/no-console': 'error',
    'eslint/no-await-in-loop': 'off',
    // tsc's noImplicitReturns knows exhaustive switches.
    'typescript/consistent-return': 'off',
    'typescript/unbound-method': 'off',
    'unicorn/require-post-message-target-origin': 'off',
  },
  ignorePatterns: ['dist'],
  overrides: [
    { files: ['**/*.config.ts'], rules: { 'import/no-default-export': 'off' } },
    {
      files: ['src/log.ts', 'src/mailer/log.ts', 'bench/contenders/**'],
      rules: { 'eslint/no-console': 'off' },
    },
    {
      files: ['{lib,inbox,local,deploy,scripts,tests,bench}/**'],
      rules: { 'typescript/no-unsafe-type-assertion': 'off' },
    },
    { files: ['bench/contenders/**'], rules: { 'oxc/no-async-endpoint-handlers': 'off' } },
    { files: ['tests/**'], rules: { 'unicorn/consistent-function-scoping': 'off' } },
    {
      files: ['tests/**/*.{browser,firefox}.test.ts', 'tests/{security,resilience}/**'],
      rules: { 'vitest/expect-expect': 'off' },
    },
    { files: ['tests/{security,resilience}/**'], rules: { 'vitest/no-conditional-expect': 'off' } },
    { files: ['src/**'], rules: { 'node/no-process-env': 'error' } },
    ...(['src', 'ui', 'lib', 'inbox', 'local', 'deploy', 'scripts'] as const).map((room) =>
      refuseImports(`${room}/**`, outOf(room), handlers, table),
    ),
    refuseImports('local/database/**', outOf('local'), handlers),
    refuseImports('bench/**', outOf('bench'), handlers),
    refuseImports('web/**', outOf('web'), contract, service),
    refuseImports('src/*.ts', outOf('src'), handlers, database, mailer),
    refuseImports('src/{entities,shims}/**', outOf('src'), handlers, mailer),
    refuseImports('src/text/**', outOfText, database),
    {
      files: ['src/**/handler.ts', 'src/shims/credential-provider-node.ts'],
      rules: { 'node/no-process-env': 'off' },
    },
  ],
});
