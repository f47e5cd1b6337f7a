/** `npm run bootstrap` of a service with a name of its own on an emulator of the AWS APIs; see stages.apply.test.ts. */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
const SETTINGS = {
  name,
  github: {
    repository: 'octo/inquiries',
    owner_id: '1',
    repository_id: '23',
    existing_provider: true,
  },
  domains: { release: ['api.example.com'] },
};

/** A clone of this repository, with the files that were committed in another one. */
function clone(committed?: string) {
  const folder = copyProject('infra/terraform/bootstrap');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const infra = join(folder, 'infra/terraform');
  const settings = join(infra, 'bootstrap/settings.auto.tfvars.json');
  writeFileSync(settings, JSON.stringify(SETTINGS));
  for (const file of globSync('{backend.s3.tfbackend,*.auto.tfvars.json}', { cwd: committed })) {
    if (committed !== undefined) cpSync(join(committed, file), join(infra, file));
  }
  const cwd = join(infra, 'bootstrap');
  const main = join(cwd, 'main.tf');
  const module = readFileSync(main, 'utf8').replace(
    /^resource "aws_s3_bucket_(lifecycle_configuration|policy)" .*?^\}\n/gms,
    '',
  );
  writeFileSync(main, module);
  const env = { ...emulatorEnv(endpoint), HOME: join(folder, 'home') };
  return {
    infra,
    terraform: (...args: string[]) => run('terraform', args, { cwd, env }),
    /** Runs the command, which must succeed. @returns Its output. */
    bootstrap: async () => {
      const { code, output } = await startCommand(folder, 'bootstrap', ['--yes'], env).ended;
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
    const created = await first.bootstrap();
    expect(created).toContain(`# (imported from "${bucket}")`);
    expect(created).toContain(
      `"release-plan" = "arn:aws:iam::${accountId}:role/terraform-bootstrap/${name}-release-plan-${region}`,
    );
    const boundaries = readFileSync(join(first.infra, 'bootstrap.auto.tfvars.json'), 'utf8');
    expect(JSON.parse(boundaries)).toMatchObject({
      permissions_boundaries: {
        main: `arn:aws:iam::${accountId}:policy/terraform-bootstrap/${name}-main-boundary-${region}`,
      },
    });
    const s3 = new S3({ ...clientOf(endpoint), forcePathStyle: true });
    onTestFinished(() => s3.destroy());
    const state = { Bucket: bucket, Key: 'inquiries/bootstrap.tfstate' };
    expect((await s3.getBucketVersioning(state)).Status).toBe('Enabled');
    await s3.headObject(state);

    for (const { bootstrap } of [first, clone(first.infra)]) {
      const again = await bootstrap();
      expect(again).toContain('No changes.');
      expect(again).not.toContain('terraform apply …');
    }

    const destroyed = await first.terraform(
      'destroy',
      '-no-color',
      '-auto-approve',
      `-var=bucket=${bucket}`,
    );
    expect(destroyed.output).toContain('Instance cannot be destroyed');

    // Everything exists, and nothing is in the state: the runbook's imports, and the same command.
    await s3.deleteObject(state);
    const lines = [...readImports('bootstrap')].filter(
      ([address]) => !/^aws_(iam_openid|budgets)/.test(address),
    );
    expect(lines).toHaveLength(6);
    for (const stage of STAGES) {
      for (const line of lines) {
        const [address = '', id = ''] = line.map((text) =>
          text.replace('release', stage).replace('inquiries', name).replace('ACCOUNT', accountId),
        );
        const args = ['import', '-no-color', `-var=bucket=${bucket}`, address, id];
        const { code, output } = await first.terraform(...args);
        expect([address, code === 0 ? '' : output]).toEqual([address, '']);
      }
    }
    expect(await first.bootstrap()).toContain('\nDone. ');
  },
);
