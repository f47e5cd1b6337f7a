import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../paths.ts';

export interface Outcome {
  /** 127 if the program is not found or was killed. */
  code: number;
  stdout: string;
  /** stdout followed by stderr. */
  output: string;
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** In a session of its own, neither a terminal's signals nor the end of this process end it. */
  detached?: boolean;
  started?: (pid: number | undefined) => void;
  /** Gets new stdout every half second. */
  show?: ((text: string) => void) | undefined;
}

/**
 * Runs a program without input to its end. It writes to files: pipes would break when this process is killed, and end
 * Terraform. Never rejects.
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
