/** Simulates a load of POSTs against the documented limits of AWS. Exit codes: 0, 2 bad use. */
import { parseOptions, runCommand, UsageError, type Main } from '../lib/command-line.ts';
import {
  INDEX_PARTITIONS,
  LIMITS,
  measurePost,
  MODELS,
  simulate,
  startOf,
  type Load,
} from './capacity-model.ts';

const count = (number: number): string => Math.round(number).toLocaleString('en-US');

/** The report, with a column for each model. */
function formatReport(load: Load): string {
  const { plain, transaction, units } = measurePost(load.keyed);
  const doubled = measurePost(load.keyed, 2).units;
  const runs = Object.entries(MODELS).map(([name, quotas]) => {
    const steps = simulate(load, quotas, 5);
    return { name, quotas, capacity: startOf(quotas), steps };
  });
  type Run = (typeof runs)[number];
  const row = (title: string, format: (run: Run) => string): string =>
    title.padEnd(46) + runs.map((run) => format(run).padStart(14)).join('');
  const lines = [
    `${count(load.rate)} POST/s of many owners, ${load.keyed * 100} % with a key`,
    `Write units of a POST of 240 characters and of its index entry: ${plain.table} + ${plain.index}, with a key ${transaction.table} + ${transaction.index}`,
    row('\nPOST/s that each limit takes', ({ name }) => ` ${name}`),
    ...LIMITS.map(({ title, most }) =>
      row(`  ${title}`, ({ quotas, capacity }) => count(most(quotas, units, capacity))),
    ),
    row('  index, if transactions double its units', ({ quotas, capacity }) =>
      count(INDEX_PARTITIONS.most(quotas, doubled, capacity)),
    ),
    '\nStored a second',
    ...[1, 2, 3, 4, 5].map((halfHour) =>
      row(`  in half hour ${halfHour}`, ({ steps }) => count(steps[halfHour - 1]?.stored ?? 0)),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const USAGE = `
Usage: npm run capacity -- [options]

  --rate N      POSTs a second (default: 10000)
  --keyed N     share of them with an Idempotency-Key, from 0 to 1 (default: 0.9)
`;

export const main: Main = async (args, { stdout }) => {
  const options = parseOptions(
    USAGE,
    {
      rate: { type: 'string', default: '10000' },
      keyed: { type: 'string', default: '0.9' },
    },
    args,
  );
  const load = { rate: Number(options.rate), keyed: Number(options.keyed) };
  if (!(load.rate >= 1)) {
    throw new UsageError(`--rate must be a number of at least 1, not '${options.rate}'.`);
  }
  if (!(load.keyed >= 0 && load.keyed <= 1)) {
    throw new UsageError(`--keyed must be a number from 0 to 1, not '${options.keyed}'.`);
  }
  stdout.write(formatReport(load));
};

if (import.meta.main) await runCommand(main);
