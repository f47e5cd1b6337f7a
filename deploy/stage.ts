import { join, relative } from 'node:path';
import { S3 } from '@aws-sdk/client-s3';
import { STS } from '@aws-sdk/client-sts';
import { ACCOUNT, describeFailure, NETWORK } from '../lib/aws/aws.ts';
import { parseObject, readIfThere, UsageError } from '../lib/terminal/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import { STAGES, type Stage } from '../lib/aws/stages.ts';

/** A function, its package's SHA-256, and the earlier version that the settings keep live. */
interface DeployedFunction {
  name: string;
  package: string;
  pinned?: string | null;
}

/** The outputs of the stages' module (infra/terraform/outputs.tf). */
export interface StageOutputs {
  api_url: string;
  cors_origin: string;
  dashboard_url: string | null;
  function: DeployedFunction;
  mailer: Record<string, DeployedFunction>;
  /** Null or absent without a team; its address ends with a slash. */
  inbox?: (DeployedFunction & { url: string }) | null;
  mail?: Record<'from' | 'identity', string> | null;
  mail_dns_records?: readonly Record<'name' | 'type' | 'value', string>[];
  /** Who may answer by mail: addresses, and domains that begin with @. */
  reply_from?: readonly string[] | null;
  /** The form's address ends with a slash. */
  site?: Record<'bucket' | 'distribution_id' | 'url', string> | null;
  form_config?: Record<'issuer' | 'clientId' | 'apiUrl', string> | null;
  connect_origins?: string[];
  smoke_sign_in?: Record<'user_pool_id' | 'client_id', string> | null;
  dns_records?: readonly Record<'purpose' | 'name' | 'type' | 'value' | 'next', string>[];
}

/** @throws UsageError unless the text is a stage. */
export function parseStage(text: string): Stage {
  const stage = STAGES.find((known) => known === text);
  if (stage !== undefined) return stage;
  throw new UsageError(`"${text}" is not a stage; stages are ${STAGES.join(', ')}.`);
}

/**
 * @param given - The region, if not the environment's.
 * @throws UsageError without region or credentials, or if AWS refuses them.
 */
export async function readAccount(given?: string) {
  const client = new STS({ ...NETWORK, ...(given !== undefined && { region: given }) });
  try {
    const region = await client.config.region();
    const { Account: accountId = '' } = await client.getCallerIdentity();
    return { accountId, region };
  } catch (error) {
    const { message } = describeFailure(error, ACCOUNT) as Error;
    if ((error as Error).name !== 'InvalidClientTokenId') {
      throw new UsageError(message, { cause: error });
    }
    // A region that is not enabled refuses every token.
    const region = await client.config.region();
    const isElsewhere = await new STS({ ...NETWORK, region: 'us-east-1' }).getCallerIdentity().then(
      () => true,
      () => false,
    );
    throw new UsageError(
      isElsewhere
        ? `The region ${region} is not enabled in this account: enable it (Account, AWS Regions), or choose another.`
        : message,
      { cause: error },
    );
  }
}

type Backend = Partial<Record<'bucket' | 'region' | 'allowed_account_ids', string>>;

export const BACKEND_FILE = join(MODULE, 'backend.s3.tfbackend');
const BACKEND = relative(ROOT, BACKEND_FILE);

/** Where the states are; nothing without the file. */
export function readBackend(): Backend {
  const settings = (readIfThere(BACKEND_FILE) ?? '').matchAll(/^\s*(\w+)\s*=\s*\[?"([^"]*)"/gm);
  return Object.fromEntries([...settings].map(([, name, value]) => [name, value]));
}

/** The bucket of the states. @throws UsageError without the file that names it. */
export function readBucket(): string {
  const { bucket } = readBackend();
  if (bucket !== undefined) return bucket;
  throw new UsageError(
    `${BACKEND}, which names the bucket of the states, is missing: take it from the commit that has it, or run npm run bootstrap.`,
  );
}

/**
 * The account and region of the credentials.
 *
 * @throws UsageError also if the stage is in another account or region, where it would be created a second time.
 */
export async function readStageAccount(stage: Stage) {
  const found = await readAccount();
  const { allowed_account_ids: account = found.accountId, region = found.region } = readBackend();
  if (account === found.accountId && region === found.region) return found;
  throw new UsageError(
    `The credentials are of account ${found.accountId} and region ${found.region}, but ${stage} is in ${account} and ${region} (${BACKEND}).`,
  );
}

interface State {
  outputs: Record<string, { value: unknown }>;
  resources?: { type: string; instances: { attributes: { arn?: string } }[] }[];
}

/** A resource of a state that has an ARN. */
export interface Resource {
  type: string;
  arn: string;
}

/** Reads the state without Terraform and its lock. @throws UsageError if it cannot be read, with what to do. */
async function readState(stage: Stage): Promise<State> {
  const bucket = readBucket();
  const request = { Bucket: bucket, Key: `env:/${stage}/inquiries/terraform.tfstate` };
  const text = await new S3(NETWORK)
    .getObject(request)
    .then(({ Body }) => Body?.transformToString())
    .catch((error: Error) => {
      if (error.name === 'NoSuchKey') return '{"outputs":{}}';
      const { message } = describeFailure(error, ACCOUNT) as Error;
      throw new UsageError(
        error.name === 'NoSuchBucket'
          ? `The bucket ${bucket}, which ${BACKEND} names, does not exist. Without the state in it, the resources of ${stage} are not known: docs/runbook.md, "A deployment was interrupted".`
          : `The state of ${stage} in the bucket ${bucket} cannot be read. ${message}`,
        { cause: error },
      );
    });
  const state = parseObject(text ?? '') ?? {};
  if (typeof state['outputs'] === 'object' && state['outputs'] !== null) return state as never;
  throw new UsageError(
    `The state of ${stage} in the bucket ${bucket} is damaged; put an earlier version back: docs/runbook.md, "A deployment was interrupted".`,
  );
}

/** The resources in a stage's state; none if it was never deployed. */
export async function readResources(stage: Stage): Promise<Resource[]> {
  const { resources = [] } = await readState(stage);
  return resources.flatMap(({ type, instances }) =>
    instances.flatMap(({ attributes: { arn } }) => (arn === undefined ? [] : { type, arn })),
  );
}

/** Reads a stage's outputs from its state. @throws UsageError if there are none, with what to do. */
export async function readOutputs(stage: Stage): Promise<StageOutputs> {
  const { outputs } = await readState(stage);
  const values = Object.entries(outputs).map(([name, { value }]) => [name, value]);
  const found = Object.fromEntries(values) as Partial<StageOutputs>;
  if (found.function !== undefined) return found as StageOutputs;
  throw new UsageError(
    `The state of ${stage} in the bucket ${readBucket()} has no function: the stage was never deployed, or not to the end. Deploy it: npm run deploy -- ${stage}`,
  );
}
