/**
 * What the Terraform modules make, with a mocked provider (`terraform test`): without account and credentials. The ids and
 * ARNs that AWS assigns contain the address of their resource, so a reference shows where it leads.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyModules } from './module-copy.ts';
import { programOf, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { run } from '../../lib/terminal/run.ts';

export const ACCOUNT = '111122223333';
export const REGION = 'eu-central-1';
export const EDGE = 'us-east-1';
export const arn = (service: string, resource: string, region = REGION): string =>
  `arn:aws:${service}:${region}:${ACCOUNT}:${resource}`;
export const iamArn = (resource: string): string => arn('iam', resource, '');

export type Json = ReturnType<typeof JSON.parse>;
type Values = Record<string, unknown>;
type ByAddress = Record<string, Values>;

export interface Input {
  variables: object;
  /** What AWS answers, by address, in place of the mocked values. */
  overrides?: ByAddress;
}
export interface Plan {
  /** By address: what is configured, also of data sources, and what AWS assigns. */
  resources: Record<string, Json>;
  outputs: Record<string, Json>;
  /** Errors of the plan, after which later inputs are not planned. */
  errors: string[];
}

/** What AWS assigns besides id and ARN, and others read. */
const ASSIGNED: Record<string, (address: string) => Values> = {
  aws_acm_certificate: (address) => ({
    domain_validation_options: [
      {
        domain_name: address,
        resource_record_name: `_proof.${address}.`,
        resource_record_type: 'CNAME',
        resource_record_value: `_proof.${address}.acm-validations.aws.`,
      },
    ],
  }),
  aws_apigatewayv2_api: (address) => ({
    api_endpoint: 'https://api.mock',
    execution_arn: arn('execute-api', address),
  }),
  aws_apigatewayv2_domain_name: () => ({
    domain_name_configuration: { target_domain_name: 'domain.mock', hosted_zone_id: 'API-ZONE' },
  }),
  aws_cloudfront_distribution: () => ({
    domain_name: 'cloudfront.mock',
    hosted_zone_id: 'SITE-ZONE',
  }),
  aws_cognito_user_pool: () => ({ endpoint: `cognito-idp.${REGION}.amazonaws.com/pool-id` }),
  aws_dynamodb_table: (address) => ({ stream_arn: arn('dynamodb', `${address} stream`) }),
  aws_lambda_alias: (address) => ({ invoke_arn: arn('apigateway', address) }),
  aws_lambda_event_source_mapping: (address) => ({ uuid: address }),
  aws_route53_record: (address) => ({ fqdn: address }),
  aws_s3_bucket: (address) => ({ bucket_regional_domain_name: `${address}.mock` }),
  aws_sesv2_email_identity: () => ({
    verified_for_sending_status: true,
    dkim_signing_attributes: { tokens: ['token'] },
  }),
  aws_sqs_queue: (address) => ({ url: `url of ${address}` }),
};

const shorten = (address: string): string => address.replaceAll(/module\.|\[0\]/g, '');
export const idOf = (address: string): string => `id of ${shorten(address)}`;
function assign({ address, type }: Resource): Values {
  const short = shorten(address);
  const region = /us_east_1|^site/.test(short) ? EDGE : REGION;
  const own = ASSIGNED[type]?.(short);
  return { id: idOf(address), arn: arn(type.split('_')[1] ?? '', short, region), ...own };
}

const toProvider = (region: string) => ({
  mock_data: Object.fromEntries(
    Object.entries({
      aws_caller_identity: { account_id: ACCOUNT },
      aws_partition: { partition: 'aws' },
      aws_region: { id: region },
      aws_route53_zone: { zone_id: 'ZONE' },
      aws_sesv2_email_identity: {
        arn: arn('ses', 'identity/named'),
        verified_for_sending_status: true,
      },
    }).map(([type, defaults]) => [type, { defaults }]),
  ),
});
const MOCKS = { aws: [toProvider(REGION), { alias: 'us_east_1', ...toProvider(EDGE) }] };

const toOverrides = (values: ByAddress) =>
  Object.groupBy(
    Object.entries(values).map(([target, overridden]) => ({ target, values: overridden })),
    ({ target }) => (/(^|\.)data\./.test(target) ? 'override_data' : 'override_resource'),
  );

interface Resource {
  address: string;
  type: string;
  change?: { after: Values; importing?: object };
}
/** The resources of a module and of those that it calls. */
export const listResources = ({ resources = [], child_modules: modules = [] }: Json): Json[] => [
  ...resources,
  ...modules.flatMap(listResources),
];

