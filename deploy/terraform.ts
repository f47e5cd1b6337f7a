import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../lib/paths.ts';
import { parseObject } from '../lib/terminal/command-line.ts';

export interface Outcome {
  /** 127 if the program is not found or was killed. */
  code: number;
  stdout: string;
  /** stdout, then stderr. */
  output: string;
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** In its own session: neither a terminal's signals nor the end of this process end it. */
  detached?: boolean;
  /** Gets the process's id. */
  started?: (pid: number | undefined) => void;
  /** Gets stdout within half a second. */
  show?: ((text: string) => void) | undefined;
}

/**
 * Runs a program without input to its end. It writes to files: unlike pipes they do not break when this process is
 * killed, which would end Terraform, too. Never rejects; the caller checks the exit code.
 */
export async function run(
  command: string,
  args: string[],
  { show, started, ...options }: RunOptions = {},
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'output-'));
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const [stdout, stderr] = [openSync(join(folder, '1'), 'w'), openSync(join(folder, '2'), 'w')];
  let shown = 0;
  const showMore = (): void => {
    const text = read('1');
    show?.(text.slice(shown));
    shown = text.length;
  };
  const timer = show && setInterval(showMore, 500);
  let code = 127;
  let failure = '';
  try {
    const child = spawn(command, args, {
      cwd: ROOT,
      ...options,
      stdio: ['ignore', stdout, stderr],
    });
    started?.(child.pid);
    const [exitCode, signal] = (await once(child, 'close')) as [number | null, string | null];
    code = exitCode ?? code;
    if (signal !== null) failure = `${command} was ended by ${signal}.\n`;
  } catch (error) {
    failure = `${(error as Error).message}\n`;
  }
  clearInterval(timer);
  showMore();
  const text = read('1');
  const output = text + read('2') + failure;
  closeSync(stdout);
  closeSync(stderr);
  rmSync(folder, { recursive: true });
  return { code, stdout: text, output };
}

/** `TERRAFORM=tofu` runs OpenTofu. */
export const programOf = (env: NodeJS.ProcessEnv): string => env['TERRAFORM'] || 'terraform';

/** Terraform then asks nothing. */
export const terraformEnv = (
  more: NodeJS.ProcessEnv = {},
  inherited: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv => ({ ...inherited, TF_IN_AUTOMATION: '1', TF_INPUT: '0', ...more });

/** Options of `terraform init`: the providers' folder in TF_PLUGIN_DIR, by default Terraform's own source. */
export function providerSource(env: NodeJS.ProcessEnv = process.env): string[] {
  const folder = env['TF_PLUGIN_DIR'];
  return folder ? [`-plugin-dir=${folder}`] : [];
}

/** As in `required_version` (versions.tf), which Terraform reads too late: a command builds and creates before. */
const OLDEST = '1.11';

/** Undefined if there is one that is new enough. */
export async function terraformUnavailableReason(
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const program = programOf(env);
  const { code, stdout } = await run(program, ['version', '-json'], { env });
  if (code !== 0) return `${program} is not on the PATH; version ${OLDEST} or later is needed.`;
  const version = String(parseObject(stdout)?.['terraform_version']);
  const isNew = version.localeCompare(OLDEST, 'en', { numeric: true }) >= 0;
  return isNew ? undefined : `${program} is ${version}; version ${OLDEST} or later is needed.`;
}
