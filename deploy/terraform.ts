/** How the scripts call Terraform and other programs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { MODULE, ROOT } from '../lib/paths.ts';
import { STAGES } from '../lib/stages.ts';
import type { Stage } from '../lib/stages.ts';

/** The program: `TERRAFORM=tofu` runs OpenTofu. */
export const TERRAFORM = process.env['TERRAFORM'] || 'terraform';

export interface Outcome {
  /** Exit code; 127 if the program is not found or was killed. */
  readonly code: number;
  readonly stdout: string;
  /** stdout, then stderr. */
  readonly output: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Prints the output at once instead of returning it. */
  readonly shown?: boolean;
  /** Once it aborts, the program and its children get one SIGINT; they are waited for. */
  readonly interruption?: AbortSignal;
}

/** Runs a program without input and waits for its end. Never rejects; the caller checks the exit code. */
export async function run(
  command: string,
  args: readonly string[],
  { shown = false, interruption, ...options }: RunOptions = {},
): Promise<Outcome> {
  const output = shown ? 'inherit' : 'pipe';
  const child = spawn(command, args, {
    cwd: ROOT,
    ...options,
    stdio: ['ignore', output, output],
    // A process group of its own: Ctrl-C at a terminal reaches every process of the foreground group, so that Terraform
    // would get that signal and the one handed on below. After the second, Terraform ends without saving its state.
    detached: interruption !== undefined,
  });
  const interrupt = (): void => {
    // Without a pid it was not started.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGINT');
  };
  interruption?.addEventListener('abort', interrupt);
  const read = async (stream: typeof child.stdout) => (stream === null ? '' : text(stream));
  try {
    const [stdout, stderr, [code]] = await Promise.all([
      read(child.stdout),
      read(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    if (code !== null) return { code, stdout, output: stdout + stderr };
    const reason = `${command} was ended by ${child.signalCode}.\n`;
    return { code: 127, stdout, output: stdout + stderr + reason };
  } catch (error) {
    return { code: 127, stdout: '', output: `${(error as Error).message}\n` };
  } finally {
    interruption?.removeEventListener('abort', interrupt);
  }
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

/**
 * Why the installed Terraform or OpenTofu cannot be used; undefined if it can. Both lock the state in S3 from version 1.10
 * on (versions.tf: required_version).
 */
export async function terraformUnavailableReason(): Promise<string | undefined> {
  const { code, stdout } = await run(TERRAFORM, ['version', '-json'], { env: terraformEnv() });
  if (code !== 0) return `${TERRAFORM} is not on the PATH; version 1.10 or later is needed.`;
  const { terraform_version: version } = JSON.parse(stdout) as { terraform_version: string };
  if (version.localeCompare('1.10', 'en', { numeric: true }) >= 0) return undefined;
  return `${TERRAFORM} ${version} is too old; version 1.10 or later is needed.`;
}

/** The files in {@link MODULE} with the tests of a stage: those of every stage, and its own. */
export function testFilesOf(stage: Stage): string[] {
  const others = new Set(STAGES.filter((name) => name !== stage).map((name) => `${name}.tftest.hcl`));
  const files = globSync('tests/*.tftest.hcl', { cwd: MODULE });
  return files.filter((file) => !others.has(basename(file))).toSorted();
}
