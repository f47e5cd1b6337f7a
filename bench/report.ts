/** From measurements to tables. */
import { cpus, release } from 'node:os';
import { listNames, maximum, median, medianCost } from './measure.ts';
import type { BodyOutcome, ColdStart, ListName, Lists } from './measure.ts';
import type { Cost, Memory } from './sandbox.ts';

/** One contender: medians over its processes. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** Bytes. */
  readonly size: number;
  readonly initialisation: Cost;
  readonly firstPost: Cost;
  readonly firstGet: Cost;
  /** Milliseconds from nothing to the first POST's answer. */
  readonly toFirstPost: number;
  readonly sum: number;
  readonly warmPost: Cost;
  readonly warmGet: Cost;
  /** After usual requests. */
  readonly memory: Memory;
  /** A string says why there is none; undefined: not measured. */
  readonly lists: Readonly<Record<ListName, Cost | string | undefined>>;
  readonly listMemory: Memory | string | undefined;
  readonly bodies: readonly BodyOutcome[];
}

export interface Results {
  readonly machine: string;
  readonly engine: string;
  readonly limited: boolean;
  readonly rounds: number;
  /** Inquiries in the fullest list. */
  readonly fullest: number;
  readonly rows: readonly Row[];
}

export interface Measurements {
  readonly name: string;
  readonly title: string;
  readonly size: number;
  readonly coldStarts: readonly ColdStart[];
  readonly lists: readonly Lists[];
  readonly bodies: readonly BodyOutcome[];
}

export function describeMachine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, Node ${process.versions.node}, ${process.platform} ${release()} ${process.arch}, ${processors.length} × ${model}`;
}

export function summarise({ coldStarts, lists, bodies, ...entrant }: Measurements): Row {
  const cost = (name: 'initialisation' | 'firstPost' | 'firstGet' | 'warmPost' | 'warmGet'): Cost =>
    medianCost(coldStarts.map((start) => start[name]));
  const ofList = (name: ListName): Cost | string | undefined => {
    const costs = lists.map((list) => list.costs[name]);
    return (
      costs.find((value) => typeof value === 'string') ??
      (costs.length > 0 ? medianCost(costs as Cost[]) : undefined)
    );
  };
  const memories = lists.map(({ memory }) => memory);
  return {
    ...entrant,
    initialisation: cost('initialisation'),
    firstPost: cost('firstPost'),
    firstGet: cost('firstGet'),
    toFirstPost: median(
      coldStarts.map(({ initialisation, firstPost }) => initialisation.wall + firstPost.wall),
    ),
    sum: median(
      coldStarts.map(
        ({ initialisation, firstPost, firstGet }) => initialisation.wall + firstPost.wall + firstGet.wall,
      ),
    ),
    warmPost: cost('warmPost'),
    warmGet: cost('warmGet'),
    memory: maximum(coldStarts.map(({ memory }) => memory)),
    lists: { hundred: ofList('hundred'), thousand: ofList('thousand'), fullest: ofList('fullest') },
    listMemory:
      memories.find((value) => typeof value === 'string') ??
      (memories.length > 0 ? maximum(memories as Memory[]) : undefined),
    bodies,
  };
}

const MEGABYTE = 1024 * 1024;

interface Target {
  readonly figure: string;
  /** Our figure and the one it is compared with; undefined when one of them is missing. */
  readonly value: number | undefined;
  readonly limit: number;
  readonly unit: string;
}

const megabytes = (figure: string, memory: Memory | string | undefined, kind: keyof Memory): Target => ({
  figure: `peak memory, ${figure}`,
  value: typeof memory === 'object' ? memory[kind] / MEGABYTE : undefined,
  limit: 105,
  unit: ' MB',
});

/** The targets, as ratios of this run. */
function judge(rows: readonly Row[]): Target[] {
  const find = (name: string): Row | undefined => rows.find((row) => row.name === name);
  const [ours, hand] = [find('ours'), find('hand-written')];
  const ratio = (
    figure: string,
    limit: number,
    other: Row | undefined,
    read: (row: Row) => number | undefined,
  ): Target => {
    const [one, two] = [ours && read(ours), other && read(other)];
    return {
      figure: `${figure} ÷ ${other?.title ?? 'peer'}`,
      value: one !== undefined && two !== undefined ? one / two : undefined,
      limit,
      unit: ' ×',
    };
  };
  const listCost = (name: ListName, kind: keyof Cost) => (row: Row) => {
    const cost = row.lists[name];
    return typeof cost === 'object' ? cost[kind] : undefined;
  };
  const start = (row: Row): number => row.toFirstPost;
  return [
    ratio('initialisation + first POST', 0.3, find('middy-powertools'), start),
    ratio('initialisation + first POST', 0.5, find('plain'), start),
    ratio('initialisation + first POST', 1.25, hand, start),
    ratio('warm POST, CPU', 1.3, hand, (row) => row.warmPost.cpu),
    ratio('GET of 100, CPU', 1.3, hand, listCost('hundred', 'cpu')),
    ratio('GET of the fullest, time', 1.25, hand, listCost('fullest', 'wall')),
    ratio('GET of the fullest, CPU', 1.25, hand, listCost('fullest', 'cpu')),
    megabytes('fullest response, counted against the limit', ours?.listMemory, 'counted'),
    megabytes('largest body, counted against the limit', ours && worstMemory(ours), 'counted'),
    megabytes("fullest response, resident with Node's program", ours?.listMemory, 'resident'),
    megabytes("largest body, resident with Node's program", ours && worstMemory(ours), 'resident'),
    { figure: 'package (zip)', value: ours && ours.size / 1024, limit: 150, unit: ' KB' },
  ];
}

/** Of all large bodies; infinite when one of them ended the process. */
function worstMemory({ bodies }: Row): Memory | undefined {
  const infinite = { resident: Number.POSITIVE_INFINITY, counted: Number.POSITIVE_INFINITY };
  return bodies.length === 0 ? undefined : maximum(bodies.map(({ memory = infinite }) => memory));
}

/** The whole report in Markdown. */
export function formatResults(results: Results): string {
  const { rows } = results;
  return `# Results of \`npm run bench\`

