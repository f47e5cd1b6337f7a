/**
 * Applies the Terraform module to an emulator of the AWS APIs, one workspace per stage, where AWS_ENDPOINT_URL names one:
 *
 *     docker run --rm -p 127.0.0.1:5000:5000 motoserver/moto:5.2.5
 *     AWS_ENDPOINT_URL=http://127.0.0.1:5000 npm run test:apply
 *
 * A pass means that the resources fit together, that they read back as written, but for what emulator-stages.ts
 * overrides, and that they can be changed and destroyed. It does not mean that AWS accepts every value: moto validates
 * little. It changes no throttling (UpdateStage), and no domain of an API becomes AVAILABLE: no stage has either.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { SES } from '@aws-sdk/client-ses';
import { SESv2 } from '@aws-sdk/client-sesv2';
import { afterAll, assert, beforeAll, describe, expect, it } from 'vitest';
import { providerSource } from '../../deploy/terraform.ts';
import type { Stage } from '../../lib/aws/stages.ts';
import {
  clientOf,
  createStages,
  endpoint,
  needsEmulator,
  type Stages,
} from '../deploy/emulator-stages.ts';
import { readImports } from '../helpers/repository.ts';
import { listResources, type Json } from './planned-module.ts';

const { region } = clientOf(endpoint);
const dynamodb = new DynamoDB(clientOf(endpoint));
let stages: Stages;

/** `ADDRESS ATTRIBUTE` for each attribute of an update, `ADDRESS ACTION` for another change. */
function describeChange({ address, change }: Json): string[] {
  const { actions, before, after, after_unknown: unknown } = change;
  if (/no-op|read/.test(actions.join())) return [];
  const changed = Object.keys(after ?? {}).filter(
    (key) => unknown[key] !== true && !isDeepStrictEqual(before?.[key], after[key]),
  );
  if (actions.join() !== 'update' || changed.length === 0) return [`${address} ${actions.join()}`];
  return changed.map((key) => `${address} ${key}`);
}
function open(stage: Stage) {
  const { name, folder, bucket: Bucket, s3 } = stages;
  let settings = {};
  stages.configure({ [stage]: settings });

  async function terraform(...args: string[]) {
    const { code, stdout, output } = await stages.terraform(stage, ...args);
    if (code !== 0) throw new Error(output);
    return stdout;
  }
  async function planChanges(): Promise<Json[]> {
    await terraform('plan', `-out=${stage}.plan`);
    return JSON.parse(await terraform('show', '-json', `${stage}.plan`)).resource_changes;
  }
  async function show() {
    const { values } = JSON.parse(await terraform('show', '-json'));
    return listResources(values.root_module);
  }
  const apply = () => terraform('apply', '-no-color', '-auto-approve');
  const plan = async () => (await planChanges()).flatMap(describeChange).toSorted();
  return {
    show,
    plan,
    change(more: object) {
      settings = { ...settings, ...more };
      stages.configure({ [stage]: settings });
    },
    apply,
    /** Applies, and expects that all reads back as written, except what the emulator forgets. */
    async applyWhole(forgotten = / never$/) {
      await apply();
      expect((await plan()).filter((entry) => !forgotten.test(entry))).toEqual([]);
    },
    /**
     * Loses the state, plans with the runbook's import blocks, and puts the state back.
     *
     * @returns What the blocks name, what is imported, and what would be replaced or destroyed.
     */
    async planImports() {
      const state = { Bucket, Key: `env:/${stage}/inquiries/terraform.tfstate` };
      const Body = await terraform('state', 'pull');
      const ids = new Map((await show()).map(({ address, values }) => [address, values.id]));
      const blocks = [...readImports('stages')]
        .filter(([address]) => !/aws_(sesv2_|cloudfront_response_)/.test(address))
        .map(([to, id]) => ({
          to,
          // The runbook looks up what is in capitals.
          id: /^[A-Z]+$/.test(id)
            ? (ids.get(to) ?? '')
            : id
                .replaceAll('inquiries', name)
                .replace('release', stage)
                .replace('ACCOUNT', '123456789012'),
        }));
      const file = join(folder, 'infra/terraform/imports.tf.json');
      await s3.deleteObject(state);
      writeFileSync(file, JSON.stringify({ import: blocks }));
      const changes = await planChanges();
      rmSync(file);
      await s3.putObject({ ...state, Body });
      const addresses = (some: readonly { address: string }[]) =>
        some.map(({ address }) => address).toSorted();
      return {
        named: blocks.map(({ to }) => to).toSorted(),
        imported: addresses(changes.filter(({ change }) => change.importing)),
        lost: addresses(changes.filter(({ change }) => change.actions.includes('delete'))),
      };
    },
    destroy: () => terraform('destroy', '-no-color', '-auto-approve'),
    async list() {
      const lines = (await terraform('state', 'list')).split('\n');
      return lines.filter((address) => address !== '' && !/(^|\.)data\./.test(address));
    },
  };
}

