/**
 * Puts an earlier version of a stage's function back, within seconds and without a build: switches the alias that the
 * gateway calls, and runs the smoke test. docs/adr/0025
 *
 * Usage: see below. Exit codes: 0 switched (or listed), 1 a step failed, 2 refused or declined, nothing changed.
 */
import { GetPolicyCommand, LambdaClient, ResourceNotFoundException } from '@aws-sdk/client-lambda';
import { isConfirmed, parseCommandLine, runCommand, UsageError } from '../lib/command-line.ts';
import type { Io, Main } from '../lib/command-line.ts';
import { describeFailure, NETWORK } from '../lib/aws.ts';
import { parseStage, readStageAccount } from './account.ts';
import { main as smoke } from './smoke.ts';
import { ALIAS, listVersions, readLive, switchAlias } from './versions.ts';
import type { Live, Version } from './versions.ts';

const USAGE = `
Usage: npm run rollback -- STAGE [VERSION] [--list] [--yes]

  STAGE            develop, main or release
  VERSION          a version that --list shows (default: the newest one before the live one)
  --list           list the versions, newest first, and change nothing
  --yes            switch without confirmation
  --url URL        base URL of the stage for the smoke test (default: the API's execute-api address)
  --function NAME  the function, for another service name (default: inquiries-STAGE)

Credentials and region come from the environment (AWS_PROFILE, AWS_REGION, …). SMOKE_TOKEN is an ID token for the smoke test.
A version is the package with its environment variables, memory and timeout as they were when it was published. Nothing else is
rolled back: not the mailer, which has no versions, and not the table, the API and other infrastructure.
The next deployment goes forward again, also one of the same commit: fix or revert it before anybody deploys.
`;

function readSettings(args: string[], { stdin }: Io) {
  const options = {
    list: { type: 'boolean', default: false },
    yes: { type: 'boolean', default: false },
    url: { type: 'string' },
    function: { type: 'string' },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const [name = '', version, ...others] = positionals;
  const stage = parseStage('rollback', name);
  if (others.length > 0 || (version !== undefined && !/^[1-9]\d*$/.test(version))) {
    throw new UsageError(`"${[version, ...others].join(' ')}" is not a version; a version is a number.`);
  }
  const { list, yes, url } = values;
  if (!list && !yes && !stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --list.');
  }
  return { stage, version, list, yes, url, functionName: values.function ?? `inquiries-${stage}` };
}

/** The version to switch to. @throws UsageError when there is none. */
function choose(versions: readonly Version[], live: Live, wanted: string | undefined): Version {
  if (wanted === live.version) throw new UsageError(`Version ${wanted} is live already.`);
  const found =
    wanted === undefined
      ? versions.find(({ version }) => Number(version) < Number(live.version))
      : versions.find(({ version }) => version === wanted);
  if (found !== undefined) return found;
  throw new UsageError(
    wanted === undefined
      ? `There is no version before ${live.version}, which is live.`
      : `There is no version ${wanted}; there are ${versions.map(({ version }) => version).join(', ')}.`,
  );
}

function toLine({ version, date, sha256 }: Version, live: Live): string {
  const mark = version === live.version ? 'live' : '';
  return `  ${version.padStart(5)}  ${date.slice(0, 16).replace('T', ' ')}  ${sha256}  ${mark}`.trimEnd();
}

/**
 * Finds the address of the API that calls the alias: the permission names it.
 *
 * @returns undefined without a permission, or when the address is switched off, as with a custom domain.
 */
async function findUrl(functionName: string): Promise<string | undefined> {
  const lambda = new LambdaClient(NETWORK);
  const answer = await lambda
    .send(new GetPolicyCommand({ FunctionName: functionName, Qualifier: ALIAS }))
    .catch((error: unknown) => {
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    });
  const [, region, api] = /arn:[\w-]+:execute-api:([\w-]+):\d+:(\w+)\//.exec(answer?.Policy ?? '') ?? [];
  if (api === undefined) return undefined;
  const url = `https://${api}.execute-api.${region}.amazonaws.com`;
  const response = await fetch(`${url}/inquiries`, { signal: AbortSignal.timeout(10_000) }).catch(
    () => undefined,
  );
  // A switched-off address answers 404 to everything. One that cannot be reached is left to the smoke test.
  return [403, 404].includes(response?.status ?? 0) ? undefined : url;
}

async function rollBack(
  { stage, version, list, yes, url, functionName }: ReturnType<typeof readSettings>,
  io: Io,
): Promise<void> {
  const { stdout } = io;
  const { accountId, region } = await readStageAccount(stage);
  const live = await readLive(functionName);
  const versions = await listVersions(functionName);
  stdout.write(`${functionName}, stage ${stage}, account ${accountId}, region ${region}\n`);
  if (list) {
    for (const each of versions) stdout.write(`${toLine(each, live)}\n`);
    return;
  }
  const target = choose(versions, live, version);
  for (const each of versions.filter((found) => found === target || found.version === live.version))
    stdout.write(`${toLine(each, live)}${each === target ? '  <- switch to this version' : ''}\n`);
  const api = url ?? (await findUrl(functionName));
  if (api === undefined) {
    stdout.write(
      'The execute-api address is switched off: only the function will be checked, unless you pass --url.\n',
    );
  }
  if (!yes && !(await isConfirmed(`Switch to it? Type ${stage} to confirm: `, stage, undefined, io)))
    throw new UsageError('Nothing was changed.');

  await switchAlias(functionName, target.version, live.revisionId);
  stdout.write(`Switched: version ${target.version} is live.\n\n`);
  const smokeArgs = ['--wait', '30', '--function', `${functionName}:${ALIAS}`];
  const failures = await smoke([...smokeArgs, ...(api === undefined ? [] : ['--url', api])], io);
  stdout.write(`
To go forward: correct or revert the commit, then npm run deploy -- ${stage}.
Until then a plan, and with it the drift job, reports the alias (aws_lambda_alias.${ALIAS}); it is not a fault.
`);
  if (failures === 0) return;
  throw new Error(
    `The smoke test failed. Version ${target.version} is live; before it was ${live.version}. --list shows all versions.`,
  );
}

export const main: Main = async (args, io) => {
  const settings = readSettings(args, io);
  const { stage, functionName } = settings;
  await rollBack(settings, io).catch((error: unknown) => {
    const { name, message } = error as Error;
    if (name === 'ResourceNotFoundException') {
      throw new UsageError(
        `There is no function ${functionName} with an alias ${ALIAS} in this account and region; npm run deploy -- ${stage} makes it.`,
        { cause: error },
      );
    }
    const [, action] = /to perform: (\S+)/.exec(message) ?? [];
    if (action !== undefined) {
      throw new Error(`The AWS credentials do not allow ${action}.`, { cause: error });
    }
    throw describeFailure(error, { stage });
  });
};

if (import.meta.main) await runCommand(main);
