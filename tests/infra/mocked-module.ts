/** What the Terraform modules make, with a mocked provider (`terraform test`): without account and credentials. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyModules } from '../../deploy/check-infra.ts';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';

export const ACCOUNT = '111122223333';
export const REGION = 'eu-central-1';
export const arn = (service: string, resource = 'mock', region = REGION): string =>
  `arn:aws:${service}:${region}:${ACCOUNT}:${resource}`;
/** IAM has no regions. */
export const iamArn = (resource: string): string => arn('iam', resource, '');

/** Refuses requests without TLS. */
export const onlyTls = (Action: string, Resource: string | string[]) => ({
  Sid: 'OnlyTls',
  Effect: 'Deny',
  Principal: '*',
  Action,
  Resource,
  Condition: { Bool: { 'aws:SecureTransport': 'false' } },
});
/** A bucket that nothing can make public. */
export const PRIVATE = {
  block_public_acls: true,
  block_public_policy: true,
  ignore_public_acls: true,
  restrict_public_buckets: true,
};

type Values = Record<string, unknown>;
type ByAddress = Record<string, Values>;

/** AWS's values that are checked or read; Terraform makes up all else. */
const toResources = (region: string): ByAddress => ({
  aws_acm_certificate: {
    arn: arn('acm', 'mock', region),
    domain_validation_options: [
      {
        domain_name: 'mock.example.com',
        resource_record_name: '_mock.example.com.',
        resource_record_type: 'CNAME',
        resource_record_value: '_mock.acm-validations.aws.',
      },
    ],
  },
  aws_apigatewayv2_api: {
    id: 'mockapi',
    api_endpoint: 'https://api.mock',
    execution_arn: arn('execute-api'),
  },
  aws_apigatewayv2_authorizer: { id: 'authorizer' },
  aws_apigatewayv2_domain_name: {
    domain_name_configuration: { target_domain_name: 'domain.mock', hosted_zone_id: 'APIZONE' },
  },
  aws_apigatewayv2_integration: { id: 'integration' },
  aws_cloudfront_distribution: {
    id: 'DISTRIBUTION',
    arn: arn('cloudfront'),
    domain_name: 'cloudfront.mock',
    hosted_zone_id: 'SITEZONE',
  },
  aws_cloudfront_response_headers_policy: { id: 'headers' },
  aws_cloudwatch_event_rule: { arn: arn('events', 'rule/mock') },
  aws_cloudwatch_log_group: { arn: arn('logs') },
  aws_cognito_user_pool: {
    id: 'mockpool',
    arn: arn('cognito-idp'),
    endpoint: `cognito-idp.${REGION}.amazonaws.com/pool`,
  },
  aws_cognito_user_pool_client: { id: 'client' },
  aws_dynamodb_table: { arn: arn('dynamodb'), stream_arn: arn('dynamodb', 'stream') },
  aws_iam_role: { arn: iamArn('role/mock') },
  aws_lambda_alias: { arn: arn('lambda', 'function:mock:live'), invoke_arn: arn('apigateway') },
  aws_lambda_function: { arn: arn('lambda', 'function:mock'), version: '12' },
  aws_route53_health_check: { id: 'check' },
  aws_s3_bucket: { arn: 'arn:aws:s3:::mock', bucket_regional_domain_name: 'bucket.mock' },
  aws_sesv2_configuration_set: { arn: arn('ses', 'configuration-set/mock') },
  aws_sesv2_email_identity: {
    arn: arn('ses', 'identity/mock'),
    verified_for_sending_status: true,
    dkim_signing_attributes: { tokens: ['one'] },
  },
  aws_sns_topic: { arn: arn('sns', 'mock', region) },
  aws_sqs_queue: { arn: arn('sqs') },
});
const toData = (region: string): ByAddress => ({
  aws_caller_identity: { account_id: ACCOUNT },
  aws_partition: { partition: 'aws' },
  aws_region: { id: region },
  aws_sesv2_email_identity: { arn: arn('ses', 'named'), verified_for_sending_status: true },
});
export const mapValues = <V, R>(
  values: Record<string, V>,
  change: (value: V) => R,
): Record<string, R> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
const toDefaults = (values: ByAddress) => mapValues(values, (defaults) => ({ defaults }));
const toProvider = (region: string) => ({
  mock_resource: toDefaults(toResources(region)),
  mock_data: toDefaults(toData(region)),
});
const toOverrides = (values: ByAddress) =>
  Object.groupBy(
    Object.entries(values).map(([target, overridden]) => ({ target, values: overridden })),
    ({ target }) => (/(^|\.)data\./.test(target) ? 'override_data' : 'override_resource'),
  );

interface Resource {
  address: string;
  mode: 'data' | 'managed';
  type: string;
  name: string;
  index?: number | string;
  values?: Values;
  change?: { after: Values };
}
interface Part {
  resources?: Resource[];
  child_modules?: Part[];
}
const list = ({ resources = [], child_modules: modules = [] }: Part): Resource[] => [
  ...resources,
  ...modules.flatMap(list),
];

/** By module (or `root`), type, name, and key, if any. */
function toTree(resources: Resource[]) {
  const tree = JSON.parse('{}');
  for (const { address, mode, type, name, index, change, values = change?.after } of resources) {
    if (mode === 'data') continue;
    const [, module = 'root'] = /^module\.(\w+)/.exec(address) ?? [];
    const ofType = ((tree[module] ??= {})[type] ??= {});
    if (typeof index === 'string') (ofType[name] ??= {})[index] = values;
    else ofType[name] = values;
  }
  return tree;
}

export interface Options {
  module?: string;
  workspace: string;
  /** Replace mocked values, by address. */
  overrides: ByAddress;
  /** A plan lacks outputs and AWS's values. */
  command?: 'apply' | 'plan';
}

/** @returns What renders a module with variables; undefined without Terraform or provider. */
export async function openModules() {
  if ((await terraformUnavailableReason()) !== undefined) return undefined;
  const copy = await copyModules(process.env);
  if (copy === undefined) return undefined;
  // Run by the gate (live.tf): nothing is published.
  mkdirSync(join(copy, 'node_modules/.bin'), { recursive: true });
  writeFileSync(join(copy, 'node_modules/.bin/node'), '#!/bin/sh\n', { mode: 0o755 });
  const render = async (
    variables: object,
    { module = 'infra/terraform', workspace, overrides, command = 'apply' }: Options,
  ) => {
    const cwd = join(copy, module);
    const file = `${crypto.randomUUID()}.tftest.json`;
    const test = {
      mock_provider: {
        aws: [toProvider(REGION), { alias: 'us_east_1', ...toProvider('us-east-1') }],
      },
      ...toOverrides(overrides),
      variables,
      run: { only: { command } },
    };
    writeFileSync(join(cwd, file), JSON.stringify(test));
    const args = ['test', '-json', '-verbose', `-filter=${file}`];
    const env = terraformEnv({ TF_WORKSPACE: workspace });
    const { stdout } = await run('terraform', args, { cwd, env });
    rmSync(join(cwd, file));
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { test_plan: plan, test_state: state } = Object.assign({}, ...lines);
    return {
      ...toTree([...(plan?.resource_changes ?? []), ...list(state?.root_module ?? {})]),
      outputs: mapValues(state?.outputs ?? {}, ({ value }: Values) => value),
      errors: lines.flatMap(({ diagnostic }) =>
        diagnostic?.severity === 'error' ? [diagnostic.detail] : [],
      ),
    };
  };
  return { render, close: () => rmSync(copy, { recursive: true, force: true }) };
}
