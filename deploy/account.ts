/** Which AWS account and region the commands work in. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { STS } from '@aws-sdk/client-sts';
import { describeFailure, NETWORK } from '../lib/aws.ts';
import { readIfThere, UsageError } from '../lib/command-line.ts';
import { MODULE } from '../lib/paths.ts';
import { STAGES, type Stage } from '../lib/stages.ts';

/**
 * Asks AWS whose credentials the environment has.
 *
 * @param given - The region, if not that of the environment.
 * @throws UsageError without a region, without credentials, or if AWS does not accept them.
 */
export async function readAccount(given?: string) {
  const client = new STS({ ...NETWORK, ...(given !== undefined && { region: given }) });
  try {
    const region = await client.config.region();
    const { Account: accountId = '' } = await client.getCallerIdentity();
    return { accountId, region };
  } catch (error) {
    const { message } = describeFailure(error, { stage: '' }) as Error;
    throw new UsageError(message, { cause: error });
  }
}

/** @throws UsageError unless the text is a stage. */
export function parseStage(text: string): Stage {
  const stage = STAGES.find((known) => known === text);
  if (stage !== undefined) return stage;
  throw new UsageError(`"${text}" is not a stage; stages are ${STAGES.join(', ')}.`);
}

export const hasLocalState = (): boolean => existsSync(join(MODULE, 'backend_override.tf'));

/** The file with the place of the state; undefined if there is none, or with a local backend_override.tf. */
export const findBackendFile = (stage: Stage): string | undefined =>
  hasLocalState()
    ? undefined
    : [`${stage}.s3.tfbackend`, 'backend.s3.tfbackend'].find((name) =>
        existsSync(join(MODULE, name)),
      );

/** What a file of the S3 backend says. */
export function parseBackend(text: string) {
  const read = (name: string) =>
    new RegExp(`^\\s*${name}\\s*=\\s*\\[?"([^"]*)"`, 'm').exec(text)?.[1];
  return {
    bucket: read('bucket'),
    region: read('region'),
    key: read('key'),
    account: read('allowed_account_ids'),
  };
}

/** What the file with the place of the state says; nothing without one. */
export const readPlace = (stage: Stage) =>
  parseBackend(readIfThere(join(MODULE, findBackendFile(stage) ?? 'none')) ?? '');

/**
 * The account and region of the credentials, for a command that works on a stage.
 *
 * @throws UsageError also when the stage is in another account or region: there it would be created a second time.
 */
export async function readStageAccount(stage: Stage) {
  const found = await readAccount();
  const { account = found.accountId, region = found.region } = readPlace(stage);
  if (account === found.accountId && region === found.region) return found;
  throw new UsageError(
    `The credentials are of account ${found.accountId} and region ${found.region}, but ${stage} is in ${account} and ${region} (infra/terraform/${findBackendFile(stage)}).`,
  );
}
