/** How the commands run Terraform and other programs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  /** In a session of its own: neither the signals of a terminal nor the end of this process end the program. */
  readonly detached?: boolean;
  /** Gets what the program prints, within half a second. */
  readonly show?: ((text: Buffer) => void) | undefined;
}

/**
 * A file for what a program prints. Unlike a pipe it does not break when this process is killed, which would end
 * Terraform, too. It has no name any more, so nothing is left of it when both have ended.
 */
function openOutput() {
  const folder = mkdtempSync(join(tmpdir(), 'output-'));
  const file = join(folder, 'output');
  const output = { write: openSync(file, 'w'), read: openSync(file, 'r'), text: '' };
  rmSync(folder, { recursive: true });
  return output;
}

/** Runs a program without input and waits for its end. Never rejects; the caller checks the exit code. */
export async function run(
  command: string,
  args: readonly string[],
  { show, ...options }: RunOptions = {},
): Promise<Outcome> {
  const [stdout, stderr] = [openOutput(), openOutput()];
  const read = (): void => {
    for (const output of [stdout, stderr]) {
      const chunk = readFileSync(output.read);
      output.text += String(chunk);
      show?.(chunk);
    }
  };
  const timer = setInterval(read, 500);
  let code = 127;
  try {
    const child = spawn(command, args, {
      cwd: ROOT,
      ...options,
      stdio: ['ignore', stdout.write, stderr.write],
    });
    const [exitCode, signal] = (await once(child, 'close')) as [number | null, string | null];
    read();
    code = exitCode ?? 127;
    if (signal !== null) stderr.text += `${command} was ended by ${signal}.\n`;
  } catch (error) {
    stderr.text += `${(error as Error).message}\n`;
  } finally {
    clearInterval(timer);
    for (const output of [stdout, stderr]) {
      closeSync(output.write);
      closeSync(output.read);
    }
  }
  return { code, stdout: stdout.text, output: stdout.text + stderr.text };
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

/** Why there is no Terraform; undefined if there is one. Whether it is new enough, it says itself (versions.tf). */
export async function terraformUnavailableReason(
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const program = programOf(env);
  const { code } = await run(program, ['version'], { env: terraformEnv({}, env) });
  return code === 0 ? undefined : `${program} is not on the PATH; version 1.11 or later is needed.`;
}
