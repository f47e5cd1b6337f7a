/** The benchmark's report. */
import { cpus, release } from 'node:os';
import { medianCost } from './measure.ts';
import type { Bench, Entrant, Request, Step } from './measure.ts';
import type { Cost } from './sandbox.ts';

type Kind = keyof Cost;
const KINDS = ['wall', 'cpu'] as const;

const COMPARED: readonly (readonly [figure: string, step: Step])[] = [
  ['initialisation + first POST', 'start'],
  ['warm POST', 'warmPost'],
  ['initialisation + first keyed POST', 'startKeyed'],
  ['warm keyed POST', 'warmPostKeyed'],
  ['initialisation + first POST with the limit', 'startLimited'],
  ['warm POST with the limit', 'warmPostLimited'],
  ['GET of ten', 'ten'],
  ['GET of 100', 'hundred'],
  ['fullest list', 'fullest'],
];
/** The targets: the most that a ratio of this service to a contender may be. */
const RATIO_LIMITS: Readonly<Record<string, number>> = {
  'start wall middy-powertools': 0.3,
  'start wall plain': 0.5,
  'startKeyed wall powertools-idempotency': 0.3,
  'start wall hand-written': 1.25,
  'warmPost cpu hand-written': 1.3,
  'ten cpu hand-written': 1.2,
  'hundred cpu hand-written': 1.3,
  'fullest wall hand-written': 1.25,
  'fullest cpu hand-written': 1.25,
};
/** What is sent, in the order of the table. */
const REQUESTS: readonly (readonly [title: string, request: Request])[] = [
  ['POST', 'plain'],
  ['POST with a new key', 'keyed'],
  ['with a known key, the same text: 201', 'replay'],
  ['with a known key, another text: 422', 'reused'],
  ['POST with the limit', 'limited'],
  ['with the limit and a new key', 'limitedKeyed'],
  ['beyond the limit, with a known key: 201', 'limitedReplay'],
  ['beyond the limit: 429', 'refused'],
];
const MEGABYTE = 1024 * 1024;

function describeMachine(): string {
  const [first] = cpus();
  const system = `${process.platform} ${release()} ${process.arch}, ${cpus().length} × ${first?.model.trim()}`;
  return `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${system}`;
}

/** The report in Markdown. */
export function formatResults({ database, limited }: Bench, entrants: readonly Entrant[]): string {
  const limits = limited
    ? '128 MB of memory; a whole core during initialisation, then 7.2 % of one in periods of 20 ms'
    : 'none, because control groups cannot be written; only CPU times are meaningful';
  const fullest = database.owners.fullest.count.toLocaleString('en');
  return `# Results of \`npm run bench\`

${describeMachine()}. Engine: ${database.engine} behind TLS. Limits: ${limits}. Medians over ${entrants[0]?.coldStarts.length} cold starts of each contender, taken in turns. Times in milliseconds.

${formatRatios(entrants)}

## Cold start

Initialisation: from the start of the process until it asks for its first event. Memory: the peak in MB, as counted
against the limit of 128 MB (a process that exceeds it is killed). Node's own program is not counted.

${costTable(
  entrants,
  [
    ['initialisation', 'initialisation', ['wall']],
    ['first POST', 'firstPost', ['wall']],
    ['first GET', 'firstGet', ['wall']],
    ['initialisation + first POST', 'start', ['wall']],
  ],
  {
    memory: ({ coldStarts }) => formatMemory(peak(coldStarts)),
    'zip KB': ({ built }) => (built.size / 1024).toFixed(0),
  },
)}

## Warm requests

A POST of 240 characters, and GETs of 10, 100, 1,000 and ${fullest} inquiries, the most of this size that fit into one
response: time / CPU. Memory: the peak after the fullest list.

${costTable(
  entrants,
  [
    ['POST', 'warmPost'],
    ['10', 'ten'],
    ['100', 'hundred'],
    ['1,000', 'thousand'],
    ['fullest', 'fullest'],
  ],
  { memory: ({ lists }) => formatMemory(peak(lists)) },
)}

## POST with a key and with the limit

Keyed: with the header Idempotency-Key, a new one for each POST. Limited: with INQUIRIES_PER_HOUR, which is not reached;
all inquiries of a process are of one owner. Time, and for warm requests time / CPU.

${costTable(
  entrants.filter(({ variants }) => variants.length > 0),
  [
    ['initialisation + first keyed', 'startKeyed', ['wall']],
    ['first keyed', 'firstPostKeyed', ['wall']],
    ['warm keyed', 'warmPostKeyed'],
    ['initialisation + first limited', 'startLimited', ['wall']],
    ['first limited', 'firstPostLimited', ['wall']],
    ['warm limited', 'warmPostLimited'],
  ],
)}

${formatConsumption(entrants)}
`;
}

