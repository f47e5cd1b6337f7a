/** The simulation of npm run capacity: each limit is hit where its documentation puts it. */
import { expect, it } from 'vitest';
import { main } from '../../bench/capacity.ts';
import { MODELS, simulate } from '../../bench/capacity-model.ts';
import { run } from '../helpers/io.ts';

const { default: quotas, raised } = MODELS;
/** What is stored a second of POSTs with a key, in half hours on a table that takes the load from the beginning or not. */
const store = (rate: number, changes: Partial<typeof quotas> = {}, halfHours = 1) =>
  simulate({ rate, keyed: 1 }, { ...quotas, ...changes }, halfHours);

it.each([
  [12_000, { warm: 40_000, gateway: 20_000 }, 10_000, 'Lambda, 10 × concurrency a second'],
  [18_000, { ...raised, concurrency: 3_000 }, 16_000, 'index, partitions'],
  [2_000, {}, 1_000, 'table, growth on demand'],
  [5_900, { warm: 20_000, table: 20_000 }, 5_000, 'table, quota'],
])(
  'of %i POSTs a second with %j, %i are stored; the limit is %s',
  (rate, changes, stored, limit) => {
    const [step] = store(rate, changes as Partial<typeof quotas>);
    expect(step?.stored).toBe(stored);
    expect([...(step?.refused ?? [])]).toMatchObject([[{ title: limit }, rate - stored]]);
  },
);

it('a table grows to twice its peak after each half hour, and throttled POSTs take executions from others', () => {
  const steps = store(5_000, {}, 4);
  expect(steps.map(({ stored }) => stored)).toEqual([1_000, 2_000, 4_000, 5_000]);
  expect([...(steps[0]?.refused ?? [])]).toMatchObject([
    [{ title: 'Lambda, concurrency' }, 5_000 - 2_187.5],
    [{ title: 'table, growth on demand' }, 1_187.5],
  ]);
});

it('prints what each half hour stores, and refuses a rate that is none', async () => {
  expect((await run(main, [])).stdout).toMatch(/in half hour 1 +1,081 +10,000\n/);
  expect((await run(main, ['--rate', '0'])).code).toBe(2);
});
