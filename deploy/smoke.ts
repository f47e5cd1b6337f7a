/**
 * Checks in a few requests that a stage or the local stack keeps its contract. Leaves two inquiries under
 * inquiries.invalid, which are not mailed or shown and expire after a day. SMOKE_TOKEN is the token of such a user.
 *
 * Exit codes: 0 all checks passed, 1 a check failed, 2 bad use.
 */
import {
  parseCommandLine,
  runCommand,
  UsageError,
  type Io,
  type Main,
} from '../lib/terminal/command-line.ts';
import { readKey } from '../lib/issuer/issuer-keys.ts';
import { signToken } from '../lib/issuer/issuer-tokens.ts';
import { DATA_FOLDER } from '../lib/paths.ts';
import { readRunningStack } from '../lib/running-stack.ts';
import { createApiChecks, type Target } from './checks/api.ts';
import { runChecks } from './checks/run-checks.ts';
import { testStage } from './checks/stage.ts';
import { readStageForm } from './form.ts';
import { parseStage, readOutputs, readStageAccount } from './stage.ts';

const USAGE = `
Usage: npm run smoke [-- STAGE | -- --url URL] [options]

  STAGE          develop, main or release: its API, form, mailer, logs and sign-in
  --url URL      any other service, without /inquiries (default: the running local stack)
  --data FOLDER  the data folder of the local stack
  --mail         with STAGE: also send a mail that bounces

SMOKE_TOKEN is an ID token (default: that of a new user of the stage's pool).
`;
async function findStack(folder: string): Promise<Target> {
  const { gateway, keysFile, issuer, mailbox } = readRunningStack(folder);
  const token = await signToken(readKey(keysFile), issuer);
  // A stack on dynalite has no mailbox, and no transactions, which keys need.
  return { url: gateway, origin: '', token, ignoresKeys: mailbox === undefined };
}

async function test(args: string[], io: Io): Promise<string[]> {
  const options = {
    url: { type: 'string' },
    data: { type: 'string', default: DATA_FOLDER },
    mail: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const { data, mail } = values;
  const context = { io, interruption: AbortSignal.any([]) };
  if (positionals.length === 0 && !mail) {
    const url = values.url?.replace(/\/+$/, '');
    if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw new UsageError(`--url must be an http or https URL, not '${url}'`);
    }
    const target = url
      ? { url, origin: '', token: io.env['SMOKE_TOKEN'] ?? '' }
      : await findStack(data);
    return runChecks(createApiChecks(target), context);
  }
  const stage = parseStage(positionals.join(' '));
  await readStageAccount(stage);
  const outputs = await readOutputs(stage);
  return testStage(outputs, readStageForm(outputs), context, { wait: 0, mail });
}

export const main: Main = async (args, io) => ((await test(args, io)).length === 0 ? 0 : 1);

if (import.meta.main) await runCommand(main);
