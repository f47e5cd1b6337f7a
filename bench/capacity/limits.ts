/** The documented limits of AWS, and what is assumed where it documents nothing. Read in November 2026. */

const DYNAMODB = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide';
const LAMBDA = 'https://docs.aws.amazon.com/lambda/latest/dg';

/** Write units a second of a partition of a table or an index. */
export const PARTITION_UNITS = 1_000;
/** Seconds in which demand may reach twice the previous peak. */
export const DOUBLING = 1_800;
/** Requests a second for each concurrent execution, and executions that a function may gain in ten seconds. */
export const REQUESTS_PER_EXECUTION = 10;
export const EXECUTIONS_IN_10_S = 1_000;
/** Requests that API Gateway lets through beyond its rate: a token bucket. */
export const GATEWAY_BURST = 5_000;

/** What refuses POSTs or delays mails: title and source. */
export const LIMITS = {
  gateway: ['API Gateway, rate', 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html'],
  invocations: ['Lambda, 10 × concurrency a second', `${LAMBDA}/lambda-concurrency.html`],
  executions: ['Lambda, concurrency', `${LAMBDA}/scaling-behavior.html`],
  tableGrowth: ['table, growth on demand', `${DYNAMODB}/on-demand-capacity-mode.html`],
  tableQuota: ['table, quota', `${DYNAMODB}/ServiceQuotas.html`],
  tablePartition: ['table, partition', `${DYNAMODB}/throttling-key-range-limit-exceeded-mitigation.html`],
  indexGrowth: ['index, growth on demand', `${DYNAMODB}/on-demand-capacity-mode.html`],
  indexQuota: ['index, quota', `${DYNAMODB}/ServiceQuotas.html`],
  indexPartition: ['index, partition', `${DYNAMODB}/gsi-throttling.html`],
  ses: ['SES, mails a second', 'https://docs.aws.amazon.com/ses/latest/dg/quotas.html'],
  sesDaily: ['SES, mails a day', 'https://docs.aws.amazon.com/ses/latest/dg/quotas.html'],
  mailer: ['mailer, mails of a shard', `${LAMBDA}/services-ddb-params.html`],
} as const;
export type LimitName = keyof typeof LIMITS;

/** Milliseconds of an invocation, of a throttled one in addition, and of the mailer for an inquiry without a mail. */
export const INVOCATION_MS = 50;
export const THROTTLED_MS = 750;
export const SILENT_MS = 20;
/** Mails an hour about one owner's inquiries: the default of `mails_per_hour`, and the one that says so. */
export const MAILS_PER_OWNER = 11;
/** Seconds: near its limit until a partition is split; until the event source mapping gives a record up. */
export const SPLIT_AFTER = 600;
export const RECORD_AGE = 6 * 3_600;

export const ASSUMPTIONS = [
  'Index entries cost as much in a transaction as otherwise. AWS documents the factor 2 for items only; measured on AWS: https://github.com/nubo-db/dynoxide/pull/188. DynamoDB Local counts 2 (--index-factor 2).',
  'A partition is split after 10 minutes near its limit (AWS: "several minutes"), one key with increasing sort keys never: https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/. Burst capacity does not raise the limit of a partition: https://repost.aws/knowledge-center/dynamodb-spiky-workloads-short-intervals.',
  'Table and index take at first what they are warmed for, from each half hour to the next twice their peak. A shard of the stream is a partition of the table. The writes of the mailer come before those of POSTs.',
  'A POST takes 50 ms (docs/operations.md), a throttled one 750 ms more, the delays of two retries: it holds its execution, and Lambda refuses others. Clients do not repeat. The stage sets no lower limits.',
  'SES documents its limits for the sandbox only (1 a second, 200 a day). 14 a second and 50,000 a day are what accounts report.',
  'An inquiry without a mail of its own takes the mailer 20 ms. How Lambda batches log lines is not documented: PutLogEvents (5,000 a second) is not simulated.',
  'The cost is that of POSTs, without free tiers, discounts for volume and the charge for warm throughput.',
];
