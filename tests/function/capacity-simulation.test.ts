/** The simulation of npm run capacity: each limit is hit where its documentation puts it. */
import { expect, it } from 'vitest';
import { main } from '../../bench/capacity/main.ts';
import { createScenario, type Scenario } from '../../bench/capacity/scenario.ts';
import { findCeilings, measurePost, simulate } from '../../bench/capacity/simulate.ts';
import { run } from '../helpers/io.ts';
import { readText } from '../helpers/repository.ts';

/** An hour, on a table that takes the load from the beginning. */
const simulateWarm = (numbers: Partial<Scenario>) => simulate(createScenario({ hours: 1, warm: 80_000, ...numbers }));
const RAISED = { tableQuota: 80_000, gateway: 20_000, concurrency: 2_000 };

it('a POST consumes the write units that the benchmark has measured', () => {
  const { plain, transaction } = measurePost({ keyed: 1, indexFactor: 2 });
  const results = readText('bench/RESULTS.md');
  expect(results).toContain(`| POST | 1 / ${plain.table + plain.index} / 0 |`);
  expect(results).toContain(`| POST with a new key | 1 / ${transaction.table + transaction.index} / 0 |`);
});

it('one key of the index takes 1,000 POSTs a second, 500 if transactions double its entries', () => {
  expect(simulateWarm({ indexKeys: 1, rate: 800 }).refused.size).toBe(0);
  const { last, walls } = simulateWarm({ indexKeys: 1, rate: 5_000 });
  expect(last).toBeCloseTo(1_000);
  expect([...walls][0]).toEqual(['indexPartition', 0]);
  expect(simulateWarm({ indexKeys: 1, rate: 5_000, keyed: 1, indexFactor: 2 }).last).toBeCloseTo(500);
});

it('sixteen keys take 10,000 keyed POSTs a second, which the quotas of table, gateway and Lambda allow', () => {
  const ceilings = findCeilings(createScenario({ keyed: 1 }));
  const expected = { tableQuota: 10_000, gateway: 10_000, invocations: 10_000, indexPartition: 16_000 };
  expect(Object.fromEntries(ceilings)).toMatchObject(expected);
  expect(simulateWarm({ rate: 12_000, keyed: 1 }).last).toBeCloseTo(10_000, -2);
  expect(simulateWarm({ ...RAISED, rate: 10_100, keyed: 1 }).last).toBeGreaterThan(10_000);
});

it('a new table takes 4,000 write units, and twice its peak after each half hour', () => {
  const load = { rate: 5_000, keyed: 1, mailerUnits: 0 };
  const stored = [1, 1.5, 2, 2.5].map((hours) => simulate(createScenario({ ...load, hours })));
  expect(stored[0]?.first).toBeCloseTo(1_000, -2);
  expect(stored.map(({ last }) => Math.round(last / 1_000))).toEqual([2, 4, 5, 5]);
  expect(stored[0]?.walls.get('tableGrowth')).toBe(0);
});

it('one owner who floods the service gets one partition, and others lose nothing once it is split', () => {
  const load = { rate: 4_000, keyed: 1, flood: 0.5, hours: 3 };
  const { last, refused } = simulateWarm({ ...RAISED, ...load });
  expect(last).toBeCloseTo(2_000 + 250, -2);
  expect([...refused.keys()]).toEqual(['tablePartition', 'executions']);
});

it('mails are bounded by the hour, and digests count every other inquiry', () => {
  const { stored, mails } = simulateWarm({ rate: 100, hours: 24 });
  expect([mails.mailed, mails.digests]).toEqual([2_400, 288]);
  expect(mails.mailed + mails.digested).toBeCloseTo(stored, 0);
});

it.each([
  [['--rate', '0.5'], "--rate must be a whole number from 1 to 1000000, not '0.5'"],
  [['--keyed', '1.5'], "--keyed must be a number from 0 to 1, not '1.5'"],
  [['--speed', '1'], "Unknown option '--speed' (see --help)"],
])('refuses %j', async (args, message) => {
  expect(await run(main, args)).toMatchObject({ code: 2, stderr: `${message}\n` });
});

it('prints the same for the same seed', async () => {
  const [first, same, other] = ['1', '1', '2'].map((seed) => run(main, ['--hours', '1', '--seed', seed]));
  expect(await first).toEqual(await same);
  expect(await other).not.toEqual(await first);
});
