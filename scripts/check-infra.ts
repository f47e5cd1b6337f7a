/**
 * Checks infra/terraform without an AWS account: `terraform fmt`, `terraform validate`, and `terraform test` with a mocked
 * provider in the workspace of each stage. Invalid settings are tested in tests/repository/infra.test.ts.
 *
 * Usage: npm run check:infra [-- --no-skip]. Exit codes: 0 all passed or skipped, 1 a check failed (with --no-skip: or
 * was skipped), 2 bad use.
 */
import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, runCommand } from './cli.ts';
import {
  isRecentEnough,
  MODULE,
  providerSource,
  run,
  STAGES,
  terraformEnv,
  terraformVersion,
} from './infra/terraform.ts';
import type { Outcome } from './infra/terraform.ts';

const USAGE = `
Usage: npm run check:infra -- [--no-skip]

  --no-skip   fail if a check cannot run, instead of skipping it with the reason

Needs terraform >= 1.10 on the PATH. The AWS provider comes from the registry, or from the folder in TF_PLUGIN_DIR
(layout: HOST/hashicorp/aws/VERSION/PLATFORM).
`;

interface Check {
  readonly title: string;
  readonly args: readonly string[];
  readonly workspace?: string;
}

/** In each workspace, the tests of every stage and those of its own. */
const TESTS = STAGES.map((stage): Check => {
  const files = ['every_stage', stage].map((name) => `-filter=tests/${name}.tftest.hcl`);
  return {
    title: `test every_stage, ${stage} in workspace ${stage}`,
    args: ['test', '-no-color', ...files],
    workspace: stage,
  };
});

const counts = { passed: 0, failed: 0, skipped: 0 };

function report(result: 'passed' | 'failed' | 'skipped', title: string, detail: string): void {
  counts[result] += 1;
  process.stdout.write(`${result.padEnd(8)} ${title}${detail === '' ? '' : `: ${detail}`}\n`);
}

/** The first error of Terraform's output on one line, without its frame. */
function firstError(output: string): string {
  const start = output.indexOf('Error: ');
  return (start === -1 ? output : output.slice(start + 7))
    .replaceAll(/[\s╷│╵]+/g, ' ')
    .trim()
    .slice(0, 240);
}

async function check({ title, args, workspace }: Check, cwd: string): Promise<boolean> {
  const env = terraformEnv(workspace === undefined ? {} : { TF_WORKSPACE: workspace });
  const outcome = await run('terraform', args, { cwd, env });
  const runs = /(\d+) passed, (\d+) failed/.exec(outcome.output)?.[1];
  const passed = outcome.code === 0 && (args[0] !== 'test' || (runs !== undefined && runs !== '0'));
  report(passed ? 'passed' : 'failed', title, passed && runs !== undefined ? `${runs} runs` : '');
  if (!passed) process.stdout.write(`${outcome.output.trim()}\n`);
  return passed;
}

/** Whether `terraform init` failed for want of the provider, not because of a mistake in the module. */
const isProviderUnavailable = ({ output }: Outcome): boolean =>
  /Failed to (query available provider packages|install provider)|could not connect to|registry/i.test(
    output,
  ) && !/Invalid|Unsupported|Duplicate/.test(output);

async function checkModule(folder: string): Promise<void> {
  const init = await run('terraform', ['init', '-no-color', '-backend=false', ...providerSource()], {
    cwd: folder,
    env: terraformEnv(),
  });
  if (init.code !== 0) {
    if (!isProviderUnavailable(init)) {
      report('failed', 'init', firstError(init.output));
      return;
    }
    process.stdout.write(
      `The AWS provider is not available, neither from the registry nor from TF_PLUGIN_DIR: ${firstError(init.output)}\n`,
    );
    for (const { title } of [{ title: 'validate' }, ...TESTS]) report('skipped', title, 'no AWS provider');
    return;
  }
  if (!(await check({ title: 'validate', args: ['validate', '-no-color'] }, folder))) return;

  const waiting = [...TESTS];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await check(next, folder);
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work));
}

await runCommand(async () => {
  const { 'no-skip': noSkip } = parseOptions(USAGE, { 'no-skip': { type: 'boolean', default: false } });
  const version = await terraformVersion();
  if (version === undefined || !isRecentEnough(version)) {
    const reason =
      version === undefined ? 'no terraform on the PATH' : `terraform ${version} is older than 1.10`;
    for (const { title } of [{ title: 'format' }, { title: 'validate' }, ...TESTS])
      report('skipped', title, reason);
  } else {
    await check({ title: 'format', args: ['fmt', '-check', '-diff', '-recursive'] }, MODULE);
    // Runs in a copy: settings, state and lock file of this checkout must not affect the result or change.
    const folder = mkdtempSync(join(tmpdir(), 'check-infra-'));
    try {
      for (const file of globSync(['*.tf', 'tests/**/*.hcl'], { cwd: MODULE })) {
        if (!file.endsWith('_override.tf')) cpSync(join(MODULE, file), join(folder, file));
      }
      await checkModule(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  process.stdout.write(
    `check:infra: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
  );
  if (counts.failed > 0 || (noSkip && counts.skipped > 0)) process.exitCode = 1;
});
