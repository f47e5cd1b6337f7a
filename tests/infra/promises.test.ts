/** What a change of the infrastructure must not break, whatever golden file is accepted. */
import { globSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { createDeliveryEntity, createQuotaEntity } from '../../src/entities/delivery.ts';
import { createRateEntity } from '../../src/entities/rate.ts';
import { createReplyKeyEntity } from '../../src/entities/reply-keys.ts';
import { unparsableJson } from '../../src/errors.ts';
import { logRequest } from '../../src/log.ts';
import { logMail } from '../../mail/log.ts';
import { createOwnStore } from '../helpers/engines.ts';
import { EMAIL, INQUIRY, makeCall, SUB } from '../helpers/events.ts';
import { readText } from '../helpers/repository.ts';
import { FILES, ofType, readGolden } from './golden.ts';
import { idOf, type Json } from './planned-module.ts';
import { recordRequests } from './recorded-requests.ts';

const statementsOf = ({ policy }: Json): Json[] => policy.Statement;
/** The pattern of an entity's keys. */
const keysOf = ({ Key }: { Key: { pk: string } }) => Key.pk;

describe('the infrastructure', () => {
  it.each(FILES)('%s has private buckets, TLS, JWTs, and roles of single actions', (name) => {
    const plan = readGolden(name);
    // CKV_AWS_53 to 56, AVD-AWS-0086, AVD-AWS-0087
    const blocked = Object.values(ofType(plan, 'aws_s3_bucket_public_access_block'));
    expect(blocked).toHaveLength(Object.keys(ofType(plan, 'aws_s3_bucket')).length);
    for (const blocks of blocked) {
      expect(blocks).toMatchObject({
        block_public_acls: true,
        block_public_policy: true,
        ignore_public_acls: true,
        restrict_public_buckets: true,
      });
    }
    // CKV_AWS_70, CKV_AWS_72, CKV_AWS_168, AVD-AWS-0097
    for (const type of ['aws_s3_bucket_policy', 'aws_sqs_queue_policy', 'aws_sns_topic_policy']) {
      for (const each of Object.values(ofType(plan, type))) {
        const statements = statementsOf(each);
        for (const { Effect, Principal, Condition } of statements) {
          if (Effect !== 'Allow') continue;
          expect([Object.keys(Principal), Condition]).toEqual([['Service'], expect.anything()]);
        }
        if (type === 'aws_sns_topic_policy') continue;
        expect(statements).toContainEqual(
          expect.objectContaining({
            Effect: 'Deny',
            Principal: '*',
            Action: expect.stringMatching(/^(s3|sqs):\*$/),
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        );
      }
    }
    // CKV_AWS_301, CKV_AWS_309, AVD-AWS-0004
    const open = Object.entries(ofType(plan, 'aws_apigatewayv2_route'))
      .filter(([, route]) => route.authorization_type !== 'JWT')
      .map(([address]) => address);
    // The pages of the inbox sign in themselves (docs/adr/0082).
    expect(open.filter((address) => address !== 'module.team[0].this')).toEqual([]);
    if (name.startsWith('bootstrap')) return;
    // CKV_AWS_274, CKV2_AWS_56, CKV_AWS_258, CKV2_AWS_75
    const addresses = Object.keys(plan.resources).join(' ');
    expect(addresses).not.toMatch(/policy_attachment|managed_policy|function_url/);
    // CKV_AWS_60 to 63, CKV_AWS_286 to 290, CKV_AWS_355, CKV2_AWS_40, AVD-AWS-0057, AVD-AWS-0342, AVD-AWS-0345
    const statements = Object.values(ofType(plan, 'aws_iam_role_policy')).flatMap(statementsOf);
    expect(statements.length).toBeGreaterThan(1);
    const actions = statements.flatMap(({ Action }) => Action);
    expect(actions.filter((action: string) => action.includes('*'))).toEqual([]);
    // X-Ray has no resource types here.
    const everywhere = statements.filter(({ Resource }) => [Resource].flat().includes('*'));
    expect(everywhere.filter(({ Sid }) => Sid !== 'Traces')).toEqual([]);
  });

  it.each([
    ['develop', false, 'INACTIVE'],
    ['release', true, 'ACTIVE'],
  ] as const)('%s keeps backups for 35 days and logs for 30; protected: %s', (name, ...kept) => {
    const [isProtected, pool] = kept;
    const plan = readGolden(name);
    const expected = {
      // CKV_AWS_28, AVD-AWS-0024
      aws_dynamodb_table: {
        deletion_protection_enabled: isProtected,
        point_in_time_recovery: [{ enabled: true, recovery_period_in_days: 35 }],
      },
      aws_cognito_user_pool: { deletion_protection: pool },
      // CKV_AWS_66
      aws_cloudwatch_log_group: { retention_in_days: 30 },
    };
    for (const [type, values] of Object.entries(expected)) {
      const resources = Object.values(ofType(plan, type));
      expect(resources).not.toEqual([]);
      for (const resource of resources) expect(resource).toMatchObject(values);
    }
  });

  it('the API’s role may do what its function requests, in the partitions of its entities', async () => {
    const roles = ofType(readGolden('every-setting'), 'aws_iam_role_policy');
    const statements = statementsOf(roles['module.function.this']).filter(
      ({ Sid }) => !['Logs', 'Traces'].includes(Sid),
    );
    const { store, storeClient } = await createOwnStore();
    const sent = recordRequests(storeClient);
    await store.put(INQUIRY, makeCall());
    await Array.fromAsync(store.list({ sub: SUB, email: EMAIL }, {}, makeCall()));
    // dynalite refuses transactions, after this one was recorded.
    await Promise.allSettled([
      store.put(INQUIRY, makeCall(), { key: 'k', limit: { most: 1, time: 0 } }),
    ]);
    expect(new Set(sent.map(([action]) => action))).toEqual(
      new Set(statements.flatMap(({ Action }) => Action)),
    );
    const rates = keysOf(createRateEntity('t').get({ owner_hour: '*' }).params());
    for (const { Action, Condition } of statements) {
      if (!Action.includes('dynamodb:UpdateItem')) continue;
      expect(Object.values(Condition)).toContainEqual({ 'dynamodb:LeadingKeys': [rates] });
    }
    const records = statementsOf(roles['module.mailer[0].module.inquiries.this']).find(
      ({ Sid }) => Sid === 'Records',
    );
    expect(records.Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys']).toEqual([
      keysOf(createDeliveryEntity('t').get({ inquiry: '*', mail: 'reply' }).params()),
      keysOf(createQuotaEntity('t').get({ quota: '*' }).params()),
      keysOf(createReplyKeyEntity('t').get({ month: '*' }).params()),
    ]);
  });

  it('reads a stream or queue once for a function: Lambda refuses a second mapping', () => {
    // Lambda refuses it whatever the filters are (mailer/main.tf).
    const mappings = Object.values(
      ofType(readGolden('every-setting'), 'aws_lambda_event_source_mapping'),
    );
    const pairs = mappings.map((each) => `${each.event_source_arn} ${each.function_name}`);
    expect(pairs).toHaveLength(4);
    expect(new Set(pairs).size).toBe(pairs.length);
  });

  it('repeats events of SES for a day, and stores them for longer', () => {
    const queues = Object.entries(ofType(readGolden('every-setting'), 'aws_sqs_queue'));
    const events = queues.filter(([, { name }]) => name.endsWith('-events'));
    expect(events).toHaveLength(2);
    for (const [, queue] of events) {
      const day = queue.visibility_timeout_seconds * queue.redrive_policy.maxReceiveCount;
      expect(day).toBe(24 * 60 * 60);
      expect(queue.message_retention_seconds).toBeGreaterThan(day);
    }
  });

  it('each alarm has a section of the runbook, and those of release watch what exists', () => {
    const plan = readGolden('release');
    const alarms = Object.values(ofType(plan, 'aws_cloudwatch_metric_alarm'));
    const headings = readText('docs/runbook.md').matchAll(/^### `(.*)`$/gm);
    expect(
      new Set(
        [alarms, Object.values(ofType(readGolden('every-setting'), 'aws_cloudwatch_metric_alarm'))]
          .flat()
          .map((each) => each.alarm_name),
      ),
    ).toEqual(new Set(Array.from(headings, ([, heading]) => `inquiries-STAGE-${heading}`)));
    const made = JSON.stringify(
      Object.entries(plan.resources).flatMap(([address, values]) =>
        address.includes('alarms') ? [] : [idOf(address), values],
      ),
    );
    const dimensions = alarms
      .flatMap(({ metric_query: queries }) => queries)
      .flatMap(({ metric }: Json) => Object.entries(metric?.[0]?.dimensions ?? {}))
      .filter(([key]) => key !== 'Operation');
    expect(dimensions.length).toBeGreaterThan(20);
    expect(dimensions.filter(([, value]) => !made.includes(JSON.stringify(value)))).toEqual([]);
  });

  it('alarms and filters read what the functions write', () => {
    const plan = readGolden('release');
    const filters = Object.values(ofType(plan, 'aws_cloudwatch_log_metric_filter'));
    const patterns = filters.map(({ pattern }) => pattern).join('\n');
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const failed = vi.spyOn(console, 'error').mockReturnValue();
    const line = { requestId: '1', functionName: 'f' };
    const request = { ...line, method: 'POST', milliseconds: 1, attempts: 0 };
    logRequest({ ...request, status: 500, error: unparsableJson(undefined) });
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status: 500 }));
    expect(patterns).toContain('{ $.level = "WARN" && $.message.status = 500 }');
    for (const outcome of ['refused', 'no-address', 'undelivered'] as const) {
      logMail({ ...line, inquiry: undefined, mail: 'reply', outcome });
      expect(failed).toHaveBeenLastCalledWith(expect.objectContaining({ outcome }));
      expect(patterns).toContain(`$.message.outcome = "${outcome}"`);
    }
    const written = write.mock.calls.join('\n');
    expect(written).toContain('"Namespace":"Inquiries","Dimensions":[["FunctionName"]]');
    for (const name of ['Faults', 'MailFailures']) {
      expect(JSON.stringify(plan.resources)).toContain(
        `"metric_name":"${name}","namespace":"Inquiries"`,
      );
      expect(written).toContain(`"${name}":`);
    }
  });

  it('a protected stage refuses to be destroyed before anything of it goes', () => {
    const [, guarded = ''] =
      /depends_on = \[(.*?)\]/s.exec(readText('infra/terraform/guard.tf')) ?? [];
    const files = globSync('infra/terraform/*.tf', { cwd: ROOT }).map(readText).join('\n');
    const modules = Array.from(files.matchAll(/^module "(\w+)"/gm), ([, name]) => `module.${name}`);
    expect(modules.length).toBeGreaterThan(5);
    expect(modules.filter((name) => !guarded.includes(`${name},`))).toEqual([]);
  });

  it('keeps what no plan shows: lifecycles, provisioners, backends, versions', () => {
    const files = globSync('infra/terraform/**/*.tf', { cwd: ROOT, exclude: ['**/tests/**'] });
    const blocks = files.toSorted().flatMap((file) => {
      const source = readText(file).replaceAll(/^ *#.*\n/gm, '');
      const ofResources = [
        ...source.matchAll(/^resource "(\w+)" "(\w+)" \{\n([^]*?)^\}/gm),
      ].flatMap(([, type, name, body = '']) =>
        Array.from(
          body.matchAll(/^ {2}(?:lifecycle|provisioner "[\w-]+") \{(?:.*\}$|[^]*?^ {2}\})/gm),
          ([block]) => `${type}.${name}\n${block}`,
        ),
      );
      const ofModule = file.endsWith('versions.tf')
        ? (source.match(/^(?:terraform|provider "aws") \{\n[^]*?^\}/gm) ?? [])
        : [];
      return [...ofResources, ...ofModule].map((block) => `${file}: ${block}`);
    });
    expect(blocks.join('\n')).toMatchSnapshot();
  });
});
