/** The simulation's report, as text, and its plot, as SVG. */
import { ASSUMPTIONS, LIMITS } from './limits.ts';
import type { LimitName } from './limits.ts';
import { createScenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { findCeilings, simulate } from './simulate.ts';
import type { Result } from './simulate.ts';

/** A column of the report. */
type Run = Readonly<{ name: string; scenario: Scenario; result: Result }>;

const count = (number: number): string => Math.round(number).toLocaleString('en-US');
const millions = (number: number): string => `${(number / 1e6).toFixed(1)} M`;
const dollars = (number: number): string => number.toFixed(2);
const clock = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(11, 19);

/** US dollars per million, us-east-1, as in docs/operations.md. */
const PRICES: readonly (readonly [part: string, price: (result: Result) => number])[] = [
  ['API Gateway', ({ accepted }) => accepted],
  ['Lambda', ({ invoked, milliseconds }) => invoked * 0.2 + (milliseconds / 1_000) * 0.125 * 13.3334],
  ['DynamoDB, POSTs', ({ stored, units }) => stored * (units.table + units.index) * 0.625],
  ['DynamoDB, mailer', ({ mailerUnits }) => mailerUnits * 0.625],
  ['logs, 1.8 KB a request', ({ accepted }) => accepted * 1.8 * 0.5],
  ['transfer, 1.2 KB a response', ({ accepted }) => accepted * 1.2 * 0.09],
  ['traces of 5 %', ({ invoked }) => invoked * 0.05 * 5],
  ['mails', ({ mails }) => (mails.mailed + mails.digests) * 103.45],
  ['storage for a month, with backup', ({ stored, units }) => stored * units.storage * 1e6],
];
const sumPrices = (result: Result) => PRICES.reduce((sum, [, price]) => sum + price(result), 0);

/** The report. The runs have the same load. */
export function formatReport(runs: readonly [Run, ...Run[]]): string {
  const [{ scenario, result: first }] = runs;
  const { rate, owners, keyed, flood, hours, seed } = scenario;
  const { plain, transaction } = first.units;
  const perDay = 24 / hours;
  const sources = [...new Set(Object.values(LIMITS).map(([, source]) => source))];
  const row = (title: string, value: (run: Run) => number | undefined, format = count, note = '') => {
    const texts = runs.map((run) => value(run)).map((found) => (found === undefined ? '–' : format(found)));
    return `${title.padEnd(42)}${texts.map((text) => text.padStart(14)).join('')}  ${note}`.trimEnd();
  };
  /** A row for each limit that a run has a number for, the least first. */
  const rows = (numbers: (run: Run) => ReadonlyMap<LimitName, number>, format: (number: number) => string) =>
    [...new Map(runs.flatMap((run) => [...numbers(run)]).toSorted(([, a], [, b]) => a - b)).keys()].map((limit) => {
      const [title, source] = LIMITS[limit];
      const note = `[${sources.indexOf(source) + 1}]`;
      return row(`  ${title}`, (run) => numbers(run).get(limit), format, note);
    });
  return `${[
    `${count(rate)} POST/s of ${count(owners)} owners for ${hours} h, ${keyed * 100} % with a key, ${flood * 100} % of one owner; seed ${seed}`,
    `Write units of a POST of 240 characters and of its index entry: ${plain.table} + ${plain.index}, with a key ${transaction.table} + ${transaction.index}`,
    `\n${' '.repeat(42)}${runs.map(({ name }) => name.padStart(14)).join('')}`,
    row('Keys of the index', (run) => run.scenario.indexKeys),
    row('Quota of write units, of table and index', (run) => run.scenario.tableQuota),
    row('Write units taken at first', (run) => run.scenario.warm),
    '\nPOST/s of many owners that each limit takes',
    ...rows((run) => findCeilings(run.scenario), count),
    row('  index, if transactions double its entries', (run) =>
      findCeilings({ ...run.scenario, indexFactor: 2 }).get('indexPartition'),
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
    row("  inquiries beyond the owner's limit", ({ result }) => result.mails.withheld, millions),
    row('  mails given up', ({ result }) => result.mails.givenUp, millions),
    row('  inquiries that wait', ({ result }) => result.mails.waiting, millions),
    row('  the oldest of them, for', ({ result }) => result.mails.age, clock),
    '\nCost of a day, US dollars (us-east-1, November 2026)',
    ...PRICES.map(([part, price]) => row(`  ${part}`, ({ result }) => (price(result) * perDay) / 1e6, dollars)),
    row('  total', ({ result }) => (sumPrices(result) * perDay) / 1e6, dollars),
    row('  a million stored', ({ result }) => sumPrices(result) / result.stored, dollars),
    '\nSources',
    ...sources.map((source, index) => `[${index + 1}] ${source}`),
    '\nAssumptions',
    ...ASSUMPTIONS.map((text) => `- ${text}`),
  ].join('\n')}\n`;
}

const LINES = [
  ['before', 'before: one index key', '#b3261e'],
  ['after', 'after: 16 index keys', '#1a56a6'],
  ['raised', 'after, quotas raised', '#1b7a3d'],
] as const;

/** Plots what is stored of loads up to twice the rate, by tables that have served them before. */
export function plotLoad(given: Partial<Scenario>): string {
  const { rate, keyed } = createScenario('before', given);
  const title = `Inquiries stored a second, ${keyed * 100} % with an Idempotency-Key`;
  const x = (value: number) => 70 + (value / rate) * 280;
  const y = (value: number) => 380 - (value / rate) * 165;
  const ticks = [0, 0.5, 1, 1.5, 2].map((tick) => tick * rate);
  const lines = LINES.map(([model, name, colour]) => {
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
