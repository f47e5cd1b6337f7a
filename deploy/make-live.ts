/**
 * Run by Terraform for each function (infra/terraform/function/main.tf, docs/adr/0025). Environment: FUNCTION, its name;
 * PACKAGE, its package's SHA-256; VERSION, the one to make live, empty for the newest. Exit codes: 0 live, 1 not.
 */
import { runCommand, type Main } from '../lib/terminal/command-line.ts';
import { Unavailable } from './checks/invoke.ts';
import { repeat, runChecks } from './checks/run-checks.ts';
import { createVersionChecks } from './checks/version.ts';
import { publish, readLive, updateLive } from './versions.ts';

/** How long a check is repeated, since changes of IAM take effect after seconds. */
const PATIENCE_SECONDS = 60;

const isTransient = (error: unknown): boolean => error instanceof Unavailable;

export const main: Main = async (_args, io) => {
  const { FUNCTION: name = '', PACKAGE: hash = '', VERSION: pinned } = io.env;
  const context = { io, interruption: AbortSignal.any([]) };
  const live = await readLive(name);
  const version = pinned || (await publish(name, hash));
  const end = performance.now() + PATIENCE_SECONDS * 1_000;
  const checks = await createVersionChecks(name, version);
  const patient = checks.map(([title, run]) => {
    const check = () =>
      repeat(run, (end - performance.now()) / 1_000, context.interruption, isTransient);
    return [title, check] as const;
  });
  io.stdout.write(`Version ${version} of ${name}\n`);
  if ((await runChecks(patient, context)).length > 0) {
    io.stderr.write(`Version ${version} of ${name} is not made live.\n`);
    return 1;
  }
  if (version !== live.version) await updateLive(name, live, { version });
  io.stdout.write(`Version ${version} of ${name} is live.\n`);
  return 0;
};

if (import.meta.main) await runCommand(main);
