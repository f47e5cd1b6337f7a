import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MODULE, ROOT, run, STAGES, terraformEnv, terraformVersion } from '../../scripts/infra/terraform.ts';
import { tableDefinition } from '../../scripts/local/table.ts';
import { operations } from '../../src/app.ts';
import { unparsableJson } from '../../src/errors.ts';
import { logRequest } from '../../src/log.ts';

const sorted = (names: Iterable<string | undefined>): string[] =>
  [...new Set(names)].map(String).toSorted((a, b) => (a < b ? -1 : 1));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const files = globSync('*.tf', { cwd: MODULE }).toSorted();
const source = files.map((file) => read(`infra/terraform/${file}`)).join('\n');
const hasTerraform = (await terraformVersion()) !== undefined;

const good = {
  issuer: 'https://issuer.example.com',
  audience: ['client'],
  cors_origin: 'https://www.example.com',
};

/**
 * The settings alone, without the provider: `terraform plan` in a folder with variables.tf and stages.tf says what it
 * would say in the module, at once and wherever Terraform is installed.
 */
describe.skipIf(!hasTerraform)(
  'settings of a stage (skipped without terraform on the PATH)',
  { timeout: 30_000 },
  () => {
    let folder = '';
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'infra-settings-'));
      for (const file of ['variables.tf', 'stages.tf']) copyFileSync(join(MODULE, file), join(folder, file));
    });
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    /** What a plan with these variables refuses, in its own words. */
    async function refusals(variables: object, workspace = 'develop'): Promise<string[]> {
      const name = `${crypto.randomUUID()}.tfvars.json`;
      writeFileSync(join(folder, name), JSON.stringify({ package_file: 'variables.tf', ...variables }));
      const { stdout } = await run('terraform', ['plan', '-json', '-lock=false', `-var-file=${name}`], {
        cwd: folder,
        env: terraformEnv({ TF_WORKSPACE: workspace }),
      });
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { diagnostic?: { detail: string } });
      expect(lines[0]).toMatchObject({ type: 'version' });
      return lines.flatMap(({ diagnostic }) => diagnostic?.detail.split('\n\n')[0] ?? []);
    }

    it.each([
      ['the least', {}],
      ['a port and plain http, for a local page', { cors_origin: 'http://localhost:5173' }],
      ['an IPv6 address', { cors_origin: 'http://[::1]:5173' }],
      ['an issuer that ends with a slash', { issuer: 'https://tenant.example.com/' }],
      [
        'an issuer with a path',
        { issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example' },
      ],
      ['concurrency 0, which stops the stage', { reserved_concurrency: 0 }],
    ])('accepts %s', async (_, settings) => {
      expect(await refusals({ stages: { develop: { ...good, ...settings } } })).toEqual([]);
    });

    const origin =
      'A cors_origin must be one origin as browsers send it, scheme://host[:port] in lower case, never *, no path and no trailing slash';
    const issuer = 'An issuer must be an https URL without query or fragment';
    const audience = 'An audience needs at least one client id, none of them blank';
    const limits = 'Both throttling limits must be at least 1, since 0 answers every call with 429';
    const domain = 'A domain needs a host name in lower case and the ARN of an ACM certificate';
    it.each<[object, string]>([
      [{ issuer: 'http://issuer.example.com' }, `${issuer}: develop has "http://issuer.example.com".`],
      [{ issuer: 'issuer.example.com' }, `${issuer}: develop has "issuer.example.com".`],
      [
        { issuer: 'https://issuer.example.com/?a=b' },
        `${issuer}: develop has "https://issuer.example.com/?a=b".`,
      ],
      [
        { issuer: 'https://issuer.example.com/#a' },
        `${issuer}: develop has "https://issuer.example.com/#a".`,
      ],
      [{ issuer: 'https://issuer.example.com ' }, `${issuer}: develop has "https://issuer.example.com ".`],
      [{ issuer: 'https://' }, `${issuer}: develop has "https://".`],
      [{ cors_origin: '*' }, `${origin}: develop has "*".`],
      [{ cors_origin: '' }, `${origin}: develop has "".`],
      [{ cors_origin: 'null' }, `${origin}: develop has "null".`],
      [{ cors_origin: 'https://*.example.com' }, `${origin}: develop has "https://*.example.com".`],
      [{ cors_origin: 'https://www.example.com/' }, `${origin}: develop has "https://www.example.com/".`],
      [{ cors_origin: 'https://www.example.com/a' }, `${origin}: develop has "https://www.example.com/a".`],
      [{ cors_origin: 'https://www.example.com?a' }, `${origin}: develop has "https://www.example.com?a".`],
      [{ cors_origin: 'https://www.example.com\n' }, `${origin}: develop has "https://www.example.com\n".`],
      [{ cors_origin: 'https://WWW.example.com' }, `${origin}: develop has "https://WWW.example.com".`],
      [{ cors_origin: 'www.example.com' }, `${origin}: develop has "www.example.com".`],
      [
        { cors_origin: 'https://a.example.com,https://b.example.com' },
        `${origin}: develop has "https://a.example.com,https://b.example.com".`,
      ],
      [{ audience: [] }, `${audience}: develop.`],
      [{ audience: ['client', ''] }, `${audience}: develop.`],
      [{ audience: [' '] }, `${audience}: develop.`],
      [
        { log_retention_days: 31 },
        'A log_retention_days must be a number CloudWatch Logs knows (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653): develop has 31.',
      ],
      [{ throttling: { rate_limit: 0, burst_limit: 1 } }, `${limits}: develop.`],
      [{ throttling: { rate_limit: 1, burst_limit: 0 } }, `${limits}: develop.`],
      [
        { reserved_concurrency: -1 },
        "A reserved_concurrency must not be negative; leave it out to use the account's pool: develop.",
      ],
      [{ alarm_email: 'nobody' }, 'An alarm_email must be an e-mail address: develop.'],
      [{ table_kms_key_arn: 'alias/mine' }, 'A table_kms_key_arn must be the ARN of a KMS key: develop.'],
      [
        { domain: { name: 'https://api.example.com', certificate_arn: 'arn:aws:acm:x' } },
        `${domain}: develop.`,
      ],
      [{ domain: { name: 'api.example.com', certificate_arn: 'mine' } }, `${domain}: develop.`],
    ])('refuses %j in so many words', async (settings, sentence) => {
      expect(await refusals({ stages: { develop: { ...good, ...settings } } })).toEqual([sentence]);
    });

    it('names every stage that is wrong, not only the one to be deployed', async () => {
      const stages = {
        develop: good,
        main: { ...good, audience: [] },
        release: { ...good, issuer: 'http://x', audience: [] },
      };
      expect(await refusals({ stages })).toEqual([
        `${issuer}: release has "http://x".`,
        `${audience}: main, release.`,
      ]);
    });

    it('refuses settings of a stage there is not', async () => {
      expect(await refusals({ stages: { develop: good, production: good } })).toEqual([
        'Stages are develop, main and release; remove from stages: production.',
      ]);
    });

    it('refuses a stage without settings and says where they belong', async () => {
      expect(await refusals({ stages: { main: good } })).toEqual([
        'Stage "develop" has no settings: copy stages.auto.tfvars.example to stages.auto.tfvars and fill in its entry.',
      ]);
    });

    it.each(['default', 'feature', 'Release'])(
      'refuses the workspace %s and says which to select',
      async (workspace) => {
        expect(await refusals({ stages: { develop: good } }, workspace)).toEqual([
          `Workspace "${workspace}" is not a stage: run "terraform workspace select -or-create develop" (or main, or release).`,
        ]);
      },
    );

    it.each([
      [{ package_file: 'nothing.zip' }, 'There is no nothing.zip: run "npm run build" first.'],
      [{ runtime: 'python3.13' }, 'A runtime is Node.js 22 or later, such as nodejs24.x, not "python3.13".'],
      [{ runtime: 'nodejs20.x' }, 'A runtime is Node.js 22 or later, such as nodejs24.x, not "nodejs20.x".'],
      [
        { name: 'Inquiries' },
        'A name is 2 to 41 lower-case letters, digits and hyphens and begins with a letter, not "Inquiries".',
      ],
    ])('refuses %j in so many words', async (variables, sentence) => {
      expect(await refusals({ stages: { develop: good }, ...variables })).toEqual([sentence]);
    });

    it.each(STAGES)('accepts the example file in the workspace %s', async (stage) => {
      const example = 'example.tfvars';
      copyFileSync(join(MODULE, 'stages.auto.tfvars.example'), join(folder, example));
      const { output, code } = await run(
        'terraform',
        ['plan', '-no-color', '-lock=false', '-var=package_file=variables.tf', `-var-file=${example}`],
        { cwd: folder, env: terraformEnv({ TF_WORKSPACE: stage }) },
      );
      expect([code, output]).toEqual([0, expect.stringContaining('No changes')]);
    });
  },
);

