/** The steps of a deployment or bootstrap: programs that are waited for, and that a signal ends in an orderly way. */
import { run, TERRAFORM, terraformEnv } from './terraform.ts';
import { MODULE } from '../lib/paths.ts';
import type { Outcome } from './terraform.ts';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

const controller = new AbortController();
/** Aborts at the first SIGINT, SIGTERM or SIGHUP; `exitCode` tells which. */
export const interruption = controller.signal;
export const exitCodeOfInterruption = (): number => interruption.reason as number;

/**
 * From now on a signal stops the current step instead of ending this process. Further signals change nothing: they would
 * make Terraform end without saving its state.
 */
export function handleSignals(): void {
  for (const [signal, exitCode] of Object.entries(EXIT_CODES)) {
    process.on(signal, () => {
      if (!interruption.aborted) process.stderr.write(`\n${signal}: waiting for the current step to end …\n`);
      controller.abort(exitCode);
    });
  }
  // The terminal of a SIGHUP is gone; a failed write must not end this process before Terraform has ended.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** Runs a program, which an interruption ends. */
export function runStep(
  command: string,
  args: readonly string[],
  options: Parameters<typeof run>[2] = {},
): Promise<Outcome> {
  interruption.throwIfAborted();
  return run(command, args, { ...options, interruption });
}

/**
 * Prints a title and waits for the step.
 *
 * @returns Its stdout.
 * @throws Error with its output if it fails; the output is shown only then. The exit code if it was interrupted and succeeded.
 */
export async function step(title: string, start: () => Promise<Outcome>): Promise<string> {
  interruption.throwIfAborted();
  process.stdout.write(`${title} …\n`);
  const { code, stdout, output } = await start();
  if (code === 0) {
    interruption.throwIfAborted();
    return stdout;
  }
  // Terraform may print a plan before the error; show the error only.
  const error = output.slice(Math.max(0, output.indexOf('\nError: '))).trim();
  const hint = /already ?exist|AlreadyOwnedByYou/i.test(error)
    ? '\n\nIt exists but is not in the state: see docs/runbook.md, "Import a resource".'
    : '';
  throw new Error(`${error}${hint}\n\nFailed: ${title}.`);
}

/** Runs Terraform, by default in the module of the stages. */
export function terraform(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = MODULE,
): Promise<string> {
  const options = { cwd, env: terraformEnv({ TF_WORKSPACE: undefined, ...env }) };
  return step(`${TERRAFORM} ${args[0]}`, () => runStep(TERRAFORM, args, options));
}