${results.machine}. Engine: ${results.engine} behind TLS. Limits: ${
    results.limited
      ? '128 MB; a whole core during initialisation, then 7.2 % of one in periods of 20 ms'
      : 'none, because control groups could not be written: only the CPU times mean something'
  }. Medians over ${results.rounds} cold starts of each contender, taken in turns; times in milliseconds.

![Time to the first answers, and lists by length](chart.svg)

## Targets

${table(
  ['figure', 'measured', 'at most', ''],
  judge(rows).map(({ figure, value, limit, unit }) => [
    figure,
    value === undefined ? '–' : `${value.toFixed(2)}${unit}`,
    `${limit}${unit}`,
    value === undefined
      ? 'not measured'
      : value <= limit
        ? 'met'
        : `missed by ${Math.round((value / limit - 1) * 100)} %`,
  ]),
)}

## Cold start

Initialisation runs from the start of the process until it asks for its first event. Memory is the peak in MB: counted
against the limit of 128 MB, for which a process is killed / resident, with Node's own program, which Linux may drop
and read again.

${table(
  [
    'contender',
    'zip KB',
    'initialisation',
    'first POST',
    'first GET',
    'init + POST',
    'sum of three',
    'memory MB',
  ],
  rows.map((row) => [
    row.title,
    (row.size / 1024).toFixed(0),
    row.initialisation.wall.toFixed(0),
    row.firstPost.wall.toFixed(0),
    row.firstGet.wall.toFixed(0),
    row.toFirstPost.toFixed(0),
    row.sum.toFixed(0),
    formatMemory(row.memory),
  ]),
)}

## Warm requests

A POST of 240 characters and a GET of ten inquiries: time and CPU.

${table(
  ['contender', 'POST', 'POST CPU', 'GET', 'GET CPU'],
  rows.map(({ title, warmPost, warmGet }) => [
    title,
    warmPost.wall.toFixed(1),
    warmPost.cpu.toFixed(2),
    warmGet.wall.toFixed(1),
    warmGet.cpu.toFixed(2),
  ]),
)}

## Long lists

GET of 100, of 1,000 and of ${results.fullest.toLocaleString('en')} inquiries, the most of this size that fit into one response: time
and CPU; peak memory after the fullest; and what each inquiry adds, in microseconds of CPU, from 100 to 1,000 and
from there to the fullest.

${table(
  [
    'contender',
    '100',
    'CPU',
    '1,000',
    'CPU',
    'fullest',
    'CPU',
    'memory MB',
    'µs each to 1,000',
    'to the fullest',
  ],
  rows.filter(({ listMemory }) => listMemory !== undefined).map((row) => formatLists(row, results.fullest)),
)}

## Large bodies

Bodies that fill Lambda's 6 MB, each sent to a process of its own: the status, or why there is none; where it is not
what the contract says, in bold; then time, CPU, and peak memory (counted / resident, in MB).

${formatBodies(rows)}
`;
}

function formatLists({ title, lists, listMemory }: Row, fullest: number): string[] {
  const cells = listNames.flatMap((name) => {
    const cost = lists[name];
    return typeof cost === 'object' ? [cost.wall.toFixed(0), cost.cpu.toFixed(1)] : [cost || '–', '–'];
  });
  const cpu = (name: ListName): number => {
    const cost = lists[name];
    return typeof cost === 'object' ? cost.cpu : Number.NaN;
  };
  const growth = (from: ListName, to: ListName, count: number): string => {
    const each = ((cpu(to) - cpu(from)) / count) * 1_000;
    return Number.isNaN(each) ? '–' : each.toFixed(1);
  };
  return [
    title,
    ...cells,
    typeof listMemory === 'object' ? formatMemory(listMemory) : '–',
    growth('hundred', 'thousand', 900),
    growth('thousand', 'fullest', fullest - 1_000),
  ];
}

const formatMemory = ({ counted, resident }: Memory): string =>
  `${(counted / MEGABYTE).toFixed(0)} / ${(resident / MEGABYTE).toFixed(0)}`;

function formatBodies(rows: readonly Row[]): string {
  const measured = rows.filter(({ bodies }) => bodies.length > 0);
  const [first] = measured;
  if (first === undefined) return 'Not measured.';
  return table(
    ['body', 'contract', ...measured.map(({ title }) => title)],
    first.bodies.map(({ name, expected }, index) => {
      const cells = measured.map(({ bodies }) => formatOutcome(bodies[index]));
      return [`\`${name}\``, String(expected)].concat(cells);
    }),
  );
}

function formatOutcome(body: BodyOutcome | undefined): string {
  if (body === undefined) return '–';
  const { outcome, expected, cost, memory } = body;
  const status = outcome === expected ? String(outcome) : `**${outcome}**`;
  if (cost === undefined || memory === undefined) return status;
  return `${status}, ${cost.wall.toFixed(0)}, ${cost.cpu.toFixed(0)}, ${formatMemory(memory)}`;
}

export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [head, rule, ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
