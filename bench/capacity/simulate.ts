/**
 * A model of the service under POSTs, in steps of a second: gateway, Lambda, table and index with their partitions, stream,
 * mailer and SES. Requests are a flow, not single events; arrivals and the places of keys are random, from a seed.
 */
import { createInputs } from '../../src/entities/inputs.ts';
import type { Attributes } from '../../src/entities/inputs.ts';
import * as limits from './limits.ts';
import type { LimitName } from './limits.ts';
import type { Scenario } from './scenario.ts';

const bytesOf = (item: Attributes): number =>
  Object.entries(item).reduce((sum, [name, { S, N }]) => sum + Buffer.byteLength(`${name}${S ?? N}`), 0);
const unitsOf = (item: Attributes): number => Math.ceil(bytesOf(item) / 1024);

/** Write units and storage of a POST of 240 characters, from what the function sends. */
export function measurePost({ keyed, indexFactor }: Pick<Scenario, 'keyed' | 'indexFactor'>) {
  const inquiry = {
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    cognito_sub: '11111111-2222-4333-8444-555555555555',
    email: 'alexandra.mustermann@example.com',
    subject: 'x'.repeat(40),
    body: 'x'.repeat(200),
    created_at: '2026-01-01T00:00:00.000Z',
  };
  const inputs = createInputs('table');
  const { Item: item } = inputs.putInquiry(inquiry, 1_800_000_000);
  const { Item: key } = inputs.putKey(inquiry, 'k'.repeat(36), 1_800_000_000, 0);
  const { subject: _, body: __, ...entry } = item;
  const plain = { table: unitsOf(item), index: unitsOf(entry) };
  const transaction = { table: 2 * (unitsOf(item) + unitsOf(key)), index: indexFactor * unitsOf(entry) };
  const mean = (part: 'table' | 'index') => keyed * transaction[part] + (1 - keyed) * plain[part];
  // US dollars a month. DynamoDB adds 100 bytes to each; the row of a key lasts a day, and backups have no index.
  const stored = bytesOf(item) + 100 + (keyed * (bytesOf(key) + 100)) / 30;
  const storage = (stored * 0.45 + (bytesOf(entry) + 100) * 0.25) / 1e9;
  return { plain, transaction, table: mean('table'), index: mean('index'), storage };
}