describe('the module', () => {
  it('gives the table the keys of the local table definition', () => {
    const table = read('infra/terraform/table.tf');
    const keys = [...table.matchAll(/^ {2}(?<kind>hash|range)_key\s+= "(?<name>\w+)"/gm)].map(
      ({ groups }) => ({
        AttributeName: groups?.['name'],
        KeyType: groups?.['kind']?.toUpperCase(),
      }),
    );
    const attributes = [
      ...table.matchAll(/attribute \{\s+name = "(?<name>\w+)"\s+type = "(?<type>\w)"/g),
    ].map(({ groups }) => ({ AttributeName: groups?.['name'], AttributeType: groups?.['type'] }));
    expect(keys).toEqual(tableDefinition.KeySchema);
    expect(attributes).toEqual(tableDefinition.AttributeDefinitions);
    expect(table).toContain(`billing_mode = "${tableDefinition.BillingMode}"`);
  });

  it('gives the function the environment that src/config.ts reads, and no more', () => {
    const [, environment = ''] = /environment \{\s+variables = \{(.*?)\}/s.exec(source) ?? [];
    const given = [...environment.matchAll(/^\s+(\w+)\s+=/gm)].map(([, name]) => name);
    const wanted = [...read('src/config.ts').matchAll(/'([A-Z_]{4,})'/g)].map(([, name]) => name);
    expect(sorted(given)).toEqual(sorted(wanted));
  });

  it('alarms on what the function writes about a request', () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const write = vi.fn<(line: string) => void>();
    const request = { requestId: '1', functionName: 'f', method: 'POST', milliseconds: 1, attempts: 0 };
    logRequest({ ...request, status: 500, error: unparsableJson(undefined) }, write);
    const { _aws, ...values } = JSON.parse(String(write.mock.lastCall));
    const [{ Namespace, Dimensions, Metrics }] = _aws.CloudWatchMetrics;
    expect(values).toEqual({ FunctionName: 'f', Requests: 1, Faults: 0, Latency: 1 });
    expect(Dimensions).toEqual([['FunctionName']]);
    expect(Metrics).toContainEqual({ Name: 'Faults', Unit: 'Count' });
    expect(source).toContain(`function_namespace = "${Namespace}"`);
    expect(source).toContain('namespace = local.function_namespace, name = "Faults"');
    // What the second filter on the log counts, so that the alarm on 5xx can leave it out.
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status: 500 }));
    expect(source).toContain('{ $.level = \\"WARN\\" && $.message.status = 500 }');
    vi.restoreAllMocks();
  });

  it('keeps the successes of all operations out of caches', () => {
    const [, statuses = ''] = /"response_parameters" \{\s+for_each = \[(.*?)\]/.exec(source) ?? [];
    expect(sorted(statuses.match(/\d+/g) ?? [])).toEqual(
      sorted([...operations.values()].map(({ status }) => String(status))),
    );
  });

  it('runs on the newest runtime unless told otherwise', () => {
    expect(source).toMatch(/variable "runtime" \{[^}]*default\s+= "nodejs24\.x"/);
  });

  it('asks for Terraform 1.10 and an AWS provider from 5.100 up to, not including, 7', () => {
    expect(source).toContain('required_version = ">= 1.10"');
    expect(source).toContain('version = ">= 5.100.0, < 7.0.0"');
  });

  // CKV_AWS_274, CKV2_AWS_56: nothing attaches a managed policy. CKV_AWS_258, CKV2_AWS_75: the function has no URL of its own.
  it('consists of these kinds of resources', () => {
    const kinds = [...source.matchAll(/^resource "(\w+)"/gm)].map(([, kind]) => kind);
    expect(sorted(kinds)).toEqual([
      'aws_apigatewayv2_api',
      'aws_apigatewayv2_api_mapping',
      'aws_apigatewayv2_authorizer',
      'aws_apigatewayv2_domain_name',
      'aws_apigatewayv2_integration',
      'aws_apigatewayv2_route',
      'aws_apigatewayv2_stage',
      'aws_cloudwatch_dashboard',
      'aws_cloudwatch_log_group',
      'aws_cloudwatch_log_metric_filter',
      'aws_cloudwatch_metric_alarm',
      'aws_dynamodb_table',
      'aws_iam_role',
      'aws_iam_role_policy',
      'aws_lambda_function',
      'aws_lambda_permission',
      'aws_sns_topic',
      'aws_sns_topic_subscription',
    ]);
  });

  it('reads nothing from the account and takes credentials and endpoints from the environment alone', () => {
    expect([...source.matchAll(/^data "(\w+)"/gm)].map(([, kind]) => kind)).toEqual(['aws_region']);
    expect(source).not.toMatch(
      /endpoints\s*\{|access_key|secret_key|profile\s*=|skip_\w+\s*=|allowed_account_ids/,
    );
    expect(source).not.toMatch(/\b\d{12}\b/);
  });

  it('describes every variable and output', () => {
    const blocks = [...source.matchAll(/^(?:variable|output) "(\w+)" \{\n(?: {2}.*\n|\n)*\}/gm)];
    expect(blocks).toHaveLength([...source.matchAll(/^(?:variable|output) /gm)].length);
    const description = /^ {2}description\s+= (?:"[^"]{20,}|<<-EOT)/m;
    expect(blocks.filter(([block]) => !description.test(block)).map(([, name]) => name)).toEqual([]);
  });

  it('names blocks with underscores, without repeating the kind, and puts for_each first', () => {
    const blocks = [
      ...source.matchAll(/^resource "(?<kind>\w+)" "(?<name>[^"]+)" \{\n(?<body>(?: {2}.*\n|\n)*)\}/gm),
    ];
    expect(blocks).toHaveLength([...source.matchAll(/^resource /gm)].length);
    const wrong = blocks.filter(({ groups: { kind = '', name = '', body = '' } = {} }) => {
      // A dynamic block inside may have its own for_each, deeper.
      const [, ...others] = body.split('\n');
      return (
        !/^[a-z][a-z_]*$/.test(name) ||
        kind.split('_').includes(name) ||
        others.some((line) => line.startsWith('  for_each '))
      );
    });
    expect(wrong.map(([block]) => block)).toEqual([]);
  });
});

