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
  /** Exit code; 127 when there is no such program. */
  readonly code: number;
  readonly stdout: string;
  /** What the program wrote to both streams, as it came. */
  readonly output: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Gives the program the terminal instead of keeping what it writes. */
  readonly inherit?: boolean;
}

/** Runs a program to its end; never throws, whatever its exit code. */
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

/** The environment for Terraform: no prompts, and no CLI configuration that is named but does not exist. */
export function terraformEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, TF_IN_AUTOMATION: '1', TF_INPUT: '0', ...more };
  const configuration = env['TF_CLI_CONFIG_FILE'];
  if (configuration !== undefined && !existsSync(configuration)) delete env['TF_CLI_CONFIG_FILE'];
  return env;
}

/** Where providers come from: the folder TF_PLUGIN_DIR names, or else the registry. */
export function providerSource(env: NodeJS.ProcessEnv = process.env): string[] {
  const folder = env['TF_PLUGIN_DIR'];
  return folder ? [`-plugin-dir=${folder}`] : [];
}

/** Version of the installed Terraform, or undefined without one. */
export async function terraformVersion(): Promise<string | undefined> {
  const { code, stdout } = await run('terraform', ['version', '-json'], { env: terraformEnv() });
  if (code !== 0) return undefined;
  const { terraform_version: version } = JSON.parse(stdout) as { terraform_version: string };
  return version;
}

/** Whether a version is at least the one the module asks for (versions.tf). */
export function isRecentEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 10);
}
