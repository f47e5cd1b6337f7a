/** `npm run bootstrap` of a service with a name of its own on an emulator of the AWS APIs; see stages.apply.test.ts. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { S3 } from '@aws-sdk/client-s3';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../../deploy/terraform.ts';
import { STAGES } from '../../lib/stages.ts';
import {
  announce,
  clientOf,
  copyProject,
  emulatorEnv,
  endpoint,
  startCommand,
} from '../helpers/emulator-stages.ts';
import { readImports } from '../helpers/repository.ts';

/** What moto lacks, and what follows for this test. */
const MOTO_GAPS = [
  'a lifecycle configuration reads back without NewerNoncurrentVersions and with another filter, on which the provider waits: the copy of the module has none',
  'DescribeSubscribersForNotification of Budgets is not implemented: no budget (the module has a test with a mocked provider), and none is imported',
  'the identity provider may be of an earlier run, so it is neither made nor imported',
  "a bucket's policy is enforced without its conditions, so the one that demands TLS denies everything: the copy has none",
  'policies of roles are not enforced: what they allow is tested in tests/infra/bootstrap-policies.test.ts',
];

announce('bootstrap', MOTO_GAPS);
const { region } = clientOf(endpoint);
/** Of the emulator. */
const accountId = '123456789012';
/** A name of this run only, so that one emulator serves several runs. */
const name = `bootstrap-${crypto.randomUUID().slice(0, 8)}`;
const bucket = `${name}-terraform-state-${accountId}-${region}`;
/** A setting without an option. */
const SETTINGS = 'bootstrap/settings.auto.tfvars.json';
/** The other files that the command writes to be committed. */
const WRITTEN = ['backend.s3.tfbackend', 'bootstrap.auto.tfvars.json'];

/** A clone of this repository, with the files that were committed in another one. */
function clone(committed?: string) {
  const folder = copyProject('infra/terraform/bootstrap');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const infra = join(folder, 'infra/terraform');
  writeFileSync(join(infra, SETTINGS), JSON.stringify({ name }));
  if (committed !== undefined) {
    for (const file of [SETTINGS, ...WRITTEN]) cpSync(join(committed, file), join(infra, file));
  }
  const main = join(infra, 'bootstrap/main.tf');
  const module = readFileSync(main, 'utf8').replace(
    /^resource "aws_s3_bucket_(lifecycle_configuration|policy)" .*?^\}\n/gms,
    '',
  );
  writeFileSync(main, module);
  const env = { ...emulatorEnv(endpoint), HOME: join(folder, 'home') };
  return {
    infra,
    /** For other runs of Terraform. */
    cwd: join(infra, 'bootstrap'),
    env,
    /** Runs the command, which must succeed. @returns Its output. */
    bootstrap: async (args: string) => {
      const { code, output } = await startCommand(folder, 'bootstrap', args.split(' '), env).ended;
      expect(code === 0 ? '' : output.slice(Math.max(0, output.indexOf('Error: ')))).toBe('');
      return output;
    },
  };
}

it.skipIf(endpoint === '')(
  'npm run bootstrap creates the bucket and the roles, and changes nothing when run again, also in a fresh clone (skipped without AWS_ENDPOINT_URL)',
  { timeout: 1_800_000 },
  async () => {
    const first = clone();
    // The account may have the identity provider from an earlier run.
    const created = await first.bootstrap(
      '--github octo/inquiries --github-ids 1/23 --existing-provider --domain release=api.example.com --yes',
    );
    expect(created).toContain(`# (imported from "${bucket}")`);
    expect(created).toContain(
      `release-plan  arn:aws:iam::${accountId}:role/terraform-bootstrap/${name}-release-plan-${region}`,
    );
    expect(
      JSON.parse(readFileSync(join(first.infra, 'bootstrap.auto.tfvars.json'), 'utf8')),
    ).toMatchObject({
      permissions_boundaries: {
        main: `arn:aws:iam::${accountId}:policy/terraform-bootstrap/${name}-main-boundary-${region}`,
      },
    });
    const s3 = new S3({ ...clientOf(endpoint), forcePathStyle: true });
    onTestFinished(() => s3.destroy());
    const versioning = await s3.getBucketVersioning({ Bucket: bucket });
    expect(versioning.Status).toBe('Enabled');
    await s3.headObject({ Bucket: bucket, Key: 'inquiries/bootstrap.tfstate' });

    for (const { bootstrap } of [first, clone(first.infra)]) {
      const again = await bootstrap('--yes');
      expect(again).toContain('No changes.');
      expect(again).not.toContain('terraform apply …');
    }

    const destroyed = await run(
      'terraform',
      ['destroy', '-no-color', '-auto-approve', `-var=bucket=${bucket}`],
      first,
    );
    expect([destroyed.code, destroyed.output]).toEqual([
      1,
      expect.stringContaining('Instance cannot be destroyed'),
    ]);

    // Everything exists, and nothing is in the state: the runbook's imports, and the same command.
    await s3.deleteObject({ Bucket: bucket, Key: 'inquiries/bootstrap.tfstate' });
    const lines = [...readImports('bootstrap')].filter(
      ([address]) => !/^aws_(iam_openid|budgets)/.test(address),
    );
    expect(lines).toHaveLength(6);
    for (const stage of STAGES) {
      for (const line of lines) {
        const [address, id] = line.map((text) =>
          text.replace('release', stage).replace('inquiries', name).replace('ACCOUNT', accountId),
        ) as [string, string];
        const args = ['import', '-no-color', `-var=bucket=${bucket}`, address, id];
        const { code, output } = await run('terraform', args, first);
        expect([address, code === 0 ? '' : output]).toEqual([address, '']);
      }
    }
    expect(await first.bootstrap('--yes')).toContain('\nDone. ');
  },
);
