/**
 * A model of the service under POSTs, in steps of a second: gateway, Lambda, table and index with their partitions, stream,
 * mailer and SES. Requests are a flow, not single events; arrivals and the places of keys are random, from a seed. The
 * limits are those that AWS documents, read in November 2026.
 */
import { createRequests, type Attributes } from '../src/entities/requests.ts';
import { CONCURRENCY } from '../src/mailer/concurrency.ts';

const DYNAMODB = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide';
const LAMBDA = 'https://docs.aws.amazon.com/lambda/latest/dg';

/** What refuses POSTs or delays mails: title and source. */
export const LIMITS = {
  gateway: [
    'API Gateway, rate',
    'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html',
  ],
  invocations: ['Lambda, 10 × concurrency a second', `${LAMBDA}/lambda-concurrency.html`],
  executions: ['Lambda, concurrency', `${LAMBDA}/scaling-behavior.html`],
  tableGrowth: ['table, growth on demand', `${DYNAMODB}/on-demand-capacity-mode.html`],
  tableQuota: ['table, quota', `${DYNAMODB}/ServiceQuotas.html`],
  tablePartition: [
    'table, partition',
    `${DYNAMODB}/throttling-key-range-limit-exceeded-mitigation.html`,
  ],
  indexGrowth: ['index, growth on demand', `${DYNAMODB}/on-demand-capacity-mode.html`],
  indexQuota: ['index, quota', `${DYNAMODB}/ServiceQuotas.html`],
  indexPartition: ['index, partition', `${DYNAMODB}/gsi-throttling.html`],
  ses: ['SES, mails a second', 'https://docs.aws.amazon.com/ses/latest/dg/quotas.html'],
  sesDaily: ['SES, mails a day', 'https://docs.aws.amazon.com/ses/latest/dg/quotas.html'],
  mailer: ['mailer, mails of a shard', `${LAMBDA}/services-ddb-params.html`],
} as const;
export type LimitName = keyof typeof LIMITS;

/** Write units a second of a partition, and seconds near that limit until one is split. */
const PARTITION_UNITS = 1_000;
const SPLIT_AFTER = 600;
/** Seconds in which demand may reach twice the previous peak. */
const DOUBLING = 1_800;
/** Requests a second for each concurrent execution, and executions that a function may gain in ten seconds. */
const REQUESTS_PER_EXECUTION = 10;
const EXECUTIONS_IN_10_S = 1_000;
/** Requests that API Gateway lets through beyond its rate: a token bucket. */
const GATEWAY_BURST = 5_000;
/** Milliseconds of an invocation, of a throttled one in addition, and of the mailer for an inquiry without a mail. */
const [INVOCATION_MS, THROTTLED_MS, SILENT_MS] = [50, 750, 20];
/** Mails an hour about one owner's inquiries: the default of `mails_per_hour`, and the one that says so. */
const MAILS_PER_OWNER = 11;
/** Seconds until the event source mapping gives a record up. */
const RECORD_AGE = 6 * 3_600;

/** Default, least, most, meaning of each option. Numbers whose default is a whole number of at least 1 are whole. */
export const NUMBERS = {
  rate: [10_000, 1, 1e6, 'POSTs a second'],
  keyed: [0.9, 0, 1, 'share of them with an Idempotency-Key'],
  owners: [100_000, 2, 1e6, 'owners who send them'],
  flood: [0, 0, 1, 'share of all POSTs that one owner sends'],
  hours: [24, 1, 24, 'simulated time'],
  seed: [1, 1, 2 ** 31 - 2, 'of arrivals and of the places of keys'],
  warm: [4_000, 4_000, 1e6, 'write units a second that table and index take at first'],
  indexKeys: [16, 1, 4_096, 'partition keys of the index'],
  indexFactor: [1, 1, 2, 'what a transaction multiplies the units of index entries with'],
  tableQuota: [40_000, 4_000, 1e6, 'write units a second of the table, and of the index'],
  gateway: [10_000, 1, 1e6, "requests a second of the account's gateway"],
  concurrency: [1_000, 1, 1e5, 'concurrent executions of the account'],
  sesRate: [14, 1, 1e5, 'mails a second'],
  sesDaily: [50_000, 1, 1e9, 'mails a day'],
  mailMs: [300, 1, 20_000, 'milliseconds of a mail'],
  parallelization: [1, 1, 10, 'batches of a shard at a time'],
  stageMails: [100, 1, 1e6, 'mails an hour about inquiries, the rest in digests'],
  digestMinutes: [5, 1, 60, 'minutes between digests'],
  mailerUnits: [1, 0, 100, 'write units of the mailer for an inquiry; 0: a stage without mail'],
} as const;
export type Scenario = { readonly [Name in keyof typeof NUMBERS]: number };
type Model = readonly [differs: Partial<Scenario>, title: string, colour: string];

