/** What IAM Access Analyzer says of the policies that a plan makes. */
import {
  AccessAnalyzer,
  type ValidatePolicyCommandInput,
  type ValidatePolicyFinding,
} from '@aws-sdk/client-accessanalyzer';
import { NETWORK } from '../lib/aws.ts';
import { UsageError } from '../lib/command-line.ts';

interface Change {
  readonly address: string;
  readonly type: string;
  readonly change: {
    readonly actions: readonly string[];
    readonly after?: Readonly<Record<string, unknown>> | null;
  };
}
type Kind = Omit<ValidatePolicyCommandInput, 'policyDocument'> & { readonly attribute: string };

const IDENTITY_POLICY: Kind = { attribute: 'policy', policyType: 'IDENTITY_POLICY' };
/** By the type of the resource. */
const KINDS: Readonly<Record<string, Kind>> = {
  aws_iam_policy: IDENTITY_POLICY,
  aws_iam_role_policy: IDENTITY_POLICY,
  aws_iam_role: {
    attribute: 'assume_role_policy',
    policyType: 'RESOURCE_POLICY',
    validatePolicyResourceType: 'AWS::IAM::AssumeRolePolicyDocument',
  },
  aws_s3_bucket_policy: {
    attribute: 'policy',
    policyType: 'RESOURCE_POLICY',
    validatePolicyResourceType: 'AWS::S3::Bucket',
  },
};

const format = (address: string, { findingType, findingDetails }: ValidatePolicyFinding): string =>
  `${findingType}: ${address}: ${findingDetails}`;

/**
 * Has AWS validate the policies that change.
 *
 * @returns Lines for the user: warnings, or why the policies were not validated.
 * @throws UsageError if there are errors, with which AWS would refuse a policy or ignore a part of it.
 */
export async function validatePolicies(changes: readonly Change[], region: string) {
  const analyzer = new AccessAnalyzer({ ...NETWORK, region });
  const lines: string[] = [];
  for (const { address, type, change } of changes) {
    const { attribute, ...kind } = KINDS[type] ?? { attribute: '', policyType: undefined };
    const policyDocument = change.after?.[attribute];
    if (typeof policyDocument !== 'string') continue;
    try {
      const { findings = [] } = await analyzer.validatePolicy({ ...kind, policyDocument });
      const important = findings.filter(({ findingType }) => findingType !== 'SUGGESTION');
      lines.push(...important.map((finding) => format(address, finding)));
    } catch (error) {
      return [
        ...lines,
        `The policies were not validated: ${(error as Error).name}. To have AWS validate them, allow access-analyzer:ValidatePolicy and run the command again.`,
      ];
    }
  }
  if (lines.every((line) => !line.startsWith('ERROR'))) return lines;
  throw new UsageError(
    `AWS finds errors in the policies:\n${lines.join('\n')}\nNothing was changed. Correct infra/terraform/bootstrap/policies.tf, and run the command again.`,
  );
}
