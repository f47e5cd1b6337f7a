/** The simulation's report. */
import { ASSUMPTIONS, LIMITS, type LimitName } from './limits.ts';
import type { Scenario } from './scenario.ts';
import { findCeilings, simulate, type Result } from './simulate.ts';

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

const SOURCES = [...new Set(Object.values(LIMITS).map(([, source]) => source))];

const row = (title: string, value: string, note = ''): string =>
  `  ${title.padEnd(42)}${value.padStart(14)}  ${note}`.trimEnd();

/** A row for each limit that has a number, the least first. */
const toRows = (numbers: ReadonlyMap<LimitName, number>, format: (number: number) => string): string[] =>
  [...numbers]
    .toSorted(([, a], [, b]) => a - b)
    .map(([limit, number]) => {
      const [title, source] = LIMITS[limit];
      return row(title, format(number), `[${SOURCES.indexOf(source) + 1}]`);
    });

/** Simulates a scenario. @returns The report. */
export function formatReport(scenario: Scenario): string {
  const { rate, owners, keyed, flood, hours, seed } = scenario;
  const result = simulate(scenario);
  const { mails, units } = result;
  const { plain, transaction } = units;
  const perDay = 24 / hours / 1e6;
  const prices = PRICES.map(([part, price]) => [part, price(result)] as const);
  const total = prices.reduce((sum, [, price]) => sum + price, 0);
  const doubled = findCeilings({ ...scenario, indexFactor: 2 }).get('indexPartition') ?? 0;
  return `${[
    `${count(rate)} POST/s of ${count(owners)} owners for ${hours} h, ${keyed * 100} % with a key, ${flood * 100} % of one owner; seed ${seed}`,
    `Write units of a POST of 240 characters and of its index entry: ${plain.table} + ${plain.index}, with a key ${transaction.table} + ${transaction.index}`,
    '\nPOST/s of many owners that each limit takes',
    ...toRows(findCeilings(scenario), count),
    row('index, if transactions double its entries', count(doubled)),
    '\nSimulated',
    row('POSTs', millions(result.offered)),
    row('stored', millions(result.stored)),
    row('stored a second, in the first half hour', count(result.first)),
    row('stored a second, in the last half hour', count(result.last)),
    '\nRefused by',
    ...toRows(result.refused, millions),
    '\nWalls: 1 % of a minute refused',
    ...toRows(result.walls, clock),
    '\nMails',
    row('mails, digests included', count(mails.mailed + mails.digests)),
    row('inquiries counted in digests', millions(mails.digested)),
    '\nCost of a day, US dollars (us-east-1, November 2026)',
    ...prices.map(([part, price]) => row(part, dollars(price * perDay))),
    row('total', dollars(total * perDay)),
    row('a million stored', dollars(total / result.stored)),
    '\nSources',
    ...SOURCES.map((source, index) => `[${index + 1}] ${source}`),
    '\nAssumptions',
    ...ASSUMPTIONS.map((text) => `- ${text}`),
  ].join('\n')}\n`;
}
