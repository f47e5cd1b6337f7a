import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isConfirmed, UsageError, type Io } from '../lib/terminal/command-line.ts';
import { writeLines } from '../lib/terminal/terminal-text.ts';
import type { Context } from './checks/run-checks.ts';
import { programOf, run, terraformEnv, type RunOptions } from './terraform.ts';
import { describeLive } from './versions.ts';

const UNCHANGED = 'Nothing was changed.';
const RUNBOOK = 'docs/runbook.md, "A deployment was interrupted".';
const AGAIN = `Run the same command again: ${RUNBOOK}`;
const AGAIN_UNLESS = `Unless the error names what to correct, run the same command again: ${RUNBOOK}`;

class StepFailed extends Error {}

/** A run of a command that signals do not end at once. */
export interface Session extends Context {
  /** Terraform's. */
  module: string;
  /** A temporary one. */
  folder: string;
  step: string;
  /** What is true if it ends now. */
  state: string;
  /** Functions whose live versions are printed if it ends early. */
  functions: string[];
}

/**
 * Runs a command; a signal ends it after its current step. Terraform gets no signal: it would stop waiting for what AWS
 * is creating, which the state would lack.
 *
 * @returns The exit code. An error is printed with what is true then.
 */
export async function runSession(
  io: Io,
  module: string,
  command: (session: Session) => Promise<number>,
): Promise<number> {
  const controller = new AbortController();
  const session: Session = {
    io,
    module,
    folder: mkdtempSync(join(tmpdir(), 'deploy-')),
    interruption: controller.signal,
    step: 'the current step',
    state: UNCHANGED,
    functions: [],
  };
  const listen = (signal: NodeJS.Signals): void => {
    io.stderr.write(`\n${signal}: waiting for ${session.step} to end …\n`);
    controller.abort(128 + constants.signals[signal]);
  };
  const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, listen);
  // After a SIGHUP the terminal is gone; a failed write must not end the process before Terraform.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => {});
  try {
    return await command(session);
  } catch (error) {
    const isRefusal = error instanceof UsageError && session.state === UNCHANGED;
    const message = error instanceof Error ? `${error.message}\n\n` : '';
    const live = await describeLive(session.functions);
    const { aborted, reason } = session.interruption;
    const again = aborted ? AGAIN : error instanceof StepFailed && AGAIN_UNLESS;
    const end = [aborted && 'Interrupted.', session.state, ...live, again];
    writeLines(io.stderr, `\n${message}${end.filter(Boolean).join(' ')}`);
    return aborted ? Number(reason) : isRefusal ? 2 : 1;
  } finally {
    for (const signal of signals) process.off(signal, listen);
    rmSync(session.folder, { recursive: true, force: true });
  }
}

/** @throws UsageError unless the expected answer is typed. */
export async function confirm(
  question: string,
  expected: string,
  { io, interruption }: Context,
): Promise<void> {
  if (io.stdin.isTTY && (await isConfirmed(question, expected, interruption, io))) return;
  throw new UsageError('Not confirmed; without a terminal, --yes confirms.');
}

/**
 * Prints a title and runs a program to its end, also if interrupted.
 *
 * @returns Its stdout.
 * @throws Error with its output if it fails; the exit code after an interruption.
 */
export async function runStep(
  session: Session,
  title: string,
  command: string,
  args: string[],
  options: RunOptions = {},
): Promise<string> {
  const { io, interruption } = session;
  interruption.throwIfAborted();
  session.step = title;
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
  // Terraform prints a plan before the error.
  const error = output.slice(Math.max(0, output.indexOf('\nError: ')));
  throw new StepFailed(`${error.trim()}\n\nFailed: ${title}.`);
}

/** Shows what an apply prints as it runs. */
export function terraform(session: Session, args: string[]): Promise<string> {
  const { io, module } = session;
  const program = programOf(io.env);
  return runStep(session, `${program} ${args[0]}`, program, args, {
    cwd: module,
    // The last selected workspace may be missing in this stage's backend, which would make init fail.
    env: terraformEnv({ TF_WORKSPACE: args[0] === 'init' ? 'default' : undefined }, io.env),
    show: args[0] === 'apply' ? (text) => void io.stdout.write(text) : undefined,
  });
}
