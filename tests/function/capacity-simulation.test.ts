/** The simulation of npm run capacity: each limit is hit where its documentation puts it. */
import { expect, it } from 'vitest';
import { main, plotLoad } from '../../bench/capacity.ts';
import {
  createScenario,
  findCeilings,
  simulate,
  type Scenario,
} from '../../bench/capacity-model.ts';
import { run } from '../helpers/io.ts';
import { readText } from '../helpers/repository.ts';

/** An hour, on a table that takes the load from the beginning. */
const simulateWarm = (model: string, numbers: Partial<Scenario>) =>
  simulate(createScenario(model, { hours: 1, warm: 80_000, ...numbers }));

it('one key of the index takes 1,000 POSTs a second, 500 if transactions double its entries', () => {
  const indexKeys = 1;
  expect(simulateWarm('default', { rate: 800, indexKeys }).refused.size).toBe(0);
  const { last, walls } = simulateWarm('default', { rate: 5_000, indexKeys });
  expect(last).toBeCloseTo(1_000);
  expect([...walls][0]).toEqual(['indexPartition', 0]);
  const doubled = { rate: 5_000, keyed: 1, indexKeys, indexFactor: 2 };
  expect(simulateWarm('default', doubled).last).toBeCloseTo(500);
});

it('sixteen keys take 10,000 keyed POSTs a second, which the quotas of table, gateway and Lambda allow', () => {
  const ceilings = findCeilings(createScenario('default', { keyed: 1 }));
  const expected = {
    tableQuota: 10_000,
    gateway: 10_000,
    invocations: 10_000,
    indexPartition: 16_000,
  };
  expect(Object.fromEntries(ceilings)).toMatchObject(expected);
  expect(simulateWarm('default', { rate: 12_000, keyed: 1 }).last).toBeCloseTo(10_000, -2);
  expect(simulateWarm('raised', { rate: 10_100, keyed: 1 }).last).toBeGreaterThan(10_000);
});

it('a new table takes 4,000 write units, and twice its peak after each half hour', () => {
  const load = { rate: 5_000, keyed: 1, mailerUnits: 0 };
  const stored = [1, 1.5, 2, 2.5].map((hours) =>
    simulate(createScenario('default', { ...load, hours })),
  );
  expect(stored[0]?.first).toBeCloseTo(1_000, -2);
  expect(stored.map(({ last }) => Math.round(last / 1_000))).toEqual([2, 4, 5, 5]);
  expect(stored[0]?.walls.get('tableGrowth')).toBe(0);
});

it('one owner who floods the service gets one partition, and others lose nothing once it is split', () => {
  const load = { rate: 4_000, keyed: 1, flood: 0.5, hours: 3 };
  const { last, refused } = simulateWarm('raised', load);
  expect(last).toBeCloseTo(2_000 + 250, -2);
  expect([...refused.keys()]).toEqual(['tablePartition', 'executions']);
});

it('mails fall behind at 3.3 a second and shard; what has no mail of its own is counted in digests', () => {
  const load = { rate: 100, owners: 1e6, sesRate: 1_000, sesDaily: 1e8, warm: 4_000, hours: 24 };
  const slow = simulateWarm('default', { ...load, stageMails: 1e6, mailMs: 3_000 });
  expect(slow.mails.mailed).toBeCloseTo((4 * 86_400) / 0.3, -2);
  expect([...slow.walls.keys()]).toEqual(['mailer']);
  const { stored, walls, mails } = simulateWarm('default', load);
  expect([walls.size, mails.mailed]).toEqual([0, 2_400]);
  expect(mails.mailed + mails.digested + mails.waiting).toBeCloseTo(stored, 0);
});

it.each([
  [['--rate', '0.5'], "--rate must be a whole number from 1 to 1000000, not '0.5'"],
  [['--keyed', '1.5'], "--keyed must be a number from 0 to 1, not '1.5'"],
  [['--model', 'toString'], "--model must be one of default, raised, not 'toString'"],
  [['--speed', '1'], "Unknown option '--speed' (see --help)"],
])('refuses %j', async (args, message) => {
  expect(await run(main, args)).toMatchObject({ code: 2, stderr: `${message}\n` });
});

it('prints the same for the same seed, and draws the plot of docs/operations.md', async () => {
  const [first, same, other] = ['1', '1', '2'].map((seed) =>
    run(main, ['--hours', '1', '--seed', seed]),
  );
  expect(await first).toEqual(await same);
  expect(await other).not.toEqual(await first);
  expect(plotLoad({})).toBe(readText('docs/capacity.svg'));
});
