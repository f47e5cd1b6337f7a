/**
 * The sums of docs/operations.md: prices of AWS's pages for us-east-1, in US dollars without free tiers (November 2026),
 * times what plans have and what tests measure.
 */
import { expect, it, vi } from 'vitest';
import { logRequest } from '../../src/log.ts';
import { logMail } from '../../mail/log.ts';
import { readText } from '../helpers/repository.ts';
import { ofType, readGolden, type Golden, type GoldenName } from './golden.ts';
import type { Json } from './planned-module.ts';

const MILLION = 1e6;
/** Seconds of a month of 30 days. */
const MONTH = 30 * 24 * 3_600;
const PRICES = {
  // aws.amazon.com/cloudwatch/pricing
  alarmMetric: 0.1,
  customMetric: 0.3,
  dashboard: 3,
  logsOfGb: 0.5,
  // aws.amazon.com/route53/pricing: basic, and HTTPS
  healthCheck: 0.5 + 1,
  healthCheckOutsideAws: 0.75 + 2,
  // aws.amazon.com/sqs/pricing
  queueRequests: 0.4 / MILLION,
  // aws.amazon.com/api-gateway/pricing
  gatewayRequests: 1 / MILLION,
  // aws.amazon.com/lambda/pricing, arm64
  invocations: 0.2 / MILLION,
  gbSeconds: 0.0000133334,
  // aws.amazon.com/dynamodb/pricing/on-demand
  writeUnits: 0.625 / MILLION,
  readUnits: 0.125 / MILLION,
  // aws.amazon.com/ec2/pricing/on-demand
  transferOfGb: 0.09,
  // AWS Price List of 22 July 2026, plan NONE
  mails: 0.1 / 1_000,
} as const;

const countAlarmMetrics = (plan: Golden, pattern: RegExp): number =>
  Object.entries(ofType(plan, 'aws_cloudwatch_metric_alarm'))
    .filter(([address]) => pattern.test(address))
    .flatMap(([, { metric_query: queries }]) => queries)
    .filter(({ metric }: Json) => metric).length;
const alarmsOf = (name: GoldenName, pattern: RegExp): number =>
  countAlarmMetrics(readGolden(name), pattern) * PRICES.alarmMetric;

/** Lambda polls a queue in five connections of 20 s (docs.aws.amazon.com/lambda/latest/dg/with-sqs.html). */
const queue = ((5 * MONTH) / 20) * PRICES.queueRequests;

/** The log filters', and what the functions write past the log. */
function countCustomMetrics(name: GoldenName) {
  const filters = Object.values(ofType(readGolden(name), 'aws_cloudwatch_log_metric_filter'));
  return new Set(filters.map(({ metric_transformation: [metric] }) => metric.name)).size;
}
function countWritten(write: () => void): number {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  write();
  const { _aws: metadata } = JSON.parse(String(written.mock.lastCall?.[0]));
  return metadata.CloudWatchMetrics[0].Metrics.length;
}

const ms = (milliseconds: number, mb: number) =>
  MILLION * (PRICES.invocations + (milliseconds / 1_000) * (mb / 1_024) * PRICES.gbSeconds);
const gb = (bytes: number) => (MILLION * bytes) / 1e9;
const inquiry = (gateway: number, writeUnits: number) =>
  MILLION * (gateway * PRICES.gatewayRequests + writeUnits * PRICES.writeUnits) +
  ms(50, 128) +
  gb(1_800) * PRICES.logsOfGb +
  gb(1_200) * PRICES.transferOfGb;

const usd = (value: number) => value.toFixed(2);
const operations = readText('docs/operations.md').replaceAll(/ {2,}/g, ' ');
const expectRow = (row: string, ...sums: number[]) =>
  expect(operations).toContain(`| ${[row, ...sums.map(usd)].join(' | ')} |`);

