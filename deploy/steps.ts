/** The steps of a deployment or bootstrap: programs that run to their end, whatever signals the command gets. */
import { relative } from 'node:path';
import type { Io } from '../lib/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import { programOf, run, terraformEnv, type RunOptions } from './terraform.ts';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

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
    /** Signals end the process again. */
    close: () => {
      for (const remove of listeners) remove();
    },
  };
}

/**
 * Prints a title and runs a program to its end, also if the command is interrupted.
 *
 * @returns Its stdout.
 * @throws Error with its output if it fails; without `show`, it is shown only then. The exit code if there was an interruption.
 */
export async function runStep(
  { io, interruption, current, module }: Session,
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
  const parts = [
    options.show === undefined ? error : '',
    explain(error, module, io.env),
    `Failed: ${title}.`,
  ];
  throw new Error(parts.filter((part) => part !== '').join('\n\n'));
}

/** What to do about an error of Terraform that it does not say itself. */
function explain(error: string, module: string, env: NodeJS.ProcessEnv): string {
  if (error.includes('acquiring the state lock')) {
    const read = (name: string) =>
      new RegExp(`^\\W*${name}:\\s+(\\S.*)`, 'm').exec(error)?.[1] ?? 'unknown';
    return `The state is locked by ${read('Who')} since ${read('Created')} (${read('Operation')}). Wait until that command has ended. If it was killed with its Terraform: ${programOf(env)} -chdir=${relative(ROOT, module)} force-unlock ${read('ID')}`;
  }
  if (error.includes(' was ended by SIG')) {
    return 'Its lock, and resources that its state lacks, may be left: see docs/runbook.md, "A deployment was interrupted".';
  }
  return /already ?exist|AlreadyOwnedByYou/i.test(error)
    ? 'It exists but is not in the state: see docs/runbook.md, "Import a resource".'
    : '';
}

/** Runs Terraform, and shows what an apply prints as it runs. */
export function terraform(session: Session, args: readonly string[]): Promise<string> {
  const program = programOf(session.io.env);
  return runStep(session, `${program} ${args[0]}`, program, args, {
    cwd: session.module,
    env: terraformEnv({ TF_WORKSPACE: undefined }, session.io.env),
    show: args[0] === 'apply' ? (text) => void session.io.stdout.write(text) : undefined,
  });
}