/** The service with the quotas of a new account, and with quotas that AWS has raised. */
export const MODELS: Readonly<Record<string, Model>> = {
  default: [{}, 'default quotas', '#1a56a6'],
  raised: [
    { warm: 8e4, tableQuota: 8e4, gateway: 2e4, concurrency: 2_000 },
    'raised quotas',
    '#1b7a3d',
  ],
};

/** The numbers of a model, with those that are given. */
export function createScenario(model: string, given: Partial<Scenario> = {}): Scenario {
  const defaults = Object.entries(NUMBERS).map(([name, [value]]) => [name, value]);
  return { ...(Object.fromEntries(defaults) as Scenario), ...MODELS[model]?.[0], ...given };
}

const bytesOf = (item: Attributes): number =>
  Object.entries(item).reduce(
    (sum, [name, { S, N }]) => sum + Buffer.byteLength(`${name}${S ?? N}`),
    0,
  );
const unitsOf = (item: Attributes): number => Math.ceil(bytesOf(item) / 1024);

/** Write units and storage of a POST of 240 characters, from what the function sends. */
export function measurePost({ keyed, indexFactor }: Pick<Scenario, 'keyed' | 'indexFactor'>) {
  const expires_at = 1_800_000_000;
  const inquiry = {
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    cognito_sub: '11111111-2222-4333-8444-555555555555',
    email: 'alexandra.mustermann@example.com',
    subject: 'x'.repeat(40),
    body: 'x'.repeat(200),
    created_at: '2026-01-01T00:00:00.000Z',
  };
  const { putInquiry, storeInquiry } = createRequests('table');
  const { Item: item } = putInquiry({ inquiry: { ...inquiry, expires_at } });
  const { TransactItems: [{ Put: { Item: key = {} } = {} } = {}] = [] } = storeInquiry({
    inquiry,
    key: {
      cognito_sub: inquiry.cognito_sub,
      email: inquiry.email,
      key: 'k'.repeat(43),
      payload: 'p'.repeat(43),
      inquiry: inquiry.id,
      expires_at,
      now: 0,
    },
  });
  const { subject: _, body: __, ...entry } = item;
  const plain = { table: unitsOf(item), index: unitsOf(entry) };
  const transaction = {
    table: 2 * (unitsOf(item) + unitsOf(key)),
    index: indexFactor * unitsOf(entry),
  };
  const mean = (part: 'table' | 'index') => keyed * transaction[part] + (1 - keyed) * plain[part];
  // US dollars a month. DynamoDB adds 100 bytes to each; the row of a key lasts a day, and backups have no index.
  const stored = bytesOf(item) + 100 + (keyed * (bytesOf(key) + 100)) / 30;
  const storage = (stored * 0.45 + (bytesOf(entry) + 100) * 0.25) / 1e9;
  return { plain, transaction, table: mean('table'), index: mean('index'), storage };
}