/** A row for each contender: medians of the steps, and `more`. */
const costTable = (
  entrants: readonly Entrant[],
  columns: readonly (readonly [title: string, step: Step, kinds?: readonly Kind[]])[],
  more: Readonly<Record<string, (entrant: Entrant) => string>> = {},
): string =>
  table(
    ['contender', ...columns.map(([title]) => title), ...Object.keys(more)],
    entrants.map((entrant) => [
      entrant.contender.title,
      columns.map(([, step, kinds = KINDS]) => formatCost(entrant, step, kinds)),
      Object.values(more).map((format) => format(entrant)),
    ]),
  );

/** This service divided by each of the others, and its sizes, with the targets. */
function formatRatios(entrants: readonly Entrant[]): string {
  const ours = entrants.find(({ contender }) => contender.name === 'ours');
  if (ours === undefined) return 'This service was not measured.';
  const others = entrants.filter(({ contender }) => contender.name !== 'ours' && contender.constant !== true);
  const ratio = (other: Entrant, step: Step, kind: Kind): string => {
    const [one, two] = [costOf(ours, step), costOf(other, step)];
    if (typeof one !== 'object' || typeof two !== 'object') return '–';
    return judge(one[kind] / two[kind], RATIO_LIMITS[`${step} ${kind} ${other.contender.name}`]);
  };
  const fullest = peak(ours.lists);
  return `## Ratios

This service divided by each of the others. Targets in parentheses; bold where one is missed.

${table(
  ['', ...others.map(({ contender }) => contender.title)],
  [
    ...COMPARED.filter(([, step]) => others.some((other) => costOf(other, step) !== undefined)).flatMap(
      ([figure, step]) =>
        KINDS.map((kind) => [
          `${figure}, ${kind === 'cpu' ? 'CPU' : 'time'}`,
          others.map((other) => ratio(other, step, kind)),
        ]),
    ),
    ['fullest list, memory', others.map(({ lists }) => judge(fullest / peak(lists)))],
    ['package', others.map(({ built }) => judge(ours.built.size / built.size))],
  ],
)}

Memory with the fullest list: ${judge(fullest / MEGABYTE, 105)} MB. Package (zip): ${judge(ours.built.size / 1024, 150)} KB.`;
}

/** Round trips and units of each request, for those that know keys. */
function formatConsumption(all: readonly Entrant[]): string {
  const entrants = all.filter(({ consumption }) => consumption.plain !== undefined);
  return `## Requests to DynamoDB

Round trips / write units / read units of one POST of the message above. The engine reports the units: 1 for each KB that
is written, in a transaction 2, the index of all inquiries included. It reports none for a write that is refused because
of its condition: here that is 1 unit, and 2 for each write of a transaction, the most that AWS can charge.

${table(
  ['request', ...entrants.map(({ contender }) => contender.title)],
  REQUESTS.map(([title, request]) => [
    title,
    entrants.map(({ consumption }) => {
      const { [request]: consumed } = consumption;
      if (consumed === undefined) return '–';
      return `${consumed.requests} / ${consumed.writeUnits} / ${consumed.readUnits}`;
    }),
  ]),
)}`;
}

/** A figure with its target; bold where the target is missed. */
function judge(value: number, limit?: number): string {
  if (Number.isNaN(value)) return '–';
  if (limit === undefined) return value.toFixed(2);
  return value > limit ? `**${value.toFixed(2)} (≤ ${limit})**` : `${value.toFixed(2)} (≤ ${limit})`;
}

/** The median over all processes, or the reason why there is none; undefined: not measured. */
function costOf({ coldStarts, variants, lists }: Entrant, step: Step): Cost | string | undefined {
  const costs = [...coldStarts, ...variants, ...lists].flatMap((run) => run.costs[step] ?? []);
  const failure = costs.find((cost) => typeof cost === 'string');
  return failure ?? (costs.length > 0 ? medianCost(costs as Cost[]) : undefined);
}

/** The peak over all processes; NaN where one has none. */
function peak(runs: readonly { readonly memory?: number }[]): number {
  return runs.length === 0 ? Number.NaN : Math.max(...runs.map(({ memory = Number.NaN }) => memory));
}

function formatCost(entrant: Entrant, step: Step, kinds: readonly Kind[]): string {
  const cost = costOf(entrant, step);
  if (typeof cost !== 'object') return cost ?? '–';
  return kinds.map((kind) => cost[kind].toPrecision(cost[kind] < 100 ? 3 : 4)).join(' / ');
}

const formatMemory = (bytes: number): string => (Number.isNaN(bytes) ? '–' : (bytes / MEGABYTE).toFixed(0));

/** A table in Markdown; a list stands for as many cells. */
function table(
  head: readonly string[],
  body: readonly (readonly (string | number | readonly string[])[])[],
): string {
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [head, rule, ...body].map((cells) => `| ${cells.flat().join(' | ')} |`).join('\n');
}
