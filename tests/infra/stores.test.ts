/** The list of places in docs/privacy.md is complete. */
import { globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';

const INFRA = 'infra/terraform';
/** Beginnings of types that keep nothing. A type that is none of these is a place. */
const KEEPS_NOTHING =
  /^(terraform_data|aws_(acm|apigatewayv2|budgets|cloudfront|iam|lambda|route53|ses_|cloudwatch_(dashboard|event|log_delivery|log_metric_filter|metric_alarm)|cognito_user_pool_(client|domain)|managed_login_branding|s3_bucket_|sesv2_(email_identity|configuration_set_event)|sns_topic_|sqs_queue_))/;

const places = readText('docs/privacy.md').split('## Places')[1] ?? '';

const all = (pattern: string, regExp: RegExp): string[] =>
  globSync(pattern, { cwd: ROOT }).flatMap((file) => {
    const folder = relative(INFRA, dirname(file));
    const found = [...readText(file).matchAll(regExp)].map((match) => match.slice(1).join('.'));
    return found.map((name) => (file.startsWith(INFRA) ? join(folder, name) : name));
  });

it('every resource of Terraform that keeps something is in the list, and no other', () => {
  const resources = all(`${INFRA}/**/*.tf`, /^resource "(\w+)" "(\w+)"/gm);
  const stores = resources.filter((name) => !KEEPS_NOTHING.test(name.replace(/.*\//, '')));
  expect(stores.length).toBeGreaterThan(10);
  const listed = [...places.matchAll(/`((?:\w+\/)?aws_\w+\.\w+)`/g)].map(([, name]) => name);
  expect(new Set(listed)).toEqual(new Set(stores));
});

it.each([
  ['row', 'src/entities/*.ts', /entity: '(\w+)'/g],
  ['index', `${INFRA}/table.tf`, /global_secondary_index \{\s+name += "([\w-]+)"/g],
])('every kind of %s of the table is in the list', (_, pattern, regExp) => {
  const kinds = all(pattern, regExp);
  expect(kinds.length).toBeGreaterThan(0);
  expect(kinds.filter((kind) => !places.includes(`\`${kind}\``))).toEqual([]);
});