describe('the documents', () => {
  it('explains every alarm in the runbook, under its own name', () => {
    const alarms = [...source.matchAll(/^ {4}([a-z0-9-]+) = \{\n {6}description = /gm)].map(
      ([, name]) => name,
    );
    expect(alarms).toHaveLength(8);
    const headings = [...read('docs/runbook.md').matchAll(/^### `?([a-z0-9-]+)`?$/gm)].map(
      ([, name]) => name,
    );
    expect(headings).toEqual(alarms);
  });

  it('accounts for every policy a test cites, as held, and for no other', () => {
    const policies = /\b(?:CKV2?_AWS_\d+|AVD-AWS-\d{4})\b/g;
    const tests = [
      ...globSync('infra/terraform/tests/*.tftest.hcl', { cwd: ROOT }),
      'tests/repository/infra.test.ts',
    ];
    const cited = new Set(tests.flatMap((file) => read(file).match(policies) ?? []));
    const rows = [
      ...read('docs/security-policies.md').matchAll(
        /^\| (?<ids>[^|]+) \| (?<verdict>held|skipped) \| (?<why>[^|]+) \|/gm,
      ),
    ];
    const accounted = (verdict: string) =>
      rows.flatMap(({ groups }) =>
        groups?.['verdict'] === verdict ? (groups['ids']?.match(policies) ?? []) : [],
      );
    expect(sorted(accounted('held'))).toEqual(sorted(cited));
    expect(accounted('skipped').filter((id) => cited.has(id))).toEqual([]);
    expect(accounted('held').length + accounted('skipped').length).toBeGreaterThanOrEqual(30);
    for (const { groups } of rows) expect(groups?.['why']?.length).toBeGreaterThan(30);
  });
});
