/** What the commands know of a stage: the outputs of infra/terraform, and of its state without Terraform. */
import { join } from 'node:path';
import { S3 } from '@aws-sdk/client-s3';
import { NETWORK } from '../lib/aws.ts';
import { readIfThere } from '../lib/command-line.ts';
import { MODULE } from '../lib/paths.ts';
import type { Stage } from '../lib/stages.ts';
import { hasLocalState, readPlace } from './account.ts';
import { parseOutputs, type OutputValues } from './plan.ts';
import type { Site } from './site.ts';

/** A function, its newest version, and the one that its alias makes live. */
type FunctionVersions = Readonly<Record<'name' | 'version' | 'live', string>>;

/** infra/terraform/outputs.tf */
export interface StageOutputs {
  readonly api_url: string;
  readonly cors_origin: string;
  readonly dashboard_url: string;
  readonly function: FunctionVersions;
  /** Empty without mail. */
  readonly mailer: Readonly<Record<string, FunctionVersions>>;
  readonly mail?: { readonly from: string; readonly identity: string } | null;
  readonly site?: Site | null;
  readonly form_config?: Readonly<Record<'issuer' | 'clientId' | 'apiUrl', string>> | null;
  readonly connect_origins?: readonly string[];
  readonly smoke_sign_in?: { readonly user_pool_id: string; readonly client_id: string } | null;
  readonly dns_records?: readonly Readonly<
    Record<'purpose' | 'name' | 'type' | 'value' | 'next', string>
  >[];
}

/**
 * Reads the outputs in a stage's state, without Terraform and its lock.
 *
 * @throws Error when there is no state, or it cannot be read.
 */
export async function readStateOutputs(stage: Stage): Promise<StageOutputs> {
  const state = hasLocalState()
    ? readIfThere(join(MODULE, 'terraform.tfstate.d', stage, 'terraform.tfstate'))
    : await readRemoteState(stage);
  const { outputs } = JSON.parse(state ?? '{}') as { outputs?: OutputValues };
  if (outputs === undefined) throw new Error(`There is no state of ${stage}.`);
  return parseOutputs(outputs) as StageOutputs;
}

async function readRemoteState(stage: Stage): Promise<string | undefined> {
  const { bucket, key = 'inquiries/terraform.tfstate' } = readPlace(stage);
  if (bucket === undefined) return undefined;
  const object = await new S3(NETWORK).getObject({ Bucket: bucket, Key: `env:/${stage}/${key}` });
  return object.Body?.transformToString();
}
