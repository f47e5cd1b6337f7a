/**
 * Checks infra/terraform and infra/terraform/bootstrap without an AWS account: `terraform fmt`, `terraform validate`, and
 * `terraform test` with a mocked provider, of the stages' module in the workspace of each stage. Invalid settings are tested in tests/infra/module.test.ts.
 *
 * Usage: npm run check:infra [-- --no-skip]. Exit codes: 0 all passed or skipped, 1 a check failed (with --no-skip: or
 * was skipped), 2 bad use.
 */
import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { parseOptions, runCommand } from '../lib/command-line.ts';
import {
  providerSource,
  run,
  TERRAFORM,
  terraformEnv,
  terraformUnavailableReason,
  testFilesOf,
} from './terraform.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import { STAGES } from '../lib/stages.ts';

const USAGE = `
Usage: npm run check:infra -- [--no-skip]

  --no-skip   fail if a check cannot run, instead of skipping it with the reason

Needs terraform >= 1.10 on the PATH. The AWS provider comes from the registry, or from the folder in TF_PLUGIN_DIR
(layout: HOST/hashicorp/aws/VERSION/PLATFORM).
`;

interface Check {
  readonly title: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

const FORMAT: Check = { title: 'format', args: ['fmt', '-check', '-diff', '-recursive'] };
const VALIDATE: Check = { title: 'validate', args: ['validate', '-no-color'] };
/** Tests of settings that are the same in every stage: each file runs in the workspace of one of them. */
const SETTINGS = ['inbox', 'observability', 'site'];
/** In the workspace of each stage, the tests of every stage, its own, and a part of those of settings. */
const TESTS = STAGES.map((stage, index): Check => {
  const elsewhere = new Set(SETTINGS.filter((_, at) => at % STAGES.length !== index));
  const files = testFilesOf(stage).filter((file) => !elsewhere.has(basename(file, '.tftest.hcl')));
  return {
    title: `test ${files.map((file) => basename(file, '.tftest.hcl')).join(', ')} in workspace ${stage}`,
    args: ['test', '-no-color', ...files.map((file) => `-filter=${file}`)],
    env: { TF_WORKSPACE: stage },
  };
});
const MODULES = [
  { folder: MODULE, validate: VALIDATE, tests: TESTS },
  {
    folder: join(MODULE, 'bootstrap'),
    validate: { ...VALIDATE, title: 'validate bootstrap' },
    tests: [{ title: 'test bootstrap', args: ['test', '-no-color'] }],
  },
];
/** What the module reads of the form. */
const OF_THE_FORM = ['web/{src,ui}/first-paint.*', 'web/public/*'];
/** Terraform's errors when neither the registry nor TF_PLUGIN_DIR has the provider. */
const NO_PROVIDER = /Failed to (query available provider packages|install provider)/;

const counts = { passed: 0, failed: 0, skipped: 0 };

function report(result: keyof typeof counts, title: string, detail = ''): void {
  counts[result] += 1;
  process.stdout.write(`${result.padEnd(8)} ${title}${detail}\n`);
}

function skip(checks: readonly Check[], reason: string): void {
  for (const { title } of checks) report('skipped', title, `: ${reason}`);
}

/** Runs a check in a folder. A test passes only when it ran at least one `run` block. */
async function check({ title, args, env }: Check, cwd: string): Promise<boolean> {
  const { code, output } = await run(TERRAFORM, args, { cwd, env: terraformEnv(env) });
  const runs = /(\d+) passed, \d+ failed/.exec(output)?.[1];
  const passed = code === 0 && (args[0] !== 'test' || Number(runs) > 0);
  report(passed ? 'passed' : 'failed', title, passed && runs !== undefined ? `: ${runs} runs` : '');
  if (!passed) process.stdout.write(`${output.trim()}\n`);
  return passed;
}

async function checkModule(folder: string, validate: Check, tests: readonly Check[]): Promise<void> {
  const args = ['init', '-no-color', '-backend=false', ...providerSource()];
  const { code, output } = await run(TERRAFORM, args, { cwd: folder, env: terraformEnv() });
  if (NO_PROVIDER.test(output)) {
    process.stdout.write(`${output.trim()}\n`);
    skip([validate, ...tests], 'no AWS provider, neither from the registry nor from TF_PLUGIN_DIR');
  } else if (code !== 0) {
    report('failed', 'init', `\n${output.trim()}`);
  } else if (await check(validate, folder)) {
    await Promise.all(tests.map((test) => check(test, folder)));
  }
}

await runCommand(async () => {
  const { 'no-skip': noSkip } = parseOptions(USAGE, { 'no-skip': { type: 'boolean', default: false } });
  const reason = await terraformUnavailableReason();
  if (reason !== undefined) {
    skip([FORMAT, ...MODULES.flatMap(({ validate, tests }) => [validate, ...tests])], reason);
  } else {
    await check(FORMAT, MODULE);
    for (const { folder, validate, tests } of MODULES) {
      // Runs in a copy: settings, state and lock file of this checkout must not affect the result or change.
      const copy = mkdtempSync(join(tmpdir(), 'check-infra-'));
      try {
        const path = relative(ROOT, folder);
        const files = [
          ...['*.tf', 'stream-filters.json', 'tests/**/*.hcl'].map((name) => join(path, name)),
          ...OF_THE_FORM,
        ];
        for (const file of globSync(files, { cwd: ROOT })) {
          if (!file.endsWith('_override.tf')) cpSync(join(ROOT, file), join(copy, file));
        }
        await checkModule(join(copy, path), validate, tests);
      } finally {
        rmSync(copy, { recursive: true, force: true });
      }
    }
  }
  process.stdout.write(
    `check:infra: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
  );
  if (counts.failed > 0 || (noSkip && counts.skipped > 0)) process.exitCode = 1;
});
