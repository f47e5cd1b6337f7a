/** How the scripts call Terraform and other programs. */
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const MODULE = join(ROOT, 'infra/terraform');
export const STAGES = ['develop', 'main', 'release'] as const;
export type Stage = (typeof STAGES)[number];

export interface Outcome {
  /** Exit code; 127 if the program is not found or was killed. */
  readonly code: number;
  readonly stdout: string;
  /** stdout, then stderr. */
  readonly output: string;
}

/** Runs a program without input and waits for its end. Never rejects; the caller checks the exit code. */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const { stdin } = execFile(
      command,
      args,
      { cwd: ROOT, maxBuffer: Infinity, ...options },
      (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error ? 127 : 0;
        resolve({ code, stdout, output: stdout + (code === 127 ? `${error?.message}\n` : stderr) });
      },
    );
    stdin?.end();
  });
}

/** The environment for Terraform: no prompts, and no TF_CLI_CONFIG_FILE if that file does not exist. */
export function terraformEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, TF_IN_AUTOMATION: '1', TF_INPUT: '0', ...more };
  const configuration = env['TF_CLI_CONFIG_FILE'];
  if (configuration !== undefined && !existsSync(configuration)) delete env['TF_CLI_CONFIG_FILE'];
  return env;
}

/** Options of `terraform init` for the source of providers: the folder in TF_PLUGIN_DIR, by default the registry. */
export function providerSource(): string[] {
  const folder = process.env['TF_PLUGIN_DIR'];
  return folder ? [`-plugin-dir=${folder}`] : [];
}

/** Why the installed Terraform cannot be used (versions.tf: required_version); undefined if it can. */
export async function terraformUnavailableReason(): Promise<string | undefined> {
  const { code, stdout } = await run('terraform', ['version', '-json'], { env: terraformEnv() });
  if (code !== 0) return 'terraform is not on the PATH; version 1.10 or later is needed.';
  const { terraform_version: version } = JSON.parse(stdout) as { terraform_version: string };
  if (version.localeCompare('1.10', 'en', { numeric: true }) >= 0) return undefined;
  return `terraform ${version} is too old; version 1.10 or later is needed.`;
}

/** The files in {@link MODULE} with the tests of a stage: those of every stage, and its own. */
export function testFilesOf(stage: Stage): string[] {
  const others = new Set(STAGES.filter((name) => name !== stage).map((name) => `${name}.tftest.hcl`));
  const files = globSync('tests/*.tftest.hcl', { cwd: MODULE });
  return files.filter((file) => !others.has(basename(file))).toSorted();
}