// One after the other: all stages share the folder of import blocks.
describe('terraform apply', needsEmulator, () => {
  beforeAll(async () => {
    stages = await createStages('apply', {});
    const options = ['-backend-config=backend.s3.tfbackend', ...providerSource()];
    const init = await stages.terraform('default', 'init', ...options);
    assert(init.code === 0, init.output);
    // Created with DKIM, an identity has a malformed date: stages name this one.
    const ses = new SESv2(clientOf(endpoint));
    await ses.createEmailIdentity({ EmailIdentity: 'example.com' }).catch(() => undefined);
    await new SES(clientOf(endpoint)).createReceiptRuleSet({ RuleSetName: stages.name });
  });
  afterAll(async () => {
    dynamodb.destroy();
    await stages.remove();
  });

  it('develop: a setting, a new package and a domain change what they concern, and nothing else', async () => {
    const { name } = stages;
    const { applyWhole, change, destroy, list, plan, show } = open('develop');
    await applyWhole();

    stages.change('inquiries.zip', '// another');
    change({ cors_origin: 'http://localhost:5173', site: true });
    expect(await plan()).toEqual([
      'aws_apigatewayv2_api.this cors_configuration',
      'module.function.aws_lambda_function.this environment',
      'module.function.aws_lambda_function.this source_code_hash',
      'module.function.terraform_data.live delete,create',
      'module.identity[0].aws_cognito_user_pool_client.this callback_urls',
      'module.identity[0].aws_cognito_user_pool_client.this logout_urls',
    ]);
    await applyWhole();

    const zone = `${name}-zone.example.com`;
    // The emulator reads the service from the credential scope.
    const scope = `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/route53/aws4_request`;
    await fetch(new URL('/2013-04-01/hostedzone', endpoint), {
      method: 'POST',
      headers: { authorization: `${scope}, SignedHeaders=host, Signature=0` },
      body: `<CreateHostedZoneRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Name>${zone}</Name><CallerReference>${zone}</CallerReference></CreateHostedZoneRequest>`,
    });
    change({ hosted_zone: zone, site_domain: { name: `contact.${zone}` } });
    // moto's UpdateHealthCheck forgets the regions.
    await applyWhole(/ regions$/);
    expect(await list()).toEqual(
      expect.arrayContaining([
        `aws_route53_record.address["contact.${zone} A"]`,
        `aws_route53_record.validation["contact.${zone}"]`,
      ]),
    );
    // Policies and costs tell stages apart by these, also in us-east-1.
    const tags = { service: name, stage: 'develop', managed_by: 'terraform' };
    const tagged = (await show()).filter(({ values }) => values.tags_all);
    expect(tagged.length).toBeGreaterThan(10);
    for (const { address, values } of tagged) {
      expect({ address, ...values.tags_all }).toMatchObject(tags);
    }

    await destroy();
    expect(await list()).toEqual([]);
  });

  it('develop: a team gets its page, and accounts come and go with their addresses', async () => {
    const { applyWhole, change, destroy, list, plan } = open('develop');
    const account = (name: string) => `module.team[0].aws_cognito_user.this["${name}@example.com"]`;
    const setTeam = (...names: string[]) =>
      change({ inbox: { team: names.map((name) => `${name}@example.com`) } });
    setTeam('ana', 'ben');
    await applyWhole();
    const accounts = async () =>
      (await list()).filter((address) => address.includes('aws_cognito_user.this'));
    expect(await accounts()).toEqual([account('ana'), account('ben')]);

    setTeam('ana', 'eve');
    expect(await plan()).toEqual([
      `${account('ben')} delete`,
      `${account('eve')} create`,
      'module.team[0].module.function.aws_lambda_function.this environment',
      'module.team[0].module.function.terraform_data.live delete,create',
    ]);
    await applyWhole();
    expect(await accounts()).toEqual([account('ana'), account('eve')]);

    change({ inbox: undefined });
    await applyWhole();
    expect((await list()).filter((address) => address.startsWith('module.team'))).toEqual([]);
    await destroy();
    expect(await list()).toEqual([]);
  });

  it('main: takes and gives up every optional setting in place, and is destroyed unprotected', async () => {
    const { apply, applyWhole, change, destroy, list, plan, planImports } = open('main');
    // It is set at first, since moto does not change the encryption of a table.
    change({
      table_kms_key_arn: `arn:aws:kms:${region}:111122223333:key/00000000-0000-0000-0000-000000000000`,
    });
    await applyWhole();

    const TableName = `${stages.name}-main`;
    const Key = { pk: { S: 'p' }, sk: { S: 's' } };
    const Item = { ...Key, body: { S: 'stored before' } };
    await dynamodb.putItem({ TableName, Item });
    const optional = {
      inbox: {
        to: 'team@example.com',
        from: 'inquiries@example.com',
        identity: 'example.com',
        mails_per_hour: 20,
        replies: { domain: 'reply.example.com', from: ['@example.com'], follow_ups: true },
      },
      log_retention_days: 365,
      alarm_email: 'oncall@example.com',
      reserved_concurrency: 10,
      pitr_days: 30,
      retention_days: 365,
    };
    change(optional);
    const changes = await plan();
    // A version is tested again, and nothing else is replaced.
    expect(changes.filter((entry) => /(?<!terraform_data\.live.*)delete/.test(entry))).toEqual([]);
    expect(changes.filter((entry) => entry.startsWith('aws_dynamodb_table.'))).toEqual([
      'aws_dynamodb_table.erasures point_in_time_recovery',
      'aws_dynamodb_table.this point_in_time_recovery',
      'aws_dynamodb_table.this stream_enabled',
      'aws_dynamodb_table.this stream_view_type',
    ]);
    await applyWhole();
    const complete = await list();
    expect(complete).toContain(
      'module.mailer[0].module.replies.aws_lambda_event_source_mapping.stream[0]',
    );

    await expect(destroy()).rejects.toThrow(
      'Stage main is protected: set deletion_protection_enabled = false and apply\nbefore you destroy it. Nothing was destroyed.',
    );
    expect(await list()).toEqual(complete);
    const { named, imported, lost } = await planImports();
    expect(imported.length).toBeGreaterThan(15);
    expect(imported).toEqual(named);
    // The permission names the API, which is made anew.
    expect(lost).toEqual(['module.function.aws_lambda_permission.this["gateway-get"]']);
    change(Object.fromEntries(Object.keys(optional).map((key) => [key, undefined])));
    const withoutMail = await plan();
    expect(withoutMail).toContain(
      'module.mailer[0].module.replies.aws_lambda_function.this delete',
    );
    const replaced = /^aws_dynamodb_table\b.*\b(create|delete)/;
    expect(withoutMail.filter((entry) => replaced.test(entry))).toEqual([]);
    // Once a mapping is gone, moto refuses writes to its table.
    change({ inbox: optional.inbox });
    await apply();
    expect(await dynamodb.getItem({ TableName, Key })).toMatchObject({ Item });

    change({ deletion_protection_enabled: false });
    expect(await plan()).toEqual([
      'aws_dynamodb_table.erasures deletion_protection_enabled',
      'aws_dynamodb_table.this deletion_protection_enabled',
      'module.identity[0].aws_cognito_user_pool.this deletion_protection',
      'terraform_data.guard input',
    ]);
    await apply();
    await destroy();
    expect(await list()).toEqual([]);
  });
});