it('an idle stage costs what operations.md says', () => {
  const develop = alarmsOf('develop', /./);
  expect(develop).toBeLessThan(3);
  expectRow('`develop = {}`: alarms', develop);
  expect(ofType(readGolden('develop'), 'aws_cloudwatch_dashboard')).toEqual({});
  expectRow('`dashboard`', PRICES.dashboard);
  const checks = ofType(readGolden('release'), 'aws_route53_health_check');
  expect(Object.keys(checks)).toHaveLength(3);
  const healthChecks = 3 * (PRICES.healthCheck + PRICES.alarmMetric);
  const most = healthChecks + 2 * (PRICES.healthCheckOutsideAws - PRICES.healthCheck);
  expectRow('`health_checks` with a form', healthChecks);
  expect(operations).toContain(`${usd(most)} if Route 53 takes Cognito's hosts for others`);
  expectRow('`main = {}`, `release = {}`', develop + PRICES.dashboard + healthChecks);
  const mailer = alarmsOf('release', /"mailer-/) + queue;
  expectRow('`inbox`: alarms, and the polls of a queue', mailer);
  const replies = alarmsOf('every-setting', /"mailer-/) + 2 * queue - mailer;
  expectRow('`inbox.replies`: the same', replies);
  expectRow('`inbox.team`: alarms', alarmsOf('every-setting', /"inbox-/));
});

it('a month with requests or mails costs what operations.md says', () => {
  vi.spyOn(console, 'info').mockReturnValue();
  const line = { requestId: '1', functionName: 'f' };
  const ofRequests = countWritten(() =>
    logRequest({ ...line, method: 'GET', milliseconds: 1, attempts: 0, status: 200 }),
  );
  const ofMails = countWritten(() =>
    logMail({ ...line, inquiry: undefined, mail: 'reply', outcome: 'sent' }),
  );
  const filters = countCustomMetrics('develop');
  expectRow('Custom metrics, with requests', (filters + ofRequests) * PRICES.customMetric);
  const mailFilters = countCustomMetrics('release') - filters;
  expectRow(
    'Custom metrics, with `inbox` and mails',
    (mailFilters + 2 * ofMails) * PRICES.customMetric,
  );
  expectRow('… and with `replies`', ofMails * PRICES.customMetric);
});

it('a million costs what operations.md says', () => {
  // The units are measured in tests/function/capacity.test.ts.
  expectRow('POSTs of a client without a key', inquiry(1, 2));
  expectRow('**POSTs of the form**: a key and a preflight', inquiry(2, 5));
  expectRow('… with `inquiries_per_hour`', inquiry(2, 7) + MILLION * 0.5 * PRICES.readUnits);
  const list =
    MILLION * (PRICES.gatewayRequests + 3 * PRICES.readUnits) +
    ms(50, 128) +
    gb(1_800) * PRICES.logsOfGb +
    gb(11_000) * PRICES.transferOfGb;
  expectRow('GETs of ten inquiries of 1 KB', list);
  // The 300 ms of an invocation are an estimate.
  const records = MILLION * (4 * PRICES.writeUnits + 4 * PRICES.readUnits);
  const mail = MILLION * PRICES.mails + ms(300, 256) + records + gb(1_500) * PRICES.logsOfGb;
  expectRow('Mails of 10 KB: SES, the mailer, its rows, its log', mail);
  expectRow("Operators' answers", MILLION * 4 * PRICES.writeUnits);
  expectRow(
    "Pages of the inbox's list: 16 queries, 50 rows",
    MILLION * (8 + 25) * PRICES.readUnits,
  );
});

it('the README has the sums of operations.md', () => {
  const sumOf = (row: string) => operations.split(`| ${row} | `)[1]?.split(' |', 1)[0];
  const sums = [
    '`develop = {}`: alarms',
    '`main = {}`, `release = {}`',
    '**POSTs of the form**: a key and a preflight',
  ].map(sumOf);
  const [, ...named] =
    /develop` costs ([\d.]+) USD a month, an idle `release` ([\d.]+), a million inquiries of the form ([\d.]+) /.exec(
      readText('README.md').replaceAll('\n', ' '),
    ) ?? [];
  expect(named).toEqual(sums);
});
