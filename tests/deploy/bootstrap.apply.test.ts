/** `npm run bootstrap` against an emulator of the AWS APIs, each test in an account of its own; see infra-apply.test.ts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  GetBucketEncryptionCommand,
  GetBucketVersioningCommand,
  GetPublicAccessBlockCommand,
  HeadObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, describe, it } from 'vitest';
import { run, terraformEnv } from '../../deploy/terraform.ts';
import { ROOT } from '../../lib/paths.ts';

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
// util-linux's script gives the command a terminal.
const hasScript = (await run('script', ['--version'])).code === 0;
if (!hasScript)
  process.stdout.write('\nSKIPPED: bootstrap at a terminal, because `script` is not on the PATH.\n');

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

const QUESTION = 'Apply this plan? Type the account id to confirm: ';

/** The files that the command writes to be committed. */
const COMMITTED = [
  'backend.s3.tfbackend',
  'bootstrap.auto.tfvars.json',
  'bootstrap/settings.auto.tfvars.json',
];

/** A clone of this repository, with the files that were committed in another one. */
function clone({ credentials }: Account, committed?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'bootstrap-apply-'));
  folders.push(folder);
  const infra = join(folder, 'infra/terraform');
  for (const name of ['bin', 'home']) mkdirSync(join(folder, name));
  cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
  cpSync(join(ROOT, 'infra/terraform/bootstrap'), join(infra, 'bootstrap'), {
    recursive: true,
    filter: (file) => !/\.terraform|tfstate|tfvars|_override/.test(file),
  });
  if (committed !== undefined) for (const name of COMMITTED) cpSync(join(committed, name), join(infra, name));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const main = join(infra, 'bootstrap/main.tf');
  const module = readFileSync(main, 'utf8').replace(
    /^resource "aws_s3_bucket_(lifecycle_configuration|policy)" .*?^\}\n/gms,
    '',
  );
  writeFileSync(main, module);
  const env = {
    ...Object.fromEntries(Object.entries(terraformEnv()).filter(([key]) => !key.startsWith('AWS_'))),
    HOME: join(folder, 'home'),
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
    AWS_REGION: region,
    AWS_ENDPOINT_URL: endpoint,
  };
  const script = join(folder, 'deploy/bootstrap.ts');
  return {
    infra,
    /** Kills the command when it calls `terraform state push`: before the push, or after it. */
    killAt(moment: 'before' | 'after' | 'never') {
      const wrapper = join(folder, 'bin/terraform');
      rmSync(wrapper, { force: true });
      if (moment === 'never') return;
      const push = moment === 'after' ? 'PATH="${PATH#*:}" terraform "$@"; ' : '';
      writeFileSync(
        wrapper,
        `#!/bin/sh\nif [ "$1 $2" = "state push" ]; then ${push}kill -9 $PPID; exit 1; fi\nPATH="\${PATH#*:}" exec terraform "$@"\n`,
        { mode: 0o755 },
      );
    },
    bootstrap: (args: string) => run(process.execPath, [script, ...args.split(' ')], { cwd: folder, env }),
    /** Types the text when the question is asked at a terminal. */
    async answer(text: string): Promise<{ code: number | null; output: string }> {
      const child = spawn('script', ['-qec', `"${process.execPath}" "${script}"`, '/dev/null'], {
        cwd: folder,
        env,
      });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        const wasAsked = output.includes(QUESTION);
        output += chunk.toString();
        if (!wasAsked && output.includes(QUESTION)) child.stdin.write(text);
      });
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, output };
    },
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

const LEFTOVERS = [
  'bootstrap/first.tfstate',
  'bootstrap/first.tfstate.backup',
  'bootstrap/backend_override.tf',
];
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
      expect(created.output).toContain('+ resource "aws_s3_bucket" "state"');
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
      expect(LEFTOVERS.filter(first.has)).toEqual([]);

      const fresh = clone(account, first.infra);
      for (const { bootstrap, has } of [first, fresh]) {
        const again = await bootstrap('--yes');
        expect(errorOf(again)).toBe('');
        expect(again.output).toContain('No changes.');
        expect(again.output).not.toContain('terraform apply …');
        expect(LEFTOVERS.filter(has)).toEqual([]);
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

    it.for(['before', 'after'] as const)(
      'continues a first run that was killed %s its state reached the bucket',
      async (moment, { expect }) => {
        const account = await createAccount();
        const { bootstrap, has, killAt, read } = clone(account);
        const { hasState } = openBucket(account);
        killAt(moment);
        expect((await bootstrap(GITHUB)).code).toBe(127);
        expect(has('bootstrap/first.tfstate')).toBe(true);
        expect(has('backend.s3.tfbackend')).toBe(false);
        expect(await hasState()).toBe(moment === 'after');

        killAt('never');
        const again = await bootstrap('--yes');
        expect(errorOf(again)).toBe('');
        expect(again.output).toContain('No changes.');
        expect(read('bootstrap/settings.auto.tfvars.json')).toContain('octo/inquiries');
        expect(await hasState()).toBe(true);
        expect(LEFTOVERS.filter(has)).toEqual([]);
        expect(has('backend.s3.tfbackend')).toBe(true);
      },
    );

    it('takes over a bucket whose state was lost', async ({ expect }) => {
      const account = await createAccount();
      const lost = clone(account);
      lost.killAt('before');
      await lost.bootstrap('--yes');
      const { bootstrap } = clone(account);
      const again = await bootstrap('--yes');
      expect(errorOf(again)).toBe('');
      expect(again.output).toContain(`The bucket ${account.bucket} exists without a state`);
      expect(await openBucket(account).hasState()).toBe(true);
    });

    it.skipIf(!hasScript)(
      'asks for the account id at a terminal, and changes nothing without it',
      async ({ expect }) => {
        const account = await createAccount();
        const { answer, has } = clone(account);
        // Text that is not the account's id, and Ctrl-C.
        for (const text of ['yes\r', '\u0003']) {
          const { code, output } = await answer(text);
          expect(output).toContain(QUESTION);
          expect(output).toContain('Nothing was changed.');
          expect(code).toBe(2);
        }
        expect([...LEFTOVERS, ...COMMITTED].filter(has)).toEqual([]);
        expect(await openBucket(account).hasState()).toBe(false);
        expect(errorOf(await answer(`${account.accountId}\r`))).toBe('');
        expect(await openBucket(account).hasState()).toBe(true);
      },
    );
  });
