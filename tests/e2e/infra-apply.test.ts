/**
 * `terraform apply` for real, against a stand-in for the AWS APIs: see tests/helpers/fake-aws.ts for what that shows and
 * what it does not.
 */
import { copyFileSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODULE, providerSource, run, STAGES, terraformEnv } from '../../scripts/infra/terraform.ts';
import type { Outcome } from '../../scripts/infra/terraform.ts';
import { startFakeAws } from '../helpers/fake-aws.ts';
import type { FakeAws } from '../helpers/fake-aws.ts';

const folder = mkdtempSync(join(tmpdir(), 'infra-apply-'));
for (const file of globSync('*.tf', { cwd: MODULE })) copyFileSync(join(MODULE, file), join(folder, file));
copyFileSync(join(MODULE, 'backend_override.tf.example'), join(folder, 'backend_override.tf'));
writeFileSync(join(folder, 'package.zip'), 'first');

const init = await run('terraform', ['init', '-no-color', ...providerSource()], {
  cwd: folder,
  env: terraformEnv(),
});
const hasProvider = init.code === 0;

const settings = (stage: string, more: object = {}) => ({
  issuer: `https://issuer.example.com/${stage}`,
  audience: ['client'],
  cors_origin: `https://${stage}.example.com`,
  ...more,
});

describe.skipIf(!hasProvider)('terraform apply (skipped without terraform and an AWS provider)', () => {
  let aws: FakeAws;
  beforeAll(async () => {
    aws = await startFakeAws();
  });
  afterAll(async () => {
    await aws.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Terraform in the stage's workspace, with dummy credentials and nothing else of this machine's AWS settings. */
  function terraform(stage: string, args: readonly string[], more: object = {}): Promise<Outcome> {
    const env = terraformEnv();
    for (const name of Object.keys(env)) if (name.startsWith('AWS_')) delete env[name];
    return run('terraform', args, {
      cwd: folder,
      env: {
        ...env,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        AWS_REGION: 'eu-central-1',
        AWS_ENDPOINT_URL: aws.url,
        TF_WORKSPACE: stage,
        TF_VAR_runtime: 'nodejs22.x', // the newest one that provider 5.100 knows
        TF_VAR_package_file: 'package.zip',
        TF_VAR_stages: JSON.stringify({ [stage]: settings(stage, more) }),
      },
    });
  }
  const apply = ['apply', '-no-color', '-auto-approve'];
  const destroy = ['destroy', '-no-color', '-auto-approve'];
  /** Exit code 0: no change, 2: changes. */
  const plan = ['plan', '-no-color', '-detailed-exitcode'];
  const changes = ({ output }: Outcome) =>
    [...output.matchAll(/^ {2}# (\S+) will be (.*)$/gm)]
      .map(([, address, what]) => `${address} ${what}`)
      .toSorted();
  const left = () =>
    Object.entries(aws.kept).flatMap(([kind, resources]) =>
      [...resources.keys()].map((name) => `${kind} ${name}`),
    );

  it.each(STAGES)('plans the stage %s with dummy credentials', async (stage) => {
    const outcome = await terraform(stage, plan);
    expect([outcome.code, outcome.output]).toEqual([
      2,
      expect.stringContaining('Plan: 33 to add, 0 to change, 0 to destroy.'),
    ]);
  });

  it('creates develop, then plans no change, then changes only what was changed, and removes everything', async () => {
    expect(await terraform('develop', apply)).toMatchObject({ code: 0 });
    expect(await terraform('develop', plan)).toMatchObject({ code: 0 });

    writeFileSync(join(folder, 'package.zip'), 'second');
    const more = { cors_origin: 'http://localhost:5173', throttling: { rate_limit: 1, burst_limit: 2 } };
    const changed = await terraform('develop', plan, more);
    expect(changes(changed)).toEqual([
      'aws_apigatewayv2_api.this updated in-place',
      'aws_apigatewayv2_stage.this updated in-place',
      'aws_lambda_function.this updated in-place',
    ]);
    expect(await terraform('develop', apply, more)).toMatchObject({ code: 0 });
    expect(await terraform('develop', plan, more)).toMatchObject({ code: 0 });

    expect(await terraform('develop', destroy, more)).toMatchObject({ code: 0 });
    expect(left()).toEqual([]);
    expect(aws.unknown).toEqual([]);
  }, 180_000);

  it('creates release with every option, keeps its table from deletion, and gives it up only on purpose', async () => {
    const more = {
      alarm_email: 'oncall@example.com',
      reserved_concurrency: 10,
      table_kms_key_arn: 'arn:aws:kms:eu-central-1:000000000000:key/00000000-0000-0000-0000-000000000000',
      domain: {
        name: 'api.example.com',
        certificate_arn: 'arn:aws:acm:eu-central-1:000000000000:certificate/x',
      },
    };
    expect(await terraform('release', apply, more)).toMatchObject({ code: 0 });
    expect(await terraform('release', plan, more)).toMatchObject({ code: 0 });

    const refused = await terraform('release', destroy, more);
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining('currently protected against deletion'),
    ]);
    expect(left()).toEqual(['tables inquiries-release']);

    const unprotected = { ...more, deletion_protection_enabled: false };
    expect(await terraform('release', apply, unprotected)).toMatchObject({ code: 0 });
    expect(await terraform('release', destroy, unprotected)).toMatchObject({ code: 0 });
    expect(left()).toEqual([]);
    expect(aws.unknown).toEqual([]);
  }, 180_000);
});
