/**
 * Checks infra/terraform and infra/terraform/bootstrap without an AWS account: `terraform fmt`, `terraform validate`, and
 * `terraform test` with a mocked provider, of the stages' module in the workspace of each stage. Invalid settings are tested
 * in tests/infra/settings.test.ts.
 *
 * Usage: npm run check:infra [-- --no-skip]. Exit codes: 0 all passed or skipped, 1 a check failed (with --no-skip: or
 * was skipped), 2 bad use.
 */
import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { parseOptions, runCommand, type Io, type Main } from '../lib/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import {
  programOf,
  providerSource,
  run,
  terraformEnv,
  terraformUnavailableReason,
} from './terraform.ts';

const USAGE = `
Usage: npm run check:infra -- [--no-skip]

  --no-skip   fail if a check cannot run, instead of skipping it with the reason

Needs terraform >= 1.11 on the PATH. The AWS provider comes from where Terraform finds it (the registry, a mirror in its
CLI configuration, or ~/.terraform.d/plugins), or from the folder in TF_PLUGIN_DIR (layout: HOST/hashicorp/aws/VERSION/PLATFORM).
`;

interface Check {
  readonly title: string;
  readonly args: readonly string[];
  readonly workspace?: string;
}

/** The modules with the test files that run in each workspace. */
const MODULES: readonly (readonly [
  folder: string,
  tests: Readonly<Record<string, readonly string[]>>,
])[] = [
  [
    MODULE,
    {
      develop: ['every_stage', 'site', 'mailer'],
      main: ['every_stage', 'everything'],
      release: ['every_stage'],
    },
  ],
  [join(MODULE, 'bootstrap'), { default: ['bootstrap'] }],
];
const toTest = ([workspace, files]: [string, readonly string[]]): Check => ({
  title: `test ${files.join(', ')} in workspace ${workspace}`,
  args: ['test', '-no-color', ...files.map((file) => `-filter=tests/${file}.tftest.hcl`)],
  workspace,
});
/** The modules, and what they and their tests read of other folders. */
const FILES = [
  'infra/terraform/{,*/}{*.tf,tests/**/*.hcl}',
  'infra/terraform/{service,stream-filters}.json',
  'web/{src,ui}/first-paint.*',
  'docs/runbook.md',
];
/** Terraform's errors when it has no source with the provider. */
const NO_PROVIDER = /Failed to (query available provider packages|install provider)/;

/**
 * Copies the modules, so that settings, state and lock files of this checkout do not affect the result or change.
 *
 * @param isOffline - Whether the copies take the provider of TF_PLUGIN_DIR, 5.100, in place of the users' 6.x.
 */
function copyModules(isOffline: boolean): string {
  const copy = mkdtempSync(join(tmpdir(), 'check-infra-'));
  for (const file of globSync(FILES, { cwd: ROOT })) {
    if (!file.endsWith('_override.tf')) cpSync(join(ROOT, file), join(copy, file));
  }
  for (const [folder] of isOffline ? MODULES : []) {
    for (const file of globSync('tests/*_override.tf', { cwd: folder })) {
      cpSync(join(folder, file), join(copy, relative(ROOT, folder), basename(file)));
    }
  }
  return copy;
}

/** Runs the checks and prints their results. @returns How many there were of each. */
async function checkAll({ stdout, env }: Io) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const report = (result: keyof typeof counts, title: string, detail = ''): void => {
    counts[result] += 1;
    stdout.write(`${result.padEnd(8)} ${title}${detail}\n`);
  };
  const terraform = (args: readonly string[], cwd: string, workspace?: string) =>
    run(programOf(env), args, { cwd, env: terraformEnv({ TF_WORKSPACE: workspace }, env) });
  /** A test passes only when it ran at least one `run` block. */
  const check = async (cwd: string, { title, args, workspace }: Check): Promise<boolean> => {
    const { code, output } = await terraform(args, cwd, workspace);
    const runs = /(\d+) passed, \d+ failed/.exec(output)?.[1];
    const passed = code === 0 && (args[0] !== 'test' || Number(runs) > 0);
    report(
      passed ? 'passed' : 'failed',
      title,
      passed && runs !== undefined ? `: ${runs} runs` : '',
    );
    if (!passed) stdout.write(`${output.trim()}\n`);
    return passed;
  };

  const unavailable = await terraformUnavailableReason(env);
  if (unavailable !== undefined) {
    report('skipped', `all checks: ${unavailable}`);
    return counts;
  }
  await check(MODULE, { title: 'format', args: ['fmt', '-check', '-diff', '-recursive'] });
  const source = providerSource(env);
  const copy = copyModules(source.length > 0);
  if (source.length > 0) {
    stdout.write('AWS provider 5.100 of TF_PLUGIN_DIR; users get 6.x (versions.tf).\n');
  }
  try {
    for (const [folder, tests] of MODULES) {
      const checks = Object.entries(tests).map(toTest);
      const name = relative(ROOT, folder);
      const validate: Check = { title: `validate ${name}`, args: ['validate', '-no-color'] };
      const cwd = join(copy, name);
      const init = ['init', '-no-color', '-backend=false', ...source];
      const { code, output } = await terraform(init, cwd);
      if (NO_PROVIDER.test(output)) {
        report(
          'skipped',
          `${name}: Terraform finds no AWS provider; TF_PLUGIN_DIR names a folder with one`,
        );
      } else if (code !== 0) {
        report('failed', 'init', `\n${output.trim()}`);
      } else if (await check(cwd, validate)) {
        await Promise.all(checks.map((each) => check(cwd, each)));
      }
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  return counts;
}

export const main: Main = async (args, io) => {
  const options = { 'no-skip': { type: 'boolean', default: false } } as const;
  const { 'no-skip': noSkip } = parseOptions(USAGE, options, args);
  const { passed, failed, skipped } = await checkAll(io);
  io.stdout.write(`check:infra: ${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  return failed > 0 || (noSkip && skipped > 0) ? 1 : 0;
};

if (import.meta.main) await runCommand(main);
