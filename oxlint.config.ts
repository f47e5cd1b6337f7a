import { defineConfig } from 'oxlint';

/** What rooms may import, as in docs/architecture.md. docs/adr/0073 */
export const ARROWS = {
  text: [],
  src: ['text'],
  mail: ['src', 'text'],
  ui: [],
  web: ['src', 'text', 'ui'],
  lib: ['src', 'text', 'infra'],
  inbox: ['src', 'text', 'ui', 'lib'],
  local: ['src', 'text', 'lib', 'infra'],
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
  message: 'Only entities and mail know AWS.',
};
const table = {
  regex: '^(electrodb|@aws-sdk/(client|lib)-dynamodb)$',
  message: 'Only src/entities speaks to DynamoDB.',
};
/** A handler runs when it is imported. */
const handlers = { regex: '/handler\\.ts$', message: 'Nothing imports a handler.' };
const contract = {
  regex: '/src/contract\\.ts$',
  allowTypeImports: true,
  message: 'web may import only types of the contract.',
};
const service = {
  group: ['**/../src/**', '!**/../src/{contract,limits}.ts'],
  message: "web may import src's contract and limits.",
};

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  rules: {
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'import/no-default-export': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
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
  // The types of React and Vue are those of tests/form/apps.
  ignorePatterns: ['dist', 'web/package/{react,vue}.d.ts'],
  overrides: [
    { files: ['**/*.config.ts'], rules: { 'import/no-default-export': 'off' } },
    {
      files: ['src/log.ts', 'mail/log.ts', 'bench/contenders/**'],
      rules: { 'eslint/no-console': 'off' },
    },
    {
      files: ['{lib,inbox,local,deploy,scripts,tests,bench}/**'],
      rules: { 'typescript/no-unsafe-type-assertion': 'off' },
    },
    { files: ['bench/contenders/**'], rules: { 'oxc/no-async-endpoint-handlers': 'off' } },
    { files: ['tests/**'], rules: { 'unicorn/consistent-function-scoping': 'off' } },
    {
      files: ['tests/**/*.{apps,browser,firefox}.test.ts', 'tests/{security,resilience}/**'],
      rules: { 'vitest/expect-expect': 'off' },
    },
    { files: ['tests/{security,resilience}/**'], rules: { 'vitest/no-conditional-expect': 'off' } },
    { files: ['{src,mail,text}/**'], rules: { 'node/no-process-env': 'error' } },
    ...(['src', 'mail', 'text', 'ui', 'lib', 'inbox', 'local', 'deploy', 'scripts'] as const).map(
      (room) => refuseImports(`${room}/**`, outOf(room), handlers, table),
    ),
    refuseImports('local/database/**', outOf('local'), handlers),
    refuseImports('bench/**', outOf('bench'), handlers),
    refuseImports('web/**', outOf('web'), contract, service),
    refuseImports('src/*.ts', outOf('src'), handlers, database),
    refuseImports('src/{entities,shims}/**', outOf('src'), handlers),
    refuseImports('text/**', outOf('text'), database),
    {
      files: ['{src,mail}/**/handler.ts', 'src/shims/credential-provider-node.ts'],
      rules: { 'node/no-process-env': 'off' },
    },
  ],
});
