/** What IAM Access Analyzer says of the policies that a plan makes. */
import { AccessAnalyzer, type ValidatePolicyCommandInput } from '@aws-sdk/client-accessanalyzer';
import { NETWORK } from '../lib/aws.ts';
import { UsageError } from '../lib/command-line.ts';
import type { Plan } from './plan.ts';

type Kind = readonly [attribute: string, Omit<ValidatePolicyCommandInput, 'policyDocument'>];

const IDENTITY_POLICY: Kind = ['policy', { policyType: 'IDENTITY_POLICY' }];
/** By the type of the resource. */
const KINDS: Readonly<Partial<Record<string, Kind>>> = {
  aws_iam_policy: IDENTITY_POLICY,
  aws_iam_role_policy: IDENTITY_POLICY,
  aws_iam_role: [
    'assume_role_policy',
    {
      policyType: 'RESOURCE_POLICY',
      validatePolicyResourceType: 'AWS::IAM::AssumeRolePolicyDocument',
    },
  ],
  aws_s3_bucket_policy: [
    'policy',
    { policyType: 'RESOURCE_POLICY', validatePolicyResourceType: 'AWS::S3::Bucket' },
  ],
};

/**
 * Has AWS validate the policies that change.
 *
 * @returns Lines for the user: warnings, or why the policies were not validated.
 * @throws UsageError if there are errors, with which AWS would refuse a policy or ignore a part of it.
 */
export async function validatePolicies({ changes }: Plan, region: string): Promise<string> {
  const analyzer = new AccessAnalyzer({ ...NETWORK, region });
  let lines = '';
  for (const { address, type, change } of changes) {
    const [attribute = '', kind] = KINDS[type] ?? [];
    const policyDocument = change.after?.[attribute];
    if (kind === undefined || typeof policyDocument !== 'string') continue;
    try {
      const { findings = [] } = await analyzer.validatePolicy({ ...kind, policyDocument });
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
    `AWS finds errors in the policies:\n${lines}Nothing was changed. Correct infra/terraform/bootstrap/policies.tf, and run the command again.`,
  );
}
