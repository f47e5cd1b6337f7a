/** The benchmark's report. */
import { cpus, release } from 'node:os';
import type { Cost } from '../local/lambda/sandbox.ts';
import { middleCost, type Bench, type Entrant } from './measure.ts';

type Kind = keyof Cost;
type Row = readonly [title: string, format: (entrant: Entrant) => string];

/** The targets: the most that a ratio of this service to a contender may be. */
const RATIO_LIMITS: Readonly<Record<string, number>> = {
  'initialisation + first POST, wall, middy-powertools': 0.2,
  'initialisation + first POST, wall, plain': 0.5,
  'initialisation + first keyed POST, wall, middy-powertools': 0.3,
  'initialisation + first POST, wall, hand-written': 0.9,
  'initialisation + first POST, cpu, hand-written': 1.2,
  'warm POST, wall, hand-written': 1,
  'warm POST, cpu, hand-written': 1,
  'GET of 10, cpu, hand-written': 1.1,
  'GET of 100, cpu, hand-written': 1.3,
  'fullest list, wall, hand-written': 1.05,
  'fullest list, cpu, hand-written': 1.05,
};
const FULLEST_MEMORY = 'memory, fullest list';
const MEGABYTE = 1024 * 1024;

function describeMachine(): string {
  const [first] = cpus();
  const system = `${process.platform} ${release()} ${process.arch}, ${cpus().length} × ${first?.model.trim()}`;
  return `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${system}`;
}

const figuresOf = (entrants: readonly Entrant[]): string[] => [
  ...new Set(entrants.flatMap(({ costs }) => [...costs.keys()])),
];
const isWarm = (figure: string): boolean => /^(warm|GET|fullest)/.test(figure);

/** The report in Markdown. */
export function formatResults(
  { database, limited }: Bench,
  entrants: readonly Entrant[],
  rounds: number,
): string {
  const limits = limited
    ? '128 MB of memory; a whole core during initialisation, then 7.2 % of one in periods of 20 ms'
    : 'none, because control groups cannot be written; only CPU times are meaningful';
  const costRows = (isShown: (figure: string) => boolean, kinds: readonly Kind[]) =>
    figuresOf(entrants)
      .filter(isShown)
      .map((figure): Row => [figure, (entrant) => formatCost(entrant, figure, kinds)]);
  return `# Results of \`npm run bench\`

${describeMachine()}. Engine: dynamodb-local behind TLS. Limits: ${limits}. Means of the middle half of ${rounds} cold starts of each contender, taken in turns. Times in milliseconds.

${formatRatios(entrants)}

## Cold start

Time. Initialisation: from the start of the process until it asks for its first event. Keyed: with the header Idempotency-Key, a new one for each POST. With the limit: with INQUIRIES_PER_HOUR, too, which is not reached; all inquiries of a process are of one owner. The write units of each kind are in docs/operations.md. Memory: the peak in MB, as counted against the limit of 128 MB (a process that exceeds it is killed). Node's own program is not counted.

${table(entrants, [
  ['zip KB', ({ built }) => (built.size / 1024).toFixed(0)],
  ...costRows((figure) => !isWarm(figure), ['wall']),
  memoryRow('memory'),
])}

## Warm requests

Time / CPU of a POST of 240 characters, and of GETs of 10, 100, 1,000 and ${database.owners.fullest.count.toLocaleString('en')} inquiries, the most of this size that fit into one response. Memory: the peak after the fullest list.

${table(entrants, [...costRows(isWarm, ['wall', 'cpu']), memoryRow(FULLEST_MEMORY)])}
`;
}

const peakOf = ({ memory }: Entrant, figure: string): number => memory.get(figure) ?? Number.NaN;

/** This service divided by each of the others, and its sizes, with the targets. */
function formatRatios(entrants: readonly Entrant[]): string {
  const ours = entrants.find(({ contender }) => contender.name === 'ours');
  if (ours === undefined) return 'This service was not measured.';
  const others = entrants.filter(
    ({ contender }) => contender.name !== 'ours' && contender.constant !== true,
  );
  const ratio = (other: Entrant, figure: string, kind: Kind): string => {
    const [one, two] = [costOf(ours, figure), costOf(other, figure)];
    if (typeof one !== 'object' || typeof two !== 'object') return '–';
    return judge(
      one[kind] / two[kind],
      RATIO_LIMITS[`${figure}, ${kind}, ${other.contender.name}`],
    );
  };
  const compared = figuresOf(others).filter(
    (figure) => isWarm(figure) || figure.startsWith('initialisation +'),
  );
  return `## Ratios

This service divided by each of the others. Targets in parentheses; bold where one is missed.

${table(others, [
  ...compared.flatMap((figure): Row[] => [
    [`${figure}, time`, (other) => ratio(other, figure, 'wall')],
    [`${figure}, CPU`, (other) => ratio(other, figure, 'cpu')],
  ]),
  [
    'fullest list, memory',
    (other) => judge(peakOf(ours, FULLEST_MEMORY) / peakOf(other, FULLEST_MEMORY)),
  ],
  ['package', ({ built }) => judge(ours.built.size / built.size)],
])}

Memory with the fullest list: ${judge(peakOf(ours, FULLEST_MEMORY) / MEGABYTE, 95)} MB. Package (zip): ${judge(ours.built.size / 1024, 85)} KB.`;
}

/** A figure with its target; bold where the target is missed. */
function judge(value: number, limit?: number): string {
  if (Number.isNaN(value)) return '–';
  const text = `${value.toFixed(2)}${limit === undefined ? '' : ` (≤ ${limit})`}`;
  return limit !== undefined && value > limit ? `**${text}**` : text;
}

/** The middle cost of all processes, or the reason why there is none; undefined: not measured. */
function costOf({ costs }: Entrant, figure: string): Cost | string | undefined {
  const all = costs.get(figure);
  return all && (all.find((cost) => typeof cost === 'string') ?? middleCost(all as Cost[]));
}

function formatCost(entrant: Entrant, figure: string, kinds: readonly Kind[]): string {
  const cost = costOf(entrant, figure);
  if (typeof cost !== 'object') return cost ?? '–';
  return kinds.map((kind) => cost[kind].toPrecision(cost[kind] < 100 ? 3 : 4)).join(' / ');
}

const memoryRow = (figure: string): Row => [
  'memory',
  ({ memory }) => formatMegabytes(memory.get(figure)),
];
const formatMegabytes = (bytes?: number) =>
  bytes === undefined ? '–' : (bytes / MEGABYTE).toFixed(0);

/** A table in Markdown with a column for each contender. */
function table(entrants: readonly Entrant[], rows: readonly Row[]): string {
  return [
    ['', ...entrants.map(({ contender }) => contender.title)],
    ['---', ...entrants.map(() => '---:')],
    ...rows.map(([title, format]) => [title, ...entrants.map(format)]),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