/** A table or an index: its keys by hash, its partitions, and the units that it takes. */
function createResource(name: 'table' | 'index', scenario: Scenario, random: () => number) {
  const { warm, tableQuota, owners, indexKeys } = scenario;
  const [keys, flood] = name === 'table' ? [owners, scenario.flood] : [indexKeys, 0];
  const hashes = Float64Array.from({ length: keys }, random).toSorted();
  const hot = Math.floor(random() * keys);
  /** The share of the load of the first keys. */
  const shareOf = (count: number) => ((1 - flood) * count) / keys + (count > hot ? flood : 0);
  /** The first key from which on a condition holds. */
  const findKey = (holds: (key: number) => boolean, from = 0, to = keys): number => {
    if (from >= to) return to;
    const middle = (from + to) >> 1;
    return holds(middle) ? findKey(holds, from, middle) : findKey(holds, middle + 1, to);
  };
  const toPartition = (low: number, high: number) => {
    const [from = 0, to = 0] = [low, high].map((bound) => findKey((key) => (hashes[key] ?? 1) >= bound));
    return { low, high, from, to, share: shareOf(to) - shareOf(from), heat: 0 };
  };
  type Partition = ReturnType<typeof toPartition>;
  const splitAt = (at: number, { low, high }: Partition) => [toPartition(low, at), toPartition(at, high)];
  /** A partition near its limit is split by its load, unless it has one key. */
  const splitByHeat = (one: Partition): Partition[] => {
    if (one.heat < limits.SPLIT_AFTER || one.to - one.from < 2) return [one];
    const isHalf = (key: number) => shareOf(key) - shareOf(one.from) >= one.share / 2;
    return splitAt(hashes[findKey(isHalf, one.from + 1, one.to - 1)] ?? 1, one);
  };

  let partitions = [toPartition(0, 1)];
  let [capacity, mean, peak] = [0, 0, 0];
  const grow = (units: number) => {
    capacity = Math.max(capacity, Math.min(tableQuota, units));
    while (partitions.length * limits.PARTITION_UNITS < capacity)
      partitions = partitions.flatMap((one) => splitAt((one.low + one.high) / 2, one));
  };
  grow(warm);

  return {
    countPartitions: () => partitions.length,
    /** How many requests pass, those of the flooding owner among them; and how many the tightest limit alone would let pass. */
    offer(requests: number, units: number, used = 0) {
      const most = limits.PARTITION_UNITS / units;
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
    endSecond(second: number, requests: number, units: number, consumed: number) {
      const load = Math.min(requests * units, capacity);
      for (const one of partitions) one.heat = load * one.share > 0.9 * limits.PARTITION_UNITS ? one.heat + 1 : 0;
      if (second % 60 === 59) partitions = partitions.flatMap(splitByHeat);
      mean += (consumed - mean) / Math.min(second + 1, 60);
      peak = Math.max(peak, mean);
      if ((second + 1) % limits.DOUBLING === 0) grow(2 * peak);
    },
  };
}

/** The stream and the mailer. Its records are spread evenly over the shards. */
function createMailer(scenario: Scenario) {
  const { stageMails, mailMs, sesRate, sesDaily, mailerUnits } = scenario;
  const hasDigests = stageMails > 0;
  const totals = { mailed: 0, digested: 0, digests: 0, withheld: 0, givenUp: 0 };
  /** Of each second, the mails and the inquiries without a mail of their own that are not finished. */
  const records: { readonly second: number; mails: number; silent: number }[] = [];
  let [head, pending, mailedBefore, inquiries] = [0, 0, 0, 0];
  const due = (count: number) => Math.min(count, limits.MAILS_PER_OWNER * scenario.owners);

  return {
    totals,
    /** @param flood - How many of the stored inquiries are of the flooding owner. @returns Consumed units, and the oldest record's age and cause. */
    work(second: number, shards: number, stored: number, flood: number) {
      if (second % 3_600 === 0) [mailedBefore, inquiries] = [totals.mailed, 0];
      const mails = due(inquiries + stored - flood) - due(inquiries);
      inquiries += stored - flood;
      records.push({ second, mails, silent: stored - mails });
      let [time, rate, units] = [shards * scenario.parallelization * scenario.sideBySide * 1_000, sesRate, 0];
      for (let record = records[head]; record !== undefined; record = records[++head]) {
        if (second - record.second > limits.RECORD_AGE) {
          if (hasDigests) pending += record.mails + record.silent;
          else totals.givenUp += record.mails;
          [record.mails, record.silent] = [0, 0];
        }
        const left = hasDigests ? stageMails - (totals.mailed - mailedBefore) : Infinity;
        const sent = Math.min(record.mails, time / mailMs, rate, sesDaily - totals.mailed, left);
        record.mails -= sent;
        if (sent === left) [record.mails, record.silent] = [0, record.silent + record.mails];
        [rate, totals.mailed] = [rate - sent, totals.mailed + sent];
        time -= sent * mailMs;
        const silent = record.mails > 0 ? 0 : Math.min(record.silent, time / limits.SILENT_MS);
        record.silent -= silent;
        time -= silent * limits.SILENT_MS;
        if (hasDigests) pending += silent;
        else totals.withheld += silent;
        // A digest counts an inquiry without a write of its own.
        units += sent * (mailerUnits + 1) + (hasDigests ? 0 : silent * mailerUnits);
        if (record.mails + record.silent > 1e-6) break;
      }
      if (pending >= 1 && (second + 1) % (scenario.digestMinutes * 60) === 0) {
        totals.digests += 1;
        [totals.digested, pending] = [totals.digested + pending, 0];
      }
      const limit: LimitName = time < 1e-6 ? 'mailer' : rate < 1e-6 ? 'ses' : 'sesDaily';
      return { units, limit, age: second - (records[head]?.second ?? second) };
    },
    countWaiting: () => records.slice(head).reduce((sum, { mails, silent }) => sum + mails + silent, pending),
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
  const table = createResource('table', scenario, random);
  const index = createResource('index', scenario, random);
  const mailer = createMailer(scenario);
  const refused = new Map<LimitName, number>();
  const minute = new Map<LimitName, number>();
  const walls = new Map<LimitName, number>();
  const totals = { offered: 0, accepted: 0, invoked: 0, milliseconds: 0, mailerUnits: 0 };
  const stored = new Float64Array(Math.round(scenario.hours * 3_600));
  const executions: number[] = [];
  let [tokens, meanMs] = [limits.GATEWAY_BURST, limits.INVOCATION_MS];
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
    tokens = Math.min(limits.GATEWAY_BURST, tokens + gateway - accepted);
    refuse('gateway', offered - accepted);

    const counted = Math.min(accepted, concurrency * limits.REQUESTS_PER_EXECUTION);
    const reachable = (executions[second - 10] ?? 0) + limits.EXECUTIONS_IN_10_S;
    const invoked = Math.min(counted, (Math.min(reachable, concurrency) * 1_000) / meanMs);
    executions.push((invoked * meanMs) / 1_000);
    refuse('invocations', accepted - counted);
    refuse('executions', counted - invoked);

    const inTable = table.offer(invoked, units.table, late.units);
    const inIndex = index.offer(invoked, units.index);
    const { passed } = index.offer(inTable.passed, units.index);
    refuse(inIndex.alone < inTable.alone ? inIndex.limit : inTable.limit, invoked - passed);
    table.endSecond(second, invoked, units.table, passed * units.table + late.units);
    index.endSecond(second, inTable.passed, units.index, passed * units.index);
    const milliseconds = invoked * limits.INVOCATION_MS + (invoked - passed) * limits.THROTTLED_MS;
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
  const mailerUnits = scenario.stageMails > 0 ? 0 : scenario.mailerUnits;
  return new Map<LimitName, number>([
    ['gateway', gateway],
    ['invocations', concurrency * limits.REQUESTS_PER_EXECUTION],
    ['executions', (concurrency * 1_000) / limits.INVOCATION_MS],
    ['indexPartition', (scenario.indexKeys * limits.PARTITION_UNITS) / index],
    ['indexQuota', tableQuota / index],
    ['tableQuota', tableQuota / (table + mailerUnits)],
    [warm < tableQuota ? 'tableGrowth' : 'tableQuota', Math.min(warm, tableQuota) / (table + mailerUnits)],
  ]);
}
