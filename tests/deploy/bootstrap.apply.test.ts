/** `npm run bootstrap` against an emulator of the AWS APIs, each test in an account of its own; see stages.apply.test.ts. */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GetBucketEncryptionCommand,
  GetBucketVersioningCommand,
  GetPublicAccessBlockCommand,
  HeadObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, describe, it, vi } from 'vitest';
import { createStateBucket } from '../../deploy/state-bucket.ts';
import { terraformEnv } from '../../deploy/terraform.ts';
import { copyProject, startCommand } from '../helpers/emulator-stages.ts';

/** What moto lacks, and what follows for this test. */
const MOTO_GAPS = [
  'a lifecycle configuration reads back without NewerNoncurrentVersions and with another filter, on which the provider waits: the copy of the module has none',
  'DescribeSubscribersForNotification of Budgets is not implemented: no budget (the module has a test with a mocked provider)',
  "a bucket's policy is enforced without its conditions, so the one that demands TLS denies everything: the copy has none",
  'policies of roles are not enforced: what they allow is tested in tests/infra/bootstrap-policies.test.ts',
];

const endpoint = process.env['AWS_ENDPOINT_URL'] ?? '';
process.stdout.write(
  endpoint === ''
    ? '\nSKIPPED: bootstrap, because AWS_ENDPOINT_URL names no emulator of AWS.\n'
    : `\nLEFT OUT of the bootstrap, because the emulator is moto:\n  ${MOTO_GAPS.join('\n  ')}\n`,
);
const region = 'eu-central-1';
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new account: credentials of a role belong to the role's account, which the emulator creates. */
async function createAccount() {
  const accountId = String(100_000_000_000 + Math.floor(Math.random() * 800_000_000_000));
  const sts = new STSClient({
    endpoint,
    region,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const { Credentials: found } = await sts.send(
    new AssumeRoleCommand({ RoleArn: `arn:aws:iam::${accountId}:role/admin`, RoleSessionName: 'test' }),
  );
  sts.destroy();
  return {
    accountId,
    bucket: `inquiries-terraform-state-${accountId}-${region}`,
    credentials: {
      accessKeyId: found?.AccessKeyId ?? '',
      secretAccessKey: found?.SecretAccessKey ?? '',
      sessionToken: found?.SessionToken ?? '',
    },
  };
}
type Account = Awaited<ReturnType<typeof createAccount>>;

/** The files that the command writes to be committed. */
const COMMITTED = [
  'backend.s3.tfbackend',
  'bootstrap.auto.tfvars.json',
  'bootstrap/settings.auto.tfvars.json',
];

/** A clone of this repository, with the files that were committed in another one. */
function clone({ credentials }: Account, committed?: string) {
  const folder = copyProject('infra/terraform/bootstrap');
  folders.push(folder);
  const infra = join(folder, 'infra/terraform');
  if (committed !== undefined) for (const name of COMMITTED) cpSync(join(committed, name), join(infra, name));
  const main = join(infra, 'bootstrap/main.tf');
  const module = readFileSync(main, 'utf8').replace(
    /^resource "aws_s3_bucket_(lifecycle_configuration|policy)" .*?^\}\n/gms,
    '',
  );
  writeFileSync(main, module);
  const env = {
    ...Object.fromEntries(Object.entries(terraformEnv()).filter(([key]) => !key.startsWith('AWS_'))),
    HOME: join(folder, 'home'),
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
    AWS_REGION: region,
    AWS_ENDPOINT_URL: endpoint,
  };
  return {
    infra,
    bootstrap: (args: string) => startCommand(folder, 'bootstrap', args.split(' '), env).ended,
    has: (name: string) => existsSync(join(infra, name)),
    read: (name: string) => readFileSync(join(infra, name), 'utf8'),
  };
}

/** The errors of a command, without the plan printed before them; empty if it succeeded. */
const errorOf = ({ code, output }: { code: number | null; output: string }): string =>
  code === 0 ? '' : `exit code ${code}: ${output.slice(Math.max(0, output.indexOf('Error: ')))}`;

function openBucket({ bucket: Bucket, credentials }: Account) {
  const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  return {
    hasState: () =>
      s3.send(new HeadObjectCommand({ Bucket, Key: 'inquiries/bootstrap.tfstate' })).then(
        () => true,
        () => false,
      ),
    describe: async () => ({
      versions: (await s3.send(new GetBucketVersioningCommand({ Bucket }))).Status,
      encryption: (await s3.send(new GetBucketEncryptionCommand({ Bucket })))
        .ServerSideEncryptionConfiguration?.Rules?.[0]?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm,
      access: (await s3.send(new GetPublicAccessBlockCommand({ Bucket }))).PublicAccessBlockConfiguration,
    }),
  };
}

const GITHUB = '--github octo/inquiries --github-ids 1/23 --domain release=api.example.com --yes';

describe
  .skipIf(endpoint === '')
  .concurrent('npm run bootstrap (skipped without AWS_ENDPOINT_URL)', { timeout: 600_000 }, () => {
    it('creates the bucket and the roles, and changes nothing when run again, also in a fresh clone', async ({
      expect,
    }) => {
      const account = await createAccount();
      const { accountId, bucket } = account;
      const first = clone(account);
      const created = await first.bootstrap(GITHUB);
      expect(errorOf(created)).toBe('');
      expect(created.output).toContain(`# (imported from "${bucket}")`);
      expect(created.output).toContain(
        `account   ${accountId}\n  region    ${region}\n  bucket    ${bucket}`,
      );
      expect(created.output).toContain(
        `release-plan  arn:aws:iam::${accountId}:role/terraform-bootstrap/inquiries-release-plan-${region}`,
      );
      expect(first.read('backend.s3.tfbackend')).toBe(
        `# Written by npm run bootstrap.\nbucket              = "${bucket}"\nregion              = "${region}"\nallowed_account_ids = ["${accountId}"]\n`,
      );
      const boundary = (stage: string) =>
        `arn:aws:iam::${accountId}:policy/terraform-bootstrap/inquiries-${stage}-boundary-${region}`;
      expect(JSON.parse(first.read('bootstrap.auto.tfvars.json'))).toEqual({
        permissions_boundaries: {
          develop: boundary('develop'),
          main: boundary('main'),
          release: boundary('release'),
        },
      });
      expect(JSON.parse(first.read('bootstrap/settings.auto.tfvars.json'))).toEqual({
        region,
        github: { repository: 'octo/inquiries', owner_id: '1', repository_id: '23' },
        domains: { release: ['api.example.com'] },
      });
      const store = openBucket(account);
      expect(await store.hasState()).toBe(true);
      expect(await store.describe()).toEqual({
        versions: 'Enabled',
        encryption: 'AES256',
        access: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      });

      const fresh = clone(account, first.infra);
      for (const { bootstrap } of [first, fresh]) {
        const again = await bootstrap('--yes');
        expect(errorOf(again)).toBe('');
        expect(again.output).toContain('No changes.');
        expect(again.output).not.toContain('terraform apply …');
      }

      writeFileSync(
        join(fresh.infra, 'backend.s3.tfbackend'),
        first.read('backend.s3.tfbackend').replace(bucket, 'other-bucket').replace(accountId, '999999999999'),
      );
      const refused = await fresh.bootstrap('--yes');
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.output).toContain(
        `infra/terraform/backend.s3.tfbackend names the bucket other-bucket in account 999999999999, region ${region}; these credentials and settings mean the bucket ${bucket} in account ${accountId}, region ${region}. Nothing was changed.`,
      );
    });

    it('continues a first run that ended after the bucket was created', async ({ expect }) => {
      const account = await createAccount();
      const { accountId, bucket, credentials } = account;
      const { bootstrap, has } = clone(account);
      const planned = await bootstrap('--plan-only');
      expect([planned.code, planned.output]).toEqual([
        0,
        expect.stringContaining('The bucket does not exist. It is created first'),
      ]);
      expect(COMMITTED.filter(has)).toEqual([]);

      vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
      vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId);
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey);
      vi.stubEnv('AWS_SESSION_TOKEN', credentials.sessionToken);
      await createStateBucket({ accountId, region, bucket });
      vi.unstubAllEnvs();
      const store = openBucket(account);
      expect(await store.hasState()).toBe(false);

      const again = await bootstrap(GITHUB);
      expect(errorOf(again)).toBe('');
      expect(await store.hasState()).toBe(true);
      expect(COMMITTED.filter(has)).toEqual(COMMITTED);
    });
  });
