/** How the scripts call Terraform and other programs. */
import { spawn } from 'node:child_process';
import type { StdioOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const MODULE = join(ROOT, 'infra/terraform');
export const STAGES = ['develop', 'main', 'release'] as const;
export type Stage = (typeof STAGES)[number];

export interface Outcome {
  /** Exit code; 127 if the program is not found. */
  readonly code: number;
  readonly stdout: string;
  /** stdout and stderr, interleaved as received. */
  readonly output: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Connects the program to the terminal instead of capturing its output. */
  readonly inherit?: boolean;
}

/** Runs a program and waits for its end. Never rejects; the caller checks the exit code. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const stdio: StdioOptions = options.inherit === true ? 'inherit' : ['ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd: options.cwd ?? ROOT, env: options.env ?? process.env, stdio });
    let stdout = '';
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', (error) => {
      resolve({ code: 127, stdout, output: `${output}${error.message}\n` });
    });
    child.once('close', (code) => {
      resolve({ code: code ?? 1, stdout, output });
    });
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
export function providerSource(env: NodeJS.ProcessEnv = process.env): string[] {
  const folder = env['TF_PLUGIN_DIR'];
  return folder ? [`-plugin-dir=${folder}`] : [];
}

/** Version of the installed Terraform; undefined if there is none. */
export async function terraformVersion(): Promise<string | undefined> {
  const { code, stdout } = await run('terraform', ['version', '-json'], { env: terraformEnv() });
  if (code !== 0) return undefined;
  const { terraform_version: version } = JSON.parse(stdout) as { terraform_version: string };
  return version;
}

/** Whether a version of Terraform satisfies required_version in versions.tf. */
export function isRecentEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 10);
}
