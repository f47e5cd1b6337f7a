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
import { basename, dirname, join } from 'node:path';
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
Usage: npm run check:infra [-- --no-skip]

  --no-skip   fail if a check cannot run, instead of skipping it with the reason

Needs terraform >= 1.11 on the PATH. The AWS provider comes from where Terraform finds it, or from the folder in
TF_PLUGIN_DIR (layout: HOST/hashicorp/aws/VERSION/PLATFORM).
`;

/** The modules with the test files that run in each workspace. */
const MODULES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'infra/terraform': {
    develop: ['every_stage', 'site', 'mailer'],
    main: ['every_stage', 'everything'],
    release: ['every_stage'],
  },
  'infra/terraform/bootstrap': { default: ['bootstrap'] },
};
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
  const overrides = isOffline ? 'infra/terraform/{,*/}tests/*_override.tf' : [];
  for (const file of globSync(overrides, { cwd: ROOT })) {
    cpSync(join(ROOT, file), join(copy, dirname(file), '..', basename(file)));
  }
  return copy;
}

/** Runs the checks and prints their results. @returns Whether none failed, and why some cannot run, if they cannot. */
async function checkAll({ stdout, env }: Io): Promise<{ isClean: boolean; lack?: string }> {
  let isClean = true;
  const terraform = (cwd: string, args: readonly string[], workspace: string) =>
    run(programOf(env), [...args, '-no-color'], {
      cwd,
      env: terraformEnv({ TF_WORKSPACE: workspace }, env),
    });
  /** A test passes only when it ran at least one `run` block. */
  const check = async (cwd: string, args: readonly string[], workspace = 'default') => {
    const { code, output } = await terraform(cwd, args, workspace);
    const isPassed = code === 0 && !output.includes(' 0 passed');
    isClean &&= isPassed;
    const runs = isPassed ? (/\d+ passed/.exec(output)?.[0] ?? '') : `\n${output}`;
    stdout.write(`${isPassed ? 'passed' : 'failed'}   ${args.join(' ')} (${workspace}) ${runs}\n`);
  };

  const lack = await terraformUnavailableReason(env);
  if (lack !== undefined) return { isClean, lack };
  await check(MODULE, ['fmt', '-check', '-diff', '-recursive']);
  const source = providerSource(env);
  const copy = copyModules(source.length > 0);
  if (source.length > 0) {
    stdout.write('AWS provider 5.100 of TF_PLUGIN_DIR; users get 6.x (versions.tf).\n');
  }
  try {
    for (const [name, tests] of Object.entries(MODULES)) {
      const cwd = join(copy, name);
      const init = await terraform(cwd, ['init', '-backend=false', ...source], 'default');
      if (NO_PROVIDER.test(init.output)) {
        return { isClean, lack: 'Terraform finds no AWS provider; TF_PLUGIN_DIR names a folder.' };
      }
      await check(cwd, ['validate']);
      const runs = Object.entries(tests).map(([workspace, files]) =>
        check(cwd, ['test', ...files.map((file) => `-filter=tests/${file}.tftest.hcl`)], workspace),
      );
      await Promise.all(runs);
    }
    return { isClean };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

export const main: Main = async (args, io) => {
  const options = { 'no-skip': { type: 'boolean', default: false } } as const;
  const { 'no-skip': noSkip } = parseOptions(USAGE, options, args);
  const { isClean, lack } = await checkAll(io);
  if (lack !== undefined) io.stdout.write(`SKIPPED: check:infra. ${lack}\n`);
  return isClean && !(noSkip && lack !== undefined) ? 0 : 1;
};

if (import.meta.main) await runCommand(main);
