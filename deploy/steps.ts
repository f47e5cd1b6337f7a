import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCOUNT, describeFailure } from '../lib/aws/aws.ts';
import { isConfirmed, UsageError, type Io } from '../lib/terminal/command-line.ts';
import { writeLines } from '../lib/terminal/terminal-text.ts';
import type { Context } from './checks/run-checks.ts';
import { lockCheckout } from './checkout-lock.ts';
import { programOf, terraformEnv, terraformUnavailableReason } from './terraform.ts';
import { run, type RunOptions } from '../lib/terminal/run.ts';
import { describeLive } from './versions.ts';

const UNCHANGED = 'Nothing was changed.';
const RUNBOOK = 'docs/runbook.md, "A deployment was interrupted"';
/** A run of a command that signals do not end at once. */
export interface Session extends Context {
  module: string;
  variables: NodeJS.ProcessEnv;
  /** Names the program that runs now, for other commands of the checkout. */
  tell: (program?: number) => void;
  folder: string;
  step: string;
  /** Printed if the command ends now. */
  state: string;
  /** Functions whose live versions are printed if it ends early. */
  functions: string[];
}

/**
 * Runs a command, alone in its checkout; a signal ends it after its current step. Terraform gets no signal: it would
 * stop waiting for what AWS is creating, which the state would lack.
 *
 * @param name - As npm runs it.
 * @returns The exit code. An error is printed with what is true then.
 * @throws UsageError without Terraform, or if another command uses the checkout.
 */
export async function runSession(
  io: Io,
  name: string,
  { module, variables }: Pick<Session, 'module' | 'variables'>,
  command: (session: Session) => Promise<number>,
): Promise<number> {
  const lack = await terraformUnavailableReason(io.env);
  if (lack !== undefined) throw new UsageError(lack);
  const { tell, release } = lockCheckout(name);
  const controller = new AbortController();
  const session: Session = {
    io,
    module,
    variables,
    tell,
    folder: mkdtempSync(join(tmpdir(), 'deploy-')),
    interruption: controller.signal,
    step: 'the preparation',
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
    const found = describeFailure(error, ACCOUNT);
    const message = found instanceof Error ? `${found.message}\n\n` : '';
    const live = await describeLive(session.functions);
    const { aborted, reason } = session.interruption;
    const end = [aborted ? 'Interrupted.' : `Failed: ${session.step}.`, session.state, ...live];
    const again = `${aborted ? 'Run' : 'Unless the error names what to correct, run'} it again: ${name} (${RUNBOOK})`;
    const said = isRefusal ? [session.state, ...live] : [...end, again];
    writeLines(io.stderr, `\n${message}${said.join(' ')}`);
    return aborted ? Number(reason) : isRefusal ? 2 : 1;
  } finally {
    for (const signal of signals) process.off(signal, listen);
    rmSync(session.folder, { recursive: true, force: true });
    release();
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
  const { step } = session;
  session.step = title;
  io.stdout.write(`${title} …\n`);
  const { code, stdout, output } = await run(command, args, {
    env: io.env,
    ...options,
    detached: true,
    started: session.tell,
  });
  session.tell();
  if (code === 0) {
    interruption.throwIfAborted();
    session.step = step;
    return stdout;
  }
  // Terraform prints a plan before the error.
  const error = output.slice(Math.max(0, output.indexOf('\nError: ')));
  throw new Error(error.trim());
}

/** `workspace select` fails if the environment names a workspace, `init` if that does not exist yet. */
const BEFORE_SELECTION: Record<string, NodeJS.ProcessEnv> = {
  init: { TF_WORKSPACE: 'default' },
  workspace: { TF_WORKSPACE: undefined },
};

/** Shows what an apply prints as it runs. */
export function terraform(session: Session, args: string[]): Promise<string> {
  const { io, module, variables } = session;
  const program = programOf(io.env);
  return runStep(session, `${program} ${args[0]}`, program, args, {
    cwd: module,
    env: terraformEnv({ ...variables, ...BEFORE_SELECTION[args[0] ?? ''] }, io.env),
    show: args[0] === 'apply' ? (text) => void io.stdout.write(text) : undefined,
  });
}
