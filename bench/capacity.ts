/** Simulates a load of POSTs against the documented limits of AWS. Exit codes: 0, 1 the plot cannot be written, 2 bad use. */
import { writeFileSync } from 'node:fs';
import { parseOptions, runCommand, UsageError, type Main } from '../lib/command-line.ts';
import {
  createScenario,
  findCeilings,
  LIMITS,
  measurePost,
  MODELS,
  NUMBERS,
  simulate,
} from './capacity-model.ts';
import type { LimitName, Result, Scenario } from './capacity-model.ts';

/** What is assumed where AWS documents nothing. */
const ASSUMPTIONS = [
  'Index entries cost as much in a transaction as otherwise. AWS documents the factor 2 for items only; measured on AWS: https://github.com/nubo-db/dynoxide/pull/188. DynamoDB Local counts 2 (--index-factor 2).',
  'A partition is split after 10 minutes near its limit (AWS: "several minutes"), one key with increasing sort keys never: https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/. Burst capacity does not raise the limit of a partition: https://repost.aws/knowledge-center/dynamodb-spiky-workloads-short-intervals.',
  'Table and index take at first what they are warmed for, from each half hour to the next twice their peak. A shard of the stream is a partition of the table. The writes of the mailer come before those of POSTs.',
  'A POST takes 50 ms (docs/operations.md), a throttled one 750 ms more, the delays of two retries: it holds its execution, and Lambda refuses others. Clients do not repeat. The stage sets no lower limits.',
  'SES documents its limits for the sandbox only (1 a second, 200 a day). 14 a second and 50,000 a day are what accounts report.',
  'An inquiry without a mail of its own takes the mailer 20 ms. How Lambda batches log lines is not documented: PutLogEvents (5,000 a second) is not simulated.',
  'The cost is that of POSTs, without free tiers, discounts for volume and the charge for warm throughput.',
];

/** US dollars per million, us-east-1, as in docs/operations.md. */
const PRICES: readonly (readonly [part: string, price: (result: Result) => number])[] = [
  ['API Gateway', ({ accepted }) => accepted],
  [
    'Lambda',
    ({ invoked, milliseconds }) => invoked * 0.2 + (milliseconds / 1_000) * 0.125 * 13.3334,
  ],
  ['DynamoDB, POSTs', ({ stored, units }) => stored * (units.table + units.index) * 0.625],
  ['DynamoDB, mailer', ({ mailerUnits }) => mailerUnits * 0.625],
  ['logs, 1.8 KB a request', ({ accepted }) => accepted * 1.8 * 0.5],
  ['transfer, 1.2 KB a response', ({ accepted }) => accepted * 1.2 * 0.09],
  ['traces of 5 %', ({ invoked }) => invoked * 0.05 * 5],
  ['mails', ({ mails }) => (mails.mailed + mails.digests) * 103.45],
  ['storage for a month, with backup', ({ stored, units }) => stored * units.storage * 1e6],
];
const sumPrices = (result: Result) => PRICES.reduce((sum, [, price]) => sum + price(result), 0);

const count = (number: number): string => Math.round(number).toLocaleString('en-US');
const millions = (number: number): string => `${(number / 1e6).toFixed(1)} M`;
const dollars = (number: number): string => number.toFixed(2);
const clock = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(11, 19);

/** The report of a load, with a column for each model. */
function formatReport(models: readonly string[], given: Partial<Scenario>): string {
  const runs = models.map((name) => {
    const scenario = createScenario(name, given);
    return { name, scenario, ceilings: findCeilings(scenario), result: simulate(scenario) };
  });
  type Run = (typeof runs)[number];
  const row = (title: string, value: (run: Run) => number | undefined, format = count) => {
    const texts = runs
      .map((run) => value(run))
      .map((found) => (found === undefined ? '–' : format(found)));
    return `${title.padEnd(42)}${texts.map((text) => text.padStart(14)).join('')}`;
  };
  /** A row for each limit that a run has a number for, the least first. */
  const rows = (numbers: (run: Run) => ReadonlyMap<LimitName, number>, format = count) => {
    const found = runs.flatMap((run) => Array.from(numbers(run))).toSorted(([, a], [, b]) => a - b);
    return [...new Map(found).keys()].map((limit) =>
      row(`  ${LIMITS[limit][0]}`, (run) => numbers(run).get(limit), format),
    );
  };
  const { rate, owners, keyed, flood, hours, seed, indexFactor } = createScenario('default', given);
  const { plain, transaction } = measurePost({ keyed, indexFactor });
  const dayOf = (value: number) => dollars((value * 24) / hours / 1e6);
  return `${[
    `${count(rate)} POST/s of ${count(owners)} owners for ${hours} h, ${keyed * 100} % with a key, ${flood * 100} % of one owner; seed ${seed}`,
    `Write units of a POST of 240 characters and of its index entry: ${plain.table} + ${plain.index}, with a key ${transaction.table} + ${transaction.index}`,
    `\n${' '.repeat(42)}${models.map((name) => name.padStart(14)).join('')}`,
    row('Keys of the index', ({ scenario }) => scenario.indexKeys),
    row('Quota of write units, of table and index', ({ scenario }) => scenario.tableQuota),
    row('Write units taken at first', ({ scenario }) => scenario.warm),
    '\nPOST/s of many owners that each limit takes',
    ...rows(({ ceilings }) => ceilings),
    row('  index, if transactions double its entries', ({ scenario }) =>
      findCeilings({ ...scenario, indexFactor: 2 }).get('indexPartition'),
    ),
    '\nSimulated',
    row('  POSTs', ({ result }) => result.offered, millions),
    row('  stored', ({ result }) => result.stored, millions),
    row('  stored a second, in the first half hour', ({ result }) => result.first),
    row('  stored a second, in the last half hour', ({ result }) => result.last),
    '\nRefused by',
    ...rows(({ result }) => result.refused, millions),
    '\nWalls: 1 % of a minute refused, or a mail a minute late',
    ...rows(({ result }) => result.walls, clock),
    '\nMails',
    row('  mails, digests included', ({ result: { mails } }) => mails.mailed + mails.digests),
    row('  inquiries counted in digests', ({ result }) => result.mails.digested, millions),
    row('  inquiries that wait', ({ result }) => result.mails.waiting, millions),
    row('  the oldest of them, for', ({ result }) => result.mails.age, clock),
    '\nCost of a day, US dollars (us-east-1, November 2026)',
    ...PRICES.map(([part, price]) => row(`  ${part}`, ({ result }) => price(result), dayOf)),
    row('  total', ({ result }) => sumPrices(result), dayOf),
    row('  a million stored', ({ result }) => sumPrices(result) / result.stored, dollars),
    '\nSources',
    ...Object.values(LIMITS).map(([title, source]) => `- ${title}: ${source}`),
    '\nAssumptions',
    ...ASSUMPTIONS.map((text) => `- ${text}`),
  ].join('\n')}\n`;
}

