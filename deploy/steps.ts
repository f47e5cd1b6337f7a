/** The steps of a deployment or bootstrap: programs that run to their end, whatever signals the command gets. */
import type { Io } from '../lib/command-line.ts';
import { MODULE } from '../lib/paths.ts';
import { programOf, run, terraformEnv, type RunOptions } from './terraform.ts';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
/** What to do about errors of Terraform that do not say it. */
const HINTS: readonly (readonly [error: RegExp, hint: string])[] = [
  [
    /acquiring the state lock| was ended by SIG/,
    'See docs/runbook.md, "A deployment was interrupted".',
  ],
  [
    /already ?exist|AlreadyOwnedByYou/i,
    'It is not in the state: see docs/runbook.md, "Import a resource".',
  ],
];

/** A run of a command that signals do not end at once. */
export type Session = ReturnType<typeof openSession>;

/**
 * From now on a signal does not end this process: the current step ends first. Terraform gets none: it would stop waiting for
 * what AWS is creating or for the lock, which then exist and are not in the state.
 */
export function openSession(io: Io, module = MODULE) {
  const controller = new AbortController();
  const current = { step: 'the current step' };
  const listeners = Object.entries(EXIT_CODES).map(([signal, exitCode]) => {
    const listener = (): void => {
      io.stderr.write(`\n${signal}: waiting for ${current.step} to end …\n`);
      controller.abort(exitCode);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  // The terminal of a SIGHUP is gone; a failed write must not end this process before Terraform has ended.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => {});
  return {
    io,
    /** The folder that Terraform runs in. */
    module,
    /** Aborts at the first SIGINT, SIGTERM or SIGHUP; the reason is the exit code. */
    interruption: controller.signal,
    /** What the command does at the moment. */
    current,
    /** What is true if it ends now. */
    state: 'Nothing was changed.',
    /** Signals end the process again. */
    close: () => {
      for (const remove of listeners) remove();
    },
  };
}

/** Says why a command ends before its end, and what is true then. @returns Its exit code. */
export function explainEnd({ io, interruption }: Session, error: unknown, state: string): number {
  const detail = error instanceof Error ? `${error.message}\n\n` : '';
  const [why, exitCode] = interruption.aborted
    ? ['Interrupted. ', interruption.reason as number]
    : ['', 1];
  io.stderr.write(`\n${detail}${why}${state} Run the same command again.\n`);
  return exitCode;
}

/**
 * Prints a title and runs a program to its end, also if the command is interrupted.
 *
 * @returns Its stdout.
 * @throws Error with its output if it fails; without `show`, it is shown only then. The exit code if there was an interruption.
 */
export async function runStep(
  { io, interruption, current }: Session,
  title: string,
  command: string,
  args: readonly string[],
  options: Pick<RunOptions, 'cwd' | 'env' | 'show'> = {},
): Promise<string> {
  interruption.throwIfAborted();
  current.step = title;
  io.stdout.write(`${title} …\n`);
  const { code, stdout, output } = await run(command, args, {
    env: io.env,
    ...options,
    detached: true,
  });
  if (code === 0) {
    interruption.throwIfAborted();
    return stdout;
  }
  // Terraform may print a plan before the error; show the error only.
  const error = output.slice(Math.max(0, output.indexOf('\nError: '))).trim();
  const hint = HINTS.find(([pattern]) => pattern.test(error))?.[1];
  const parts = [options.show === undefined && error, hint, `Failed: ${title}.`];
  throw new Error(parts.filter(Boolean).join('\n\n'));
}

/** Runs Terraform, and shows what an apply prints as it runs. */
export function terraform(session: Session, args: readonly string[]): Promise<string> {
  const { io, module } = session;
  const program = programOf(io.env);
  return runStep(session, `${program} ${args[0]}`, program, args, {
    cwd: module,
    // The last selected workspace may not exist in this stage's backend, which would make init fail.
    env: terraformEnv({ TF_WORKSPACE: args[0] === 'init' ? 'default' : undefined }, io.env),
    show: args[0] === 'apply' ? (text) => void io.stdout.write(text) : undefined,
  });
}
