/** The steps of a deployment or bootstrap: programs that are waited for, and that a signal ends in an orderly way. */
import type { Io } from '../lib/command-line.ts';
import { MODULE } from '../lib/paths.ts';
import { programOf, run, terraformEnv } from './terraform.ts';
import type { Outcome } from './terraform.ts';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** A run of a command that signals do not end at once. */
export interface Session {
  readonly io: Io;
  /** The folder that Terraform runs in. */
  readonly module: string;
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP; the reason is the exit code. */
  readonly interruption: AbortSignal;
  /** Signals end the process again. */
  close(): void;
}

/**
 * From now on a signal stops the current step instead of ending this process. Further signals change nothing: they would
 * make Terraform end without saving its state.
 */
export function openSession(io: Io, module = MODULE): Session {
  const controller = new AbortController();
  const listeners = Object.entries(EXIT_CODES).map(([signal, exitCode]) => {
    const listener = (): void => {
      if (!controller.signal.aborted) io.stderr.write(`\n${signal}: waiting for the current step to end …\n`);
      controller.abort(exitCode);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  // The terminal of a SIGHUP is gone; a failed write must not end this process before Terraform has ended.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => {});
  return {
    io,
    module,
    interruption: controller.signal,
    close: () => {
      for (const remove of listeners) remove();
    },
  };
}

/**
 * Prints a title and runs a program, which an interruption ends.
 *
 * @returns Its stdout.
 * @throws Error with its output if it fails; the output is shown only then. The exit code if it was interrupted and succeeded.
 */
export async function runStep(
  { io, interruption }: Session,
  title: string,
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  interruption.throwIfAborted();
  io.stdout.write(`${title} …\n`);
  const { code, stdout, output }: Outcome = await run(command, args, {
    env: io.env,
    ...options,
    interruption,
  });
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

/** Runs Terraform. */
export function terraform(session: Session, args: readonly string[]): Promise<string> {
  const program = programOf(session.io.env);
  return runStep(session, `${program} ${args[0]}`, program, args, {
    cwd: session.module,
    env: terraformEnv({ TF_WORKSPACE: undefined }, session.io.env),
  });
}