/** Removes what is not set, and what Terraform has made up for the provider: what is not known before the apply. */
function keepConfigured(value: unknown, planned: unknown): unknown {
  if (value === null || typeof value !== 'object') {
    const isMadeUp =
      typeof value === 'string' ? /^([a-z0-9]{8}|[0-9a-f-]{36})$/.test(value) : !value;
    return value === null || (planned === undefined && isMadeUp) ? undefined : value;
  }
  const before = Object(planned);
  const kept = Object.entries(value)
    .map(([key, each]) => [key, keepConfigured(each, before[key])] as const)
    .filter(([, each]) => each !== undefined);
  if (kept.length === 0) return undefined;
  return Array.isArray(value) ? kept.map(([, each]) => each) : Object.fromEntries(kept);
}

/** @returns What plans the modules; undefined without Terraform or provider. */
export async function openModules() {
  if ((await terraformUnavailableReason()) !== undefined) return undefined;
  const copy = await copyModules(process.env);
  if (copy === undefined) return undefined;
  // The gate (function/main.tf) and warm_throughput run these programs, which do nothing here.
  const bin = join(copy, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  for (const name of ['node', 'aws']) {
    writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  }

  /** @returns Messages as JSON, of which some have 14 MB. */
  async function test(cwd: string, workspace: string, runs: unknown[][]): Promise<string[]> {
    if (runs.length === 0) return [];
    const file = `${crypto.randomUUID()}.tftest.json`;
    const content = { mock_provider: MOCKS, run: Object.fromEntries(runs) };
    writeFileSync(join(cwd, file), JSON.stringify(content));
    const env = terraformEnv({ TF_WORKSPACE: workspace, PATH: `${bin}:${process.env['PATH']}` });
    const args = ['test', '-json', '-verbose', `-filter=${file}`];
    const { stdout } = await run(programOf(env), args, { cwd, env });
    rmSync(join(cwd, file));
    return stdout.trim().split('\n');
  }

  /** Plans, then applies to the mocks, for what refers to what AWS assigns. */
  async function plan<Name extends string>(
    inputs: Record<Name, Input>,
    { module = 'infra/terraform', workspace = 'default' } = {},
  ): Promise<Record<Name, Plan>> {
    const cwd = join(copy ?? '', module);
    const names = Object.keys(inputs) as Name[];
    const plans = names.map((): Plan => ({ resources: {}, outputs: {}, errors: [] }));
    const planned = names.map(() => new Map<string, Resource>());
    const read = ({ '@testrun': name, diagnostic }: Json) => {
      const at = Number(name?.slice('run_'.length));
      const result = plans[at];
      // The removal of the mocks fails where a stage is protected.
      const isApplied = Object.keys(result?.resources ?? {}).length > 0;
      if (diagnostic?.severity === 'error' && !isApplied) {
        if (result === undefined) throw new Error(diagnostic.summary);
        result.errors.push(diagnostic.detail || diagnostic.summary);
      }
      return at;
    };
    const toRun = (name: Name, command: string, made: readonly Resource[] = []) => {
      const { variables, overrides = {} } = inputs[name];
      const assigned = made.map(
        (one) => [one.address, { ...assign(one), ...overrides[one.address] }] as const,
      );
      const values = { ...overrides, ...Object.fromEntries(assigned) };
      return { command, state_key: name, variables, ...toOverrides(values) };
    };
    const plannedRuns = names.map((name, at) => [`run_${at}`, toRun(name, 'plan')]);
    for (const line of await test(cwd, workspace, plannedRuns)) {
      const message = JSON.parse(line);
      const resources = planned[read(message)];
      for (const one of message.test_plan?.resource_changes ?? []) {
        resources?.set(one.address, one);
      }
    }
    const appliedRuns = names.flatMap((name, at) => {
      if (plans[at]?.errors.length !== 0) return [];
      const made = [...(planned[at]?.values() ?? [])].filter(({ type }) => type.startsWith('aws_'));
      return [[`run_${at}`, toRun(name, 'apply', made)]];
    });
    for (const line of await test(cwd, workspace, appliedRuns)) {
      const message = JSON.parse(line);
      const at = read(message);
      const { root_module: root = {}, outputs = {} } = message.test_state ?? {};
      const result = plans[at];
      for (const one of listResources(root)) {
        const { after, importing } = planned[at]?.get(one.address)?.change ?? {};
        const values = Object(keepConfigured(one.values, importing ? {} : after));
        // An id or ARN of a mock is shown by the resources that refer to it.
        const { id, arn: name } = assign(one);
        if (values.id === id) delete values.id;
        if (values.arn === name) delete values.arn;
        if (result) result.resources[one.address] = values;
      }
      for (const [key, { value }] of Object.entries<Json>(outputs)) {
        if (result) result.outputs[key] = value;
      }
    }
    return Object.fromEntries(names.map((name, at) => [name, plans[at]])) as Record<Name, Plan>;
  }
  return { plan, close: () => rmSync(copy, { recursive: true, force: true }) };
}