/** Plots what is stored of loads up to twice the rate, by tables that have served them before. */
export function plotLoad(given: Partial<Scenario>): string {
  const { rate, keyed } = createScenario('default', given);
  const title = `Inquiries stored a second, ${keyed * 100} % with an Idempotency-Key`;
  const x = (value: number) => 70 + (value / rate) * 280;
  const y = (value: number) => 380 - (value / rate) * 165;
  const ticks = [0, 0.5, 1, 1.5, 2].map((tick) => tick * rate);
  const lines = Object.entries(MODELS).map(([model, [, name, colour]]) => {
    const scenario = createScenario(model, given);
    const storedOf = (offered: number) =>
      simulate({ ...scenario, rate: offered, hours: 1, warm: scenario.tableQuota }).last;
    const loads = Array.from({ length: 40 }, (_, step) => ((step + 1) * rate) / 20);
    const points = loads.map((load) => `${x(load)},${y(storedOf(load)).toFixed(1)}`);
    const most = storedOf(2 * rate);
    return `<polyline points="70,380 ${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2.5"/><text x="640" y="${y(most).toFixed()}" dy="4" fill="${colour}">${name}: ${count(most)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 440" font-family="sans-serif" font-size="13">
<title>${title}</title><rect width="860" height="440" fill="#fff"/><text x="70" y="26" font-size="15" font-weight="bold">${title}</text>
${ticks.map((tick) => `<path d="M70 ${y(tick)}H630" stroke="#ddd"/><text x="62" y="${y(tick)}" dy="4" text-anchor="end">${count(tick)}</text><text x="${x(tick)}" y="400" text-anchor="middle">${count(tick)}</text>`).join('')}
<text x="350" y="424" text-anchor="middle">POSTs a second</text><path d="M70 380L630 50" stroke="#888" stroke-dasharray="4 4"/><text x="640" y="54" fill="#666">all of them</text>
${lines.join('\n')}</svg>
`;
}

const toOption = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const names = Object.keys(MODELS);
const USAGE = `
Usage: npm run capacity -- [options]

  --model NAME         ${names.join(', ')} (quotas of a new account, or raised ones); default: all
  --plot FILE          also plot stored against offered load up to twice the rate (SVG)
${Object.entries(NUMBERS)
  .map(([name, [value, , , text]]) => `  --${`${toOption(name)} N`.padEnd(18)} ${text} (${value})`)
  .join('\n')}
`;

export const main: Main = async (args, { stdout }) => {
  const options = ['model', 'plot', ...Object.keys(NUMBERS).map(toOption)];
  const types = Object.fromEntries(options.map((option) => [option, { type: 'string' as const }]));
  const values: Readonly<Record<string, unknown>> = parseOptions(USAGE, types, args);
  const given: Record<string, number> = {};
  for (const [name, [value, least, most]] of Object.entries(NUMBERS)) {
    const text = values[toOption(name)];
    if (typeof text !== 'string') continue;
    const number = text.trim() === '' ? NaN : Number(text);
    const isWhole = Number.isInteger(value) && value >= 1;
    if (!(number >= least && number <= most) || (isWhole && !Number.isInteger(number))) {
      const kind = isWhole ? 'a whole number' : 'a number';
      throw new UsageError(
        `--${toOption(name)} must be ${kind} from ${least} to ${most}, not '${text}'`,
      );
    }
    given[name] = number;
  }
  const { model, plot } = values;
  if (typeof model === 'string' && !names.includes(model)) {
    throw new UsageError(`--model must be one of ${names.join(', ')}, not '${model}'`);
  }
  stdout.write(formatReport(typeof model === 'string' ? [model] : names, given));
  if (typeof plot === 'string') writeFileSync(plot, plotLoad(given));
};

if (import.meta.main) await runCommand(main);