/** A table or an index: its keys by hash, its partitions, and the write units that it takes, `units` for each request. */
function createResource(
  name: 'table' | 'index',
  units: number,
  scenario: Scenario,
  random: () => number,
) {
  const { warm, tableQuota, owners, indexKeys } = scenario;
  const [keys, flood] = name === 'table' ? [owners, scenario.flood] : [indexKeys, 0];
  const hashes = Float64Array.from({ length: keys }, random).toSorted();
  const hot = Math.floor(random() * keys);
  /** The share of the load of the first keys. */
  const shareOf = (count: number) => ((1 - flood) * count) / keys + (count > hot ? flood : 0);
  const toPartition = (low: number, high: number, from: number, to: number) => {
    return { low, high, from, to, share: shareOf(to) - shareOf(from), heat: 0 };
  };
  type Partition = ReturnType<typeof toPartition>;
  const splitAt = (at: number, { low, high, from, to }: Partition): Partition[] => {
    let key = from;
    while (key < to && (hashes[key] ?? 1) < at) key++;
    return [toPartition(low, at, from, key), toPartition(at, high, key, to)];
  };
  /** A partition near its limit is split by its load, unless it has one key. */
  const splitByHeat = (one: Partition): Partition[] => {
    if (one.heat < SPLIT_AFTER || one.to - one.from < 2) return [one];
    let key = one.from + 1;
    while (key < one.to - 1 && shareOf(key) - shareOf(one.from) < one.share / 2) key++;
    return splitAt(hashes[key] ?? 1, one);
  };

  let partitions = [toPartition(0, 1, 0, keys)];
  let [capacity, mean, peak] = [0, 0, 0];
  const grow = (to: number) => {
    capacity = Math.max(capacity, Math.min(tableQuota, to));
    while (partitions.length * PARTITION_UNITS < capacity) {
      partitions = partitions.flatMap((one) => splitAt((one.low + one.high) / 2, one));
    }
  };
  grow(warm);

  return {
    countPartitions: () => partitions.length,
    /** How many requests pass, those of the flooding owner among them; and how many the tightest limit alone would let pass. */
    offer(requests: number, used = 0) {
      const most = PARTITION_UNITS / units;
      const free = Math.min(requests, Math.max(0, capacity - used) / units);
      let [passed, hotPassed, even] = [0, 0, 0];
      for (const { share, from, to } of partitions) {
        const ok = Math.min(free * share, most);
        passed += ok;
        even += Math.min(requests * share, most);
        if (flood > 0 && from <= hot && hot < to) hotPassed = (ok * flood) / share;
      }
      const limit = even < free ? 'Partition' : capacity < tableQuota ? 'Growth' : 'Quota';
      return { passed, hotPassed, alone: Math.min(even, free), limit: `${name}${limit}` as const };
    },
    /** Ends a second, after which partitions near their limit may be split, and after half an hour the resource grows. */
    endSecond(second: number, requests: number, consumed: number) {
      const load = Math.min(requests * units, capacity);
      for (const one of partitions) {
        one.heat = load * one.share > 0.9 * PARTITION_UNITS ? one.heat + 1 : 0;
      }
      if (second % 60 === 59) partitions = partitions.flatMap(splitByHeat);
      mean += (consumed - mean) / Math.min(second + 1, 60);
      peak = Math.max(peak, mean);
      if ((second + 1) % DOUBLING === 0) grow(2 * peak);
    },
  };
}

/** The stream and the mailer. Its records are spread evenly over the shards. */
function createMailer(scenario: Scenario) {
  const { stageMails, mailMs, sesRate, sesDaily, mailerUnits } = scenario;
  const totals = { mailed: 0, digested: 0, digests: 0 };
  /** For each second, the mails and the inquiries without a mail of their own that are not finished. */
  const records: { readonly second: number; mails: number; silent: number }[] = [];
  let [head, pending, mailedBefore, inquiries] = [0, 0, 0, 0];
  const due = (count: number) => Math.min(count, MAILS_PER_OWNER * scenario.owners);

  return {
    totals,
    /** @param flood - How many of the stored inquiries are of the flooding owner. @returns Consumed units, and the oldest record's age and cause. */
    work(second: number, shards: number, stored: number, flood: number) {
      if (second % 3_600 === 0) [mailedBefore, inquiries] = [totals.mailed, 0];
      const mails = due(inquiries + stored - flood) - due(inquiries);
      inquiries += stored - flood;
      records.push({ second, mails, silent: stored - mails });
      let [time, rate, units] = [
        shards * scenario.parallelization * CONCURRENCY * 1_000,
        sesRate,
        0,
      ];
      for (let record = records[head]; record !== undefined; record = records[++head]) {
        if (second - record.second > RECORD_AGE) {
          pending += record.mails + record.silent;
          [record.mails, record.silent] = [0, 0];
        }
        const left = stageMails - (totals.mailed - mailedBefore);
        const sent = Math.min(record.mails, time / mailMs, rate, sesDaily - totals.mailed, left);
        record.mails -= sent;
        if (sent === left) [record.mails, record.silent] = [0, record.silent + record.mails];
        [rate, totals.mailed] = [rate - sent, totals.mailed + sent];
        time -= sent * mailMs;
        const silent = record.mails > 0 ? 0 : Math.min(record.silent, time / SILENT_MS);
        record.silent -= silent;
        time -= silent * SILENT_MS;
        pending += silent;
        // A digest counts an inquiry without a write of its own.
        units += sent * (mailerUnits + 1);
        if (record.mails + record.silent > 1e-6) break;
      }
      if (pending >= 1 && (second + 1) % (scenario.digestMinutes * 60) === 0) {
        totals.digests += 1;
        [totals.digested, pending] = [totals.digested + pending, 0];
      }
      const limit: LimitName = time < 1e-6 ? 'mailer' : rate < 1e-6 ? 'ses' : 'sesDaily';
      return { units, limit, age: second - (records[head]?.second ?? second) };
    },
    countWaiting: () =>
      records.slice(head).reduce((sum, { mails, silent }) => sum + mails + silent, pending),
  };
}

const sumOf = (numbers: Float64Array) => numbers.reduce((sum, each) => sum + each, 0);

