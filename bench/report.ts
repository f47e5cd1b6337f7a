/** The benchmark's report. */
import { cpus } from 'node:os';
import type { Cost } from '../local/lambda/sandbox.ts';
import { BARE, OURS } from './contenders.ts';
import { middleCost, type Bench, type Entrant } from './measure.ts';

type Format = (entrant: Entrant) => string;
type Row = [title: string, format: Format];

const KINDS = { time: 'wall', CPU: 'cpu' } as const;
/** The targets: the most that a ratio of this service to a contender may be. */
const TARGETS: Record<string, Record<string, number>> = {
  'middy-powertools': {
    'initialisation + first POST, time': 0.2,
    'initialisation + first keyed POST, time': 0.3,
  },
  plain: { 'initialisation + first POST, time': 0.5 },
  'hand-written': {
    'initialisation + first POST, time': 0.9,
    'initialisation + first POST, CPU': 1.2,
    'warm POST, time': 1,
    'warm POST, CPU': 1,
    'GET of 10, CPU': 1.1,
    'fullest list, time': 1.05,
    'fullest list, CPU': 1.05,
  },
};
const FULLEST_MEMORY = 'memory, fullest list';

const isCold = (figure: string): boolean => /first|^initialisation$/.test(figure);

/** The report in Markdown. */
export function formatResults(
  { database, limited }: Bench,
  entrants: Entrant[],
  rounds: number,
): string {
  const [processor] = cpus();
  const machine = `${process.platform}, ${cpus().length} × ${processor?.model.trim()}`;
  const limits = limited
    ? '128 MB of memory; a whole core during initialisation, then 7.2 % of one in periods of 20 ms'
    : 'none; only CPU times are meaningful';
  const figures = listFigures(entrants);
  return `# Results of \`npm run bench\`

${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${machine}. Engine: dynamodb-local behind TLS. Limits: ${limits}. Means of the middle half of ${rounds} cold starts, taken in turns, in milliseconds.

## Ratios

This service divided by each of the others. Targets in parentheses; bold where one is missed.

${formatRatios(entrants)}

## Cold start: time

Initialisation ends when the process asks for its first event. Keyed: with a new Idempotency-Key for each POST. Memory: the peak in MB.

${table(entrants, [
  ['zip KB', ({ built }) => formatNumber(built.size / 1024, 0)],
  ...figures.filter(isCold).map((figure): Row => [figure, formatCost(figure, ['wall'])]),
  ['memory', (entrant) => formatNumber(peakOf(entrant, 'memory'), 0)],
])}

## Warm requests: time / CPU

A POST of 240 characters, GETs of 10 and of ${database.owners.fullest.count} inquiries, the most that fit into one response.

${table(entrants, [
  ...figures
    .filter((figure) => !isCold(figure))
    .map((figure): Row => [figure, formatCost(figure, ['wall', 'cpu'])]),
  ['memory', (entrant) => formatNumber(peakOf(entrant, FULLEST_MEMORY), 0)],
])}
`;
}

const listFigures = (entrants: Entrant[]): string[] => [
  ...new Set(entrants.flatMap(({ costs }) => [...costs.keys()])),
];

/** This service divided by each of the others, and its sizes, with the targets. */
function formatRatios(entrants: Entrant[]): string {
  const ours = entrants.find(({ contender }) => contender.name === OURS);
  if (ours === undefined) throw new Error('This service was not measured.');
  const others = entrants.filter(({ contender: { name } }) => name !== OURS && name !== BARE);
  const compared = listFigures(others).filter((figure) => !/^(first|initialisation$)/.test(figure));
  const ratios = compared.flatMap((figure) =>
    Object.entries(KINDS).map(([name, kind]): Row => {
      const title = `${figure}, ${name}`;
      return [
        title,
        (other) => {
          const [one, two] = [costOf(ours, figure), costOf(other, figure)];
          if (typeof one !== 'object' || typeof two !== 'object') return '–';
          return judge(one[kind] / two[kind], TARGETS[other.contender.name]?.[title]);
        },
      ];
    }),
  );
  const peak = peakOf(ours, FULLEST_MEMORY);
  return `${table(others, [
    ...ratios,
    ['fullest list, memory', (other) => judge(peak / peakOf(other, FULLEST_MEMORY))],
    ['package', ({ built }) => judge(ours.built.size / built.size)],
  ])}

Memory with the fullest list: ${judge(peak, 95)} MB. Package (zip): ${judge(ours.built.size / 1024, 85)} KB.`;
}

/** A figure with its target; bold where the target is missed. */
function judge(value: number, target?: number): string {
  if (target === undefined) return formatNumber(value, 2);
  const text = `${formatNumber(value, 2)} (≤ ${target})`;
  return value > target ? `**${text}**` : text;
}

/** Megabytes; NaN where nothing was counted. */
const peakOf = ({ memory }: Entrant, figure: string): number =>
  (memory.get(figure) ?? Number.NaN) / 2 ** 20;

const formatNumber = (value: number, digits: number): string =>
  Number.isNaN(value) ? '–' : value.toFixed(digits);

/** The middle cost of all processes, or the reason why there is none; undefined: not measured. */
function costOf({ costs }: Entrant, figure: string): Cost | string | undefined {
  const all = costs.get(figure);
  return all && (all.find((cost) => typeof cost === 'string') ?? middleCost(all as Cost[]));
}

const formatCost =
  (figure: string, kinds: (keyof Cost)[]): Format =>
  (entrant) => {
    const cost = costOf(entrant, figure);
    if (typeof cost !== 'object') return cost ?? '–';
    return kinds.map((kind) => cost[kind].toPrecision(cost[kind] < 100 ? 3 : 4)).join(' / ');
  };

/** A table in Markdown with a column for each contender. */
const table = (entrants: Entrant[], rows: Row[]): string =>
  [
    ['', ...entrants.map(({ contender }) => contender.title)],
    ['---', ...entrants.map(() => '---:')],
    ...rows.map(([title, format]) => [title, ...entrants.map(format)]),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
