/** Which AWS account and region the commands work in. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { STS } from '@aws-sdk/client-sts';
import { NETWORK } from '../lib/aws.ts';
import { readIfThere, UsageError } from '../lib/command-line.ts';
import { MODULE } from '../lib/paths.ts';
import { STAGES, type Stage } from '../lib/stages.ts';

/**
 * Asks AWS whose credentials the environment has.
 *
 * @param given - The region, if not that of the environment.
 * @throws UsageError without a region, without credentials, or if AWS does not accept them.
 */
export async function readAccount(given?: string): Promise<{ accountId: string; region: string }> {
  const client = new STS({ ...NETWORK, ...(given !== undefined && { region: given }) });
  const region = await client.config.region().catch(() => {
    throw new UsageError('There is no AWS region; set AWS_REGION or AWS_PROFILE.');
  });
  await client.config.credentials().catch(() => {
    throw new UsageError(
      'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).',
    );
  });
  const { Account: accountId = '' } = await client.getCallerIdentity().catch((error: Error) => {
    throw new UsageError(`AWS does not say which account the credentials are of: ${error.message}`);
  });
  return { accountId, region };
}

/** @throws UsageError unless the text is a stage. */
export function parseStage(command: string, text: string): Stage {
  if (text === '') {
    throw new UsageError(`The stage is missing: npm run ${command} -- ${STAGES.join('|')}`);
  }
  const stage = STAGES.find((known) => known === text);
  if (stage !== undefined) return stage;
  throw new UsageError(`"${text}" is not a stage; stages are develop, main and release.`);
}

/** The file with the place of the state; undefined if there is none, or with a local backend_override.tf. */
export function findBackendFile(stage: Stage): string | undefined {
  if (hasLocalState()) return undefined;
  return [`${stage}.s3.tfbackend`, 'backend.s3.tfbackend'].find((name) =>
    existsSync(join(MODULE, name)),
  );
}

export const hasLocalState = (): boolean => existsSync(join(MODULE, 'backend_override.tf'));

/** What a file of the S3 backend says. */
export function parseBackend(text: string) {
  const read = (name: string) => new RegExp(`^\\s*${name}\\s*=\\s*"([^"]*)"`, 'm').exec(text)?.[1];
  const accounts = /^\s*allowed_account_ids\s*=\s*\[([^\]]*)\]/m.exec(text)?.[1];
  return {
    bucket: read('bucket'),
    region: read('region'),
    key: read('key'),
    /** Undefined: every account. */
    accounts: accounts && [...accounts.matchAll(/"([^"]*)"/g)].map(([, id = '']) => id),
  };
}

/** What the file with the place of the state says; nothing without one. */
export function readPlace(stage: Stage) {
  const file = findBackendFile(stage);
  const text = (file === undefined ? undefined : readIfThere(join(MODULE, file))) ?? '';
  return { file: `infra/terraform/${file}`, ...parseBackend(text) };
}

/**
 * The account and region of the credentials, for a command that works on a stage.
 *
 * @throws UsageError also when the stage is in another account or region: there it would be created a second time.
 */
export async function readStageAccount(stage: Stage) {
  const account = await readAccount();
  const { file, accounts, region = account.region } = readPlace(stage);
  if (accounts && !accounts.includes(account.accountId)) {
    throw new UsageError(
      `The credentials are of account ${account.accountId}, but ${stage} is in ${accounts.join(' or ')} (${file}).`,
    );
  }
  if (region === account.region) return account;
  throw new UsageError(
    `The region is ${account.region}, but ${stage} is in ${region} (${file}); set AWS_REGION=${region}.`,
  );
}
