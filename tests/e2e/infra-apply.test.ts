/**
 * `terraform apply` for real, against a stand-in for the AWS APIs: see tests/helpers/fake-aws.ts for what that shows and
 * what it does not.
 */
import { copyFileSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { MODULE, providerSource, run, terraformEnv } from '../../scripts/infra/terraform.ts';
import type { Outcome } from '../../scripts/infra/terraform.ts';
import { startFakeAws } from '../helpers/fake-aws.ts';

const folder = mkdtempSync(join(tmpdir(), 'infra-apply-'));
for (const file of globSync('*.tf', { cwd: MODULE })) copyFileSync(join(MODULE, file), join(folder, file));
copyFileSync(join(MODULE, 'backend_override.tf.example'), join(folder, 'backend_override.tf'));

// Only with a provider at hand: a test run is no time to fetch one of 150 MB from the registry.
const source = providerSource();
const init =
  source.length > 0 &&
  (await run('terraform', ['init', '-no-color', ...source], { cwd: folder, env: terraformEnv() }));
const hasProvider = init !== false && init.code === 0;
if (!hasProvider) {
  process.stdout.write(
    '\nSKIPPED: terraform apply, because TF_PLUGIN_DIR names no folder with Terraform’s AWS provider.\n',
  );
  rmSync(folder, { recursive: true, force: true });
}

const settings = (stage: string, more: object = {}) => ({
  issuer: `https://issuer.example.com/${stage}`,
  audience: ['client'],
  cors_origin: `https://${stage}.example.com`,
  ...more,
});

const apply = ['apply', '-no-color', '-auto-approve'];
const destroy = ['destroy', '-no-color', '-auto-approve'];
/** Exit code 0: no change, 2: changes. */
const plan = ['plan', '-no-color', '-detailed-exitcode'];
const changes = ({ output }: Outcome) =>
  [...output.matchAll(/^ {2}# (\S+) will be (.*)$/gm)]
    .map(([, address, what]) => `${address} ${what}`)
    .toSorted();

/** One stage in its workspace and an AWS of its own, so that stages do not wait for each other. */
async function open(stage: string) {
  const aws = await startFakeAws();
  const zip = `${stage}.zip`;
  writeFileSync(join(folder, zip), 'first');
  return {
    aws,
    build: (content: string) => writeFileSync(join(folder, zip), content),
    left: () =>
      Object.entries(aws.kept).flatMap(([kind, resources]) =>
        [...resources.keys()].map((name) => `${kind} ${name}`),
      ),
    /** Terraform with dummy credentials and nothing else of this machine's AWS settings. */
    terraform(args: readonly string[], more: object = {}): Promise<Outcome> {
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
          TF_VAR_package_file: zip,
          TF_VAR_stages: JSON.stringify({ [stage]: settings(stage, more) }),
        },
      });
    },
  };
}

describe
  .skipIf(!hasProvider)
  .concurrent('terraform apply (skipped without terraform and an AWS provider)', { timeout: 240_000 }, () => {
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    it('plans main with dummy credentials and changes nothing', async ({ expect }) => {
      const { aws, terraform, left } = await open('main');
      const outcome = await terraform(plan);
      const summary = 'Plan: 33 to add, 0 to change, 0 to destroy.';
      expect([outcome.code, outcome.output]).toEqual([2, expect.stringContaining(summary)]);
      expect(left()).toEqual([]);
      await aws.close();
    });

    it('creates develop, then plans no change, then changes only what was changed, and removes everything', async ({
      expect,
    }) => {
      const { aws, terraform, build, left } = await open('develop');
      expect(await terraform(apply)).toMatchObject({ code: 0 });
      expect(await terraform(plan)).toMatchObject({ code: 0 });

      build('second');
      const more = { cors_origin: 'http://localhost:5173', throttling: { rate_limit: 1, burst_limit: 2 } };
      expect(changes(await terraform(plan, more))).toEqual([
        'aws_apigatewayv2_api.this updated in-place',
        'aws_apigatewayv2_stage.this updated in-place',
        'aws_lambda_function.this updated in-place',
      ]);
      expect(await terraform(apply, more)).toMatchObject({ code: 0 });
      expect(await terraform(plan, more)).toMatchObject({ code: 0 });

      expect(await terraform(destroy, more)).toMatchObject({ code: 0 });
      expect(left()).toEqual([]);
      expect(aws.unknown).toEqual([]);
      await aws.close();
    });

    it('creates release with every option, keeps its table from deletion, and gives it up only on purpose', async ({
      expect,
    }) => {
      const { aws, terraform, left } = await open('release');
      const more = {
        alarm_email: 'oncall@example.com',
        reserved_concurrency: 10,
        table_kms_key_arn: 'arn:aws:kms:eu-central-1:000000000000:key/00000000-0000-0000-0000-000000000000',
        domain: {
          name: 'api.example.com',
          certificate_arn: 'arn:aws:acm:eu-central-1:000000000000:certificate/x',
        },
      };
      expect(await terraform(apply, more)).toMatchObject({ code: 0 });
      expect(await terraform(plan, more)).toMatchObject({ code: 0 });

      const refused = await terraform(destroy, more);
      expect([refused.code, refused.output]).toEqual([
        1,
        expect.stringContaining('currently protected against deletion'),
      ]);
      expect(left()).toEqual(['tables inquiries-release']);

      // Now only the table is left to apply to.
      const unprotected = { ...more, deletion_protection_enabled: false };
      const target = '-target=aws_dynamodb_table.this';
      expect(await terraform([...apply, target], unprotected)).toMatchObject({ code: 0 });
      expect(await terraform(destroy, unprotected)).toMatchObject({ code: 0 });
      expect(left()).toEqual([]);
      expect(aws.unknown).toEqual([]);
      await aws.close();
    });
  });
