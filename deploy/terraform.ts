/** How the commands run Terraform and other programs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { ROOT } from '../lib/paths.ts';

export interface Outcome {
  /** Exit code; 127 if the program is not found or was killed. */
  readonly code: number;
  readonly stdout: string;
  /** stdout, then stderr. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Once it aborts, the program and its children get one SIGINT; they are waited for. */
  readonly interruption?: AbortSignal;
}

/** Runs a program without input and waits for its end. Never rejects; the caller checks the exit code. */
export async function run(
  command: string,
  args: readonly string[],
  { interruption, ...options }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(command, args, {
    cwd: ROOT,
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: Ctrl-C at a terminal reaches every process of the foreground group, so that Terraform
    // would get that signal and the one sent below. After the second, Terraform ends without saving its state.
    detached: interruption !== undefined,
  });
  const interrupt = (): void => {
    // Without a pid it was not started.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGINT');
  };
  interruption?.addEventListener('abort', interrupt);
  try {
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
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

/** The program: `TERRAFORM=tofu` runs OpenTofu. */
export const programOf = (env: NodeJS.ProcessEnv): string => env['TERRAFORM'] || 'terraform';

/** The environment for Terraform: no prompts, and no TF_CLI_CONFIG_FILE if that file does not exist. */
export function terraformEnv(
  more: NodeJS.ProcessEnv = {},
  inherited: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...inherited, TF_IN_AUTOMATION: '1', TF_INPUT: '0', ...more };
  const configuration = env['TF_CLI_CONFIG_FILE'];
  if (configuration !== undefined && !existsSync(configuration)) delete env['TF_CLI_CONFIG_FILE'];
  return env;
}

/** Options of `terraform init` for the source of providers: the folder in TF_PLUGIN_DIR, by default Terraform's own. */
export function providerSource(env: NodeJS.ProcessEnv = process.env): string[] {
  const folder = env['TF_PLUGIN_DIR'];
  return folder ? [`-plugin-dir=${folder}`] : [];
}

/**
 * Why the installed Terraform or OpenTofu cannot be used; undefined if it can. Both lock the state in S3 from version 1.10
 * on (versions.tf: required_version).
 */
export async function terraformUnavailableReason(
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const program = programOf(env);
  const { code, stdout } = await run(program, ['version', '-json'], { env: terraformEnv({}, env) });
  if (code !== 0) return `${program} is not on the PATH; version 1.10 or later is needed.`;
  const { terraform_version: version } = JSON.parse(stdout) as { terraform_version: string };
  if (version.localeCompare('1.10', 'en', { numeric: true }) >= 0) return undefined;
  return `${program} ${version} is too old; version 1.10 or later is needed.`;
}