/** Runs a scenario. A wall: a limit has refused 1 % of the POSTs of a minute, or mails are a minute late. */
export function simulate(scenario: Scenario) {
  const { rate, gateway, concurrency } = scenario;
  // Park and Miller's generator: numbers between 0 and 1.
  let state = scenario.seed;
  const random = () => (state = (state * 48_271) % 0x7fff_ffff) / 0x7fff_ffff;
  const units = measurePost(scenario);
  const table = createResource('table', units.table, scenario, random);
  const index = createResource('index', units.index, scenario, random);
  const mailer = createMailer(scenario);
  const refused = new Map<LimitName, number>();
  const minute = new Map<LimitName, number>();
  const walls = new Map<LimitName, number>();
  const totals = { offered: 0, accepted: 0, invoked: 0, milliseconds: 0, mailerUnits: 0 };
  const stored = new Float64Array(Math.round(scenario.hours * 3_600));
  const executions: number[] = [];
  let [tokens, meanMs] = [GATEWAY_BURST, INVOCATION_MS];
  let late = { units: 0, age: 0, limit: 'mailer' as LimitName };

  for (let second = 0; second < stored.length; second++) {
    if (second % 60 === 0) minute.clear();
    const refuse = (limit: LimitName, count: number): void => {
      if (count < 1e-6) return;
      for (const counts of [refused, minute]) counts.set(limit, (counts.get(limit) ?? 0) + count);
      if ((minute.get(limit) ?? 0) > 0.6 * rate && !walls.has(limit)) walls.set(limit, second);
    };
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const offered = Math.max(0, Math.round(rate + Math.sqrt(rate) * normal));
    const accepted = Math.min(offered, tokens + gateway);
    tokens = Math.min(GATEWAY_BURST, tokens + gateway - accepted);
    refuse('gateway', offered - accepted);

    const counted = Math.min(accepted, concurrency * REQUESTS_PER_EXECUTION);
    const reachable = (executions[second - 10] ?? 0) + EXECUTIONS_IN_10_S;
    const invoked = Math.min(counted, (Math.min(reachable, concurrency) * 1_000) / meanMs);
    executions.push((invoked * meanMs) / 1_000);
    refuse('invocations', accepted - counted);
    refuse('executions', counted - invoked);

    const inTable = table.offer(invoked, late.units);
    const inIndex = index.offer(invoked);
    const { passed } = index.offer(inTable.passed);
    refuse(inIndex.alone < inTable.alone ? inIndex.limit : inTable.limit, invoked - passed);
    table.endSecond(second, invoked, passed * units.table + late.units);
    index.endSecond(second, inTable.passed, passed * units.index);
    const milliseconds = invoked * INVOCATION_MS + (invoked - passed) * THROTTLED_MS;
    if (invoked > 0) meanMs += (milliseconds / invoked - meanMs) / 10;

    const toMail = scenario.mailerUnits > 0 ? passed : 0;
    const flood = (inTable.hotPassed * toMail) / Math.max(1, inTable.passed);
    late = mailer.work(second, table.countPartitions(), toMail, flood);
    if (late.age > 60 && !walls.has(late.limit)) walls.set(late.limit, second);
    stored[second] = passed;
    totals.offered += offered;
    totals.accepted += accepted;
    totals.invoked += invoked;
    totals.milliseconds += milliseconds;
    totals.mailerUnits += late.units;
  }
  return {
    ...totals,
    units,
    refused,
    walls,
    stored: sumOf(stored),
    /** Stored a second in the first and in the last half hour. */
    first: sumOf(stored.subarray(0, 1_800)) / 1_800,
    last: sumOf(stored.subarray(-1_800)) / 1_800,
    mails: { ...mailer.totals, waiting: mailer.countWaiting(), age: late.age },
  };
}
export type Result = ReturnType<typeof simulate>;

/** POSTs a second of many owners at which each limit is reached. */
export function findCeilings(scenario: Scenario): Map<LimitName, number> {
  const { table, index } = measurePost(scenario);
  const { gateway, concurrency, tableQuota, warm } = scenario;
  const ceilings = new Map<LimitName, number>([
    ['gateway', gateway],
    ['invocations', concurrency * REQUESTS_PER_EXECUTION],
    ['executions', (concurrency * 1_000) / INVOCATION_MS],
    ['indexPartition', (scenario.indexKeys * PARTITION_UNITS) / index],
    ['indexQuota', tableQuota / index],
    ['tableQuota', tableQuota / table],
  ]);
  return warm < tableQuota ? ceilings.set('tableGrowth', warm / table) : ceilings;
}
