/**
 * `npm run bootstrap` of a new service on an emulator of AWS (tests/infra/stages.apply.test.ts). No budget: moto's have no
 * subscribers.
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { S3 } from '@aws-sdk/client-s3';
import { SES } from '@aws-sdk/client-ses';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../../lib/terminal/run.ts';
import { STAGES } from '../../lib/aws/stages.ts';
import {
  clientOf,
  copyProject,
  emulatorEnv,
  endpoint,
  needsEmulator,
  startCommand,
} from './emulator-stages.ts';
import { readImports } from '../helpers/repository.ts';

const client = clientOf(endpoint);
const accountId = '123456789012';
/** One emulator serves several runs. */
const name = `bootstrap-${crypto.randomUUID().slice(0, 8)}`;
const bucket = `${name}-terraform-state-${accountId}-${client.region}`;
const SETTINGS = {
  name,
  github: {
    repository: 'octo/inquiries',
    owner_id: '1',
    repository_id: '23',
    existing_provider: true,
  },
  domains: { release: ['api.example.com'] },
  receives_mail: true,
};

/** A clone with the files that another one committed. */
function clone(committed?: string) {
  const folder = copyProject();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const infra = join(folder, 'infra/terraform');
  const cwd = join(infra, 'bootstrap');
  writeFileSync(join(cwd, 'settings.auto.tfvars.json'), JSON.stringify(SETTINGS));
  for (const file of globSync('{backend.s3.tfbackend,*.auto.tfvars.json}', { cwd: committed })) {
    if (committed !== undefined) cpSync(join(committed, file), join(infra, file));
  }
  const env = { ...emulatorEnv(endpoint), HOME: join(folder, 'home') };
  return {
    infra,
    terraform: (...args: string[]) => run('terraform', args, { cwd, env }),
    bootstrap: async () => {
      const { code, output } = await startCommand(folder, 'bootstrap', ['--yes'], env).ended;
      expect(code, `the output was: ${output}`).toBe(0);
      return output;
    },
  };
}

it(
  'npm run bootstrap creates bucket and roles; again, or in a fresh clone, it changes nothing',
  needsEmulator,
  async () => {
    const ses = new SES(client);
    // An active set of another service would refuse the next run.
    onTestFinished(async () => void (await ses.setActiveReceiptRuleSet({})));
    const first = clone();
    const created = await first.bootstrap();
    expect(created).toContain(`# (imported from "${bucket}")`);
    expect(created).toContain(
      `"release-plan" = "arn:aws:iam::${accountId}:role/terraform-bootstrap/${name}-release-plan-`,
    );
    expect(readFileSync(join(first.infra, 'bootstrap.auto.tfvars.json'), 'utf8')).toContain(
      `"main": "arn:aws:iam::${accountId}:policy/terraform-bootstrap/${name}-main-boundary-`,
    );
    const s3 = new S3({ ...client, forcePathStyle: true });
    onTestFinished(() => s3.destroy());
    expect((await ses.describeActiveReceiptRuleSet({})).Metadata?.Name).toBe(name);

    for (const { bootstrap } of [first, clone(first.infra)]) {
      const again = await bootstrap();
      expect(again).toContain('No changes.');
      expect(again).not.toContain('terraform apply …');
    }
    const options = ['-no-color', `-var=bucket=${bucket}`];
    const destroyed = await first.terraform('destroy', '-auto-approve', ...options);
    expect(destroyed.output).toContain('Instance cannot be destroyed');

    await s3.deleteObject({ Bucket: bucket, Key: 'inquiries/bootstrap.tfstate' });
    // The identity provider may be of an earlier run.
    const lines = [...readImports('bootstrap')].filter(
      ([address]) => !/^aws_(iam_openid|budgets)/.test(address),
    );
    expect(lines).toHaveLength(9);
    const imports = STAGES.flatMap((stage) =>
      lines.map(([address, id]) => {
        const text = id.replace('release', stage).replace('inquiries', name);
        return [address.replace('release', stage), text.replace('ACCOUNT', accountId)] as const;
      }),
    );
    // Stages share some resources, which are imported once.
    const blocks = [...new Map(imports)].map(([to, id]) => ({ to, id }));
    const file = join(first.infra, 'bootstrap/imports.tf.json');
    writeFileSync(file, JSON.stringify({ import: blocks }));
    const imported = `Plan: ${blocks.length + 1} to import, \\d+ to add, \\d+ to change, 0 to destroy.`;
    expect(await first.bootstrap()).toMatch(RegExp(`${imported}[^]*\nDone\\. `));
  },
);
