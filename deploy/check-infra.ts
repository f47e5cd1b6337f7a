/** Exit codes: 0 all passed or skipped, 1 a check failed (with --no-skip: or was skipped), 2 bad use. */
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseOptions, runCommand, type Main } from '../lib/terminal/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import {
  programOf,
  providerSource,
  terraformEnv,
  terraformUnavailableReason,
} from './terraform.ts';
import { run } from '../lib/terminal/run.ts';

const USAGE = `
Usage: npm run check:infra [-- --no-skip]

  --no-skip   fail if a check cannot run, instead of skipping it with the reason
`;

const MODULES = ['infra/terraform', 'infra/terraform/bootstrap'];
/**
 * Settings, state and locks of a checkout, and files that tests add: checks take the newest provider that is allowed.
 */
const LOCAL = /\.terraform|\.tfstate|\.tfbackend$|\.tfvars|terraform\/[^/]+_override\.tf$/;
/** Terraform's errors without a source of the provider. */
const NO_PROVIDER = /Failed to (query available provider packages|install provider)/;

const isShared = (file: string): boolean => !LOCAL.test(file);

/** Whether TF_PLUGIN_DIR has provider 5.100, for which the modules are overridden; users get 6.x. */
export const hasOldProvider = ({ TF_PLUGIN_DIR: folder }: NodeJS.ProcessEnv): boolean =>
  !!folder && existsSync(join(folder, 'registry.terraform.io/hashicorp/aws/5.100.0'));

/**
 * Copies the modules and what they read, without this checkout's own files.
 *
 * @param isOld - Whether they take provider 5.100.
 */
export function copySources(copy: string, isOld: boolean): void {
  for (const path of ['infra', 'web/src', 'ui', 'src/maxima.json', 'text/languages.json']) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true, filter: isShared });
  }
  const overrides = isOld ? 'infra/terraform/{,*/}tests/*_override.tf' : [];
  for (const file of globSync(overrides, { cwd: copy })) {
    cpSync(join(copy, file), join(copy, dirname(file), '..', basename(file)));
  }
}

const terraform = (cwd: string, env: NodeJS.ProcessEnv, ...args: string[]) =>
  run(programOf(env), [...args, '-no-color'], {
    cwd,
    env: terraformEnv({ TF_WORKSPACE: 'default' }, env),
  });

/** @returns A folder with the initialised modules; undefined without a provider. */
export async function copyModules(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const copy = mkdtempSync(join(tmpdir(), 'check-infra-'));
  const source = providerSource(env);
  copySources(copy, hasOldProvider(env));
  // Terraform reads the build's packages for their hashes.
  mkdirSync(join(copy, 'dist'));
  for (const zip of ['inquiries', 'mailer', 'inbox']) {
    writeFileSync(join(copy, `dist/${zip}.zip`), zip);
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

export const main: Main = async (args, { stdout, env }) => {
  const options = { 'no-skip': { type: 'boolean', default: false } } as const;
  const { 'no-skip': noSkip } = parseOptions(USAGE, options, args);
  let isClean = true;
  const check = async (cwd: string, ...words: string[]) => {
    const { code, output } = await terraform(cwd, env, ...words);
    isClean &&= code === 0;
    stdout.write(`${code === 0 ? 'passed' : `${output}failed`}   ${words.join(' ')}\n`);
  };
  const skip = (reason: string): number => {
    stdout.write(`SKIPPED: check:infra. ${reason}\n`);
    return isClean && !noSkip ? 0 : 1;
  };
  const lack = await terraformUnavailableReason(env);
  if (lack !== undefined) return skip(lack);
  await check(MODULE, 'fmt', '-check', '-diff', '-recursive');
  const copy = await copyModules(env);
  if (copy === undefined) {
    return skip('Terraform finds no AWS provider; TF_PLUGIN_DIR names a folder.');
  }
  if (hasOldProvider(env)) {
    stdout.write('AWS provider 5.100 of TF_PLUGIN_DIR; users get 6.x (versions.tf).\n');
  }
  for (const module of MODULES) await check(join(copy, module), 'validate');
  rmSync(copy, { recursive: true });
  return isClean ? 0 : 1;
};

if (import.meta.main) await runCommand(main);
