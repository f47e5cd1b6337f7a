/**
 * A model of the service under a steady load of POSTs of many owners, by half hours: the steps in which tables grow on
 * demand. The limits are those that AWS documents, read in November 2026: a limit's source stands beside it. Assumed is,
 * where AWS documents nothing:
 * - Clients do not repeat what is refused, and the stage sets no lower limits.
 * - Many owners load the partitions of the table alike. DynamoDB has split the index, so that each of its keys has a
 *   partition: it does so after several minutes near the limit, but never splits one key with increasing sort keys.
 *   https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/
 * - Index entries cost as much in a transaction as otherwise. AWS documents the factor 2 for items only, measured on AWS:
 *   https://github.com/nubo-db/dynoxide/pull/188. DynamoDB Local counts 2.
 */
import { createRequests, type Attributes } from '../src/entities/requests.ts';

/** Milliseconds of an invocation (docs/operations.md), and of a throttled one in addition: the delays of two retries. */
const INVOCATION_MS = 50;
const THROTTLED_MS = 750;

interface Quotas {
  /** Write units a second that table and index take at first, and at most. */
  warm: number;
  table: number;
  gateway: number;
  concurrency: number;
}

/** The quotas of a new account, and those that AWS has raised. */
export const MODELS = {
  default: { warm: 4_000, table: 40_000, gateway: 10_000, concurrency: 1_000 },
  raised: { warm: 80_000, table: 80_000, gateway: 20_000, concurrency: 2_000 },
} as const satisfies Record<string, Quotas>;

/** POSTs a second, and the share of them with an Idempotency-Key. */
export interface Load {
  rate: number;
  keyed: number;
}

/** Of the table and of the index. */
type Units = Record<'table' | 'index', number>;

interface Limit {
  title: string;
  /**
   * POSTs a second that it takes.
   *
   * @param units - Write units of a POST.
   * @param capacity - Write units that table and index take a second by now.
   */
  most(quotas: Quotas, units: Units, capacity: Units): number;
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const GATEWAY: Limit = { title: 'API Gateway, rate', most: ({ gateway }) => gateway };
/** https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html */
const INVOCATIONS: Limit = {
  title: 'Lambda, 10 × concurrency a second',
  most: ({ concurrency }) => 10 * concurrency,
};
/** https://docs.aws.amazon.com/lambda/latest/dg/scaling-behavior.html */
const EXECUTIONS: Limit = {
  title: 'Lambda, concurrency',
  most: ({ concurrency }) => (concurrency * 1_000) / INVOCATION_MS,
};
/**
 * Each of the 16 keys of the index has a partition of its own, which takes 1,000 write units a second.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html
 */
export const INDEX_PARTITIONS: Limit = {
  title: 'index, partitions',
  most: (_, units) => 16_000 / units.index,
};
/**
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html: from each half hour to
 * the next, twice the peak; and https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html.
 */
const STORAGE: Limit[] = [
  { title: 'table, quota', most: ({ table }, units) => table / units.table },
  { title: 'table, growth on demand', most: (_, units, { table }) => table / units.table },
  { title: 'index, growth on demand', most: (_, units, { index }) => index / units.index },
  INDEX_PARTITIONS,
];
export const LIMITS = [GATEWAY, INVOCATIONS, EXECUTIONS, ...STORAGE];

const bytesOf = (item: Attributes): number =>
  Object.entries(item).reduce(
    (sum, [name, { S, N }]) => sum + Buffer.byteLength(`${name}${S ?? N}`),
    0,
  );
const unitsOf = (item: Attributes): number => Math.ceil(bytesOf(item) / 1024);

/**
 * Write units and storage of a POST of 240 characters, from what the function sends.
 *
 * @param indexFactor - What a transaction multiplies the units of an index entry with.
 */
export function measurePost(keyed: number, indexFactor = 1) {
  const expires_at = 1_800_000_000;
  const owner = {
    cognito_sub: '11111111-2222-4333-8444-555555555555',
    email: 'alexandra.mustermann@example.com',
  };
  const inquiry = {
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    ...owner,
    subject: 'x'.repeat(40),
    body: 'x'.repeat(200),
    created_at: '2026-01-01T00:00:00.000Z',
    inbox: 'open-7',
  };
  const { putInquiry, storeInquiry } = createRequests('table');
  const { Item: item } = putInquiry({ inquiry: { ...inquiry, expires_at } });
  const ofKey = { key: 'k'.repeat(43), payload: 'p'.repeat(43), inquiry: inquiry.id };
  const { TransactItems: [{ Put: { Item: key = {} } = {} } = {}] = [] } = storeInquiry({
    inquiry,
    key: { ...owner, ...ofKey, expires_at, now: 0 },
  });
  const { subject: _, body: __, ...entry } = item;
  const plain = { table: unitsOf(item), index: unitsOf(entry) };
  const transaction = {
    table: 2 * (unitsOf(item) + unitsOf(key)),
    index: indexFactor * unitsOf(entry),
  };
  const mean = (part: keyof Units) => keyed * transaction[part] + (1 - keyed) * plain[part];
  return { plain, transaction, units: { table: mean('table'), index: mean('index') } };
}

export const startOf = ({ warm }: Quotas): Units => ({ table: warm, index: warm });

/** What becomes of each half hour's load, in POSTs a second. */
export function simulate({ rate, keyed }: Load, quotas: Quotas, halfHours: number) {
  const { units } = measurePost(keyed);
  let capacity = startOf(quotas);
  const takes = (limit: Limit): number => limit.most(quotas, units, capacity);
  return Array.from({ length: halfHours }, () => {
    const refused = new Map<Limit, number>();
    const pass = (offered: number, limit: Limit, most = takes(limit)): number => {
      if (offered > most) refused.set(limit, offered - most);
      return Math.min(offered, most);
    };
    const accepted = pass(rate, GATEWAY);
    const counted = pass(accepted, INVOCATIONS);
    const tightest = STORAGE.reduce((one, other) => (takes(other) < takes(one) ? other : one));
    // What is throttled is retried and holds its execution, which others then lack.
    const storable = Math.min(counted, takes(tightest));
    const throttled = quotas.concurrency * 1_000 + THROTTLED_MS * storable;
    const invoked = pass(counted, EXECUTIONS, throttled / (INVOCATION_MS + THROTTLED_MS));
    const stored = pass(invoked, tightest);
    const grow = (part: keyof Units): number =>
      Math.max(capacity[part], Math.min(quotas.table, 2 * stored * units[part]));
    capacity = { table: grow('table'), index: grow('index') };
    return { stored, refused };
  });
}
