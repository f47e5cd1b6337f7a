/** What bootstrap does without Terraform: it creates the bucket of the states and has policies validated. */
import { AccessAnalyzer, type ValidatePolicyCommandInput } from '@aws-sdk/client-accessanalyzer';
import { SES } from '@aws-sdk/client-ses';
import { S3, S3ServiceException, type BucketLocationConstraint } from '@aws-sdk/client-s3';
import { NETWORK } from '../lib/aws/aws.ts';
import { UsageError } from '../lib/terminal/command-line.ts';
import type { Plan } from './plan.ts';

export interface StateBucket {
  accountId: string;
  region: string;
  bucket: string;
}

/**
 * @returns Whether the bucket exists, and whether bootstrap was applied.
 * @throws UsageError if it is another account's, or these credentials may not read it.
 */
export async function inspectStateBucket({ accountId, region, bucket }: StateBucket) {
  const s3 = new S3({ ...NETWORK, region });
  try {
    const { Contents = [] } = await s3.listObjectsV2({
      Bucket: bucket,
      ExpectedBucketOwner: accountId,
      Prefix: 'inquiries/bootstrap.tfstate',
    });
    return { exists: true, isBootstrapped: Contents.length > 0 };
  } catch (error) {
    const status = error instanceof S3ServiceException && error.$metadata.httpStatusCode;
    if (status === 404) return { exists: false, isBootstrapped: false };
    if (status !== 403) throw error;
    throw new UsageError(
      `The bucket ${bucket} exists, but account ${accountId} may not read it: it is another account's, or these credentials lack the permission.`,
      { cause: error },
    );
  }
}

/**
 * Creates the bucket, with versions before the first state is written. infra/terraform/bootstrap imports it and sets
 * the rest.
 */
export async function createStateBucket({ region, bucket: Bucket }: StateBucket): Promise<void> {
  const s3 = new S3({ ...NETWORK, region });
  const LocationConstraint = region as BucketLocationConstraint;
  await s3.createBucket({
    Bucket,
    // S3 refuses a location that is its default region.
    ...(region !== 'us-east-1' && { CreateBucketConfiguration: { LocationConstraint } }),
  });
  await s3.putBucketVersioning({ Bucket, VersioningConfiguration: { Status: 'Enabled' } });
}

/**
 * SES has one active set of receipt rules in an account and region.
 *
 * @throws UsageError if the plan would replace another one's.
 */
export async function refuseOtherRuleSet({ changes }: Plan, region: string): Promise<void> {
  const planned = changes.find(({ type }) => type === 'aws_ses_active_receipt_rule_set')?.change;
  if (!planned?.actions.includes('create')) return;
  const { Metadata } = await new SES({ ...NETWORK, region }).describeActiveReceiptRuleSet({});
  const active = Metadata?.Name ?? planned.after?.['rule_set_name'];
  if (active === planned.after?.['rule_set_name']) return;
  throw new UsageError(
    `The receipt rule set ${String(active)} is active in ${region}, and would receive no more mails. Take answers by mail in another region or account, or deactivate it.`,
  );
}

type Kind = Omit<ValidatePolicyCommandInput, 'policyDocument'>;

function findKind(resource: string): Kind {
  const policyType = 'RESOURCE_POLICY';
  if (resource === 'aws_iam_role') {
    return { policyType, validatePolicyResourceType: 'AWS::IAM::AssumeRolePolicyDocument' };
  }
  return resource === 'aws_s3_bucket_policy'
    ? { policyType, validatePolicyResourceType: 'AWS::S3::Bucket' }
    : { policyType: 'IDENTITY_POLICY' };
}

/**
 * Has AWS validate changed policies.
 *
 * @returns Warnings, or why nothing was validated.
 * @throws UsageError for errors, with which AWS would refuse a policy or ignore a part.
 */
export async function validatePolicies({ changes }: Plan, region: string): Promise<string> {
  const analyzer = new AccessAnalyzer({ ...NETWORK, region });
  let lines = '';
  for (const { address, type, change } of changes) {
    const policyDocument = change.after?.['assume_role_policy'] ?? change.after?.['policy'];
    if (typeof policyDocument !== 'string') continue;
    try {
      const request = { ...findKind(type), policyDocument };
      const { findings = [] } = await analyzer.validatePolicy(request);
      for (const { findingType, findingDetails } of findings) {
        if (findingType === 'SUGGESTION') continue;
        lines += `${findingType}: ${address}: ${findingDetails}\n`;
      }
    } catch (error) {
      return `${lines}The policies were not validated: ${(error as Error).name}. To have AWS validate them, allow access-analyzer:ValidatePolicy and run the command again.\n`;
    }
  }
  if (!/^ERROR/m.test(lines)) return lines;
  throw new UsageError(
    `AWS finds errors in the policies:\n${lines}Correct infra/terraform/bootstrap/policies.tf, and run the command again.`,
  );
}
