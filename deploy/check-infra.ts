/**
 * Checks infra/terraform and infra/terraform/bootstrap without an AWS account: `terraform fmt` and `terraform validate`.
 * Their resources, policies and settings are tested in tests/infra.
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

const MODULES = ['infra/terraform', 'infra/terraform/bootstrap'];
/** The modules, and what they read of other folders. */
const FILES = [
  'infra/terraform/{,*/}*.tf',
  'infra/terraform/{service,stream-filters}.json',
  'web/{src,ui}/first-paint.*',
];
/** Terraform's errors when it has no source with the provider. */
const NO_PROVIDER = /Failed to (query available provider packages|install provider)/;

/**
 * Copies the modules, so that settings, state and lock files of this checkout do not affect the result or change, and
 * initialises them. With TF_PLUGIN_DIR they take the provider in that folder, 5.100, in place of the users' 6.x.
 *
 * @returns The folder; undefined if Terraform finds no provider.
 */
export async function copyModules(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const copy = mkdtempSync(join(tmpdir(), 'check-infra-'));
  for (const file of globSync(FILES, { cwd: ROOT })) {
    if (!file.endsWith('_override.tf')) cpSync(join(ROOT, file), join(copy, file));
  }
  const source = providerSource(env);
  const overrides = source.length > 0 ? 'infra/terraform/{,*/}tests/*_override.tf' : [];
  for (const file of globSync(overrides, { cwd: ROOT })) {
    cpSync(join(ROOT, file), join(copy, dirname(file), '..', basename(file)));
  }
  for (const module of MODULES) {
    const cwd = join(copy, module);
    const { output } = await terraform(cwd, env, 'init', '-backend=false', ...source);
    if (!NO_PROVIDER.test(output)) continue;
    rmSync(copy, { recursive: true });
    return undefined;
  }
  return copy;
}

const terraform = (cwd: string, env: NodeJS.ProcessEnv, ...args: string[]) =>
  run(programOf(env), [...args, '-no-color'], {
    cwd,
    env: terraformEnv({ TF_WORKSPACE: 'default' }, env),
  });

/** Runs the checks and prints their results. @returns Whether none failed, and why some cannot run, if they cannot. */
async function checkAll({ stdout, env }: Io): Promise<{ isClean: boolean; lack?: string }> {
  let isClean = true;
  const check = async (cwd: string, ...args: string[]) => {
    const { code, output } = await terraform(cwd, env, ...args);
    isClean &&= code === 0;
    stdout.write(`${code === 0 ? 'passed' : `${output}failed`}   ${args.join(' ')}\n`);
  };
  const lack = await terraformUnavailableReason(env);
  if (lack !== undefined) return { isClean, lack };
  await check(MODULE, 'fmt', '-check', '-diff', '-recursive');
  const copy = await copyModules(env);
  if (copy === undefined) {
    return { isClean, lack: 'Terraform finds no AWS provider; TF_PLUGIN_DIR names a folder.' };
  }
  if (env['TF_PLUGIN_DIR']) {
    stdout.write('AWS provider 5.100 of TF_PLUGIN_DIR; users get 6.x (versions.tf).\n');
  }
  for (const module of MODULES) await check(join(copy, module), 'validate');
  rmSync(copy, { recursive: true });
  return { isClean };
}

export const main: Main = async (args, io) => {
  const options = { 'no-skip': { type: 'boolean', default: false } } as const;
  const { 'no-skip': noSkip } = parseOptions(USAGE, options, args);
  const { isClean, lack } = await checkAll(io);
  if (lack !== undefined) io.stdout.write(`SKIPPED: check:infra. ${lack}\n`);
  return isClean && !(noSkip && lack !== undefined) ? 0 : 1;
};

if (import.meta.main) await runCommand(main);
