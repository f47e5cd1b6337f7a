import { cpus } from 'node:os';
import type { Cost } from '../local/lambda/sandbox.ts';
import { OURS } from './contenders.ts';

export interface Results {
  title: string;
  size: number;
  /** By process. A string says why it ended. */
  costs: Map<string, (Cost | string)[]>;
  /** The peak of all processes in bytes; 0 without limits. */
  memory: number;
}

/** The most that this service's figure, divided by the other's, may be. */
const TARGETS: [figure: string, kind: keyof Cost, other: string, most: number][] = [
  ['initialisation + first POST', 'wall', 'Middy + Powertools + zod', 0.18],
  ['initialisation + first keyed POST', 'wall', 'Middy + Powertools + zod', 0.3],
  ['initialisation + first POST', 'wall', 'hand-written SigV4', 0.8],
  ['warm POST', 'wall', 'hand-written SigV4', 1],
  ['warm POST', 'cpu', 'hand-written SigV4', 1],
  ['GET of 10', 'cpu', 'hand-written SigV4', 1.1],
  ['fullest list', 'wall', 'hand-written SigV4', 1.05],
  ['fullest list', 'cpu', 'hand-written SigV4', 1.05],
];
const NAMES = { wall: 'time', cpu: 'CPU' };

export function formatResults(all: Results[], rounds: number, isLimited: boolean): string {
  const [processor] = cpus();
  const machine = `${process.platform}, ${cpus().length} × ${processor?.model.trim()}`;
  const limits = isLimited
    ? '128 MB of memory; a whole core during initialisation, then 7.2 % of one in periods of 20 ms'
    : 'none; only CPU times are meaningful';
  const figures = new Set(all.flatMap(({ costs }) => [...costs.keys()]));
  const byTitle = new Map(all.map((results) => [results.title, results]));
  const row = (title: string, format: (one: Results) => string) => [title].concat(all.map(format));
  return `# Results of \`npm run bench\`

${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${machine}. Engine: DynamoDB Local behind TLS. Limits: ${limits}.

## Time / CPU

In milliseconds: means of the middle half of ${rounds} cold starts, taken in turns. Initialisation ends when the process asks for its first event. A POST has 240 characters, a keyed one a new Idempotency-Key; the fullest list is the longest that fits into one response.

${table(
  ['', ...all.map(({ title }) => title)],
  [
    ...[...figures].map((figure) => row(figure, (one) => formatCost(costOf(one, figure)))),
    row('peak of memory, MB', ({ memory }) => (memory === 0 ? '–' : (memory / 2 ** 20).toFixed(0))),
    row('zip, KB', ({ size }) => (size / 1024).toFixed(0)),
  ],
)}

## Targets

This service divided by the other. Bold where the target is missed.

${table(
  ['', 'divided by', 'is', 'at most'],
  TARGETS.map(([figure, kind, other, most]) => {
    const [one, two] = [OURS, other].map((title) => costOf(byTitle.get(title), figure));
    const ratio = typeof one === 'object' && typeof two === 'object' ? one[kind] / two[kind] : NaN;
    const text = ratio.toFixed(2);
    return [`${figure}, ${NAMES[kind]}`, other, ratio <= most ? text : `**${text}**`, `${most}`];
  }),
)}
`;
}

/** A string says why there is none; undefined: it was not measured. */
function costOf(results: Results | undefined, figure: string): Cost | string | undefined {
  const costs = results?.costs.get(figure);
  return costs && (costs.find((cost) => typeof cost === 'string') ?? middleCost(costs as Cost[]));
}

function formatCost(cost: Cost | string | undefined): string {
  if (typeof cost !== 'object') return cost ?? '–';
  return [cost.wall, cost.cpu]
    .map((value) => (value < 100 ? value.toPrecision(3) : value.toFixed(0)))
    .join(' / ');
}

/** The mean of the middle half. Medians would jump, because waits come in steps of 20 ms. */
export function middleCost(costs: Cost[]): Cost {
  const cut = Math.floor(costs.length / 4);
  const middle = (kind: keyof Cost): number => {
    const values = costs.map((cost) => cost[kind]).toSorted((one, other) => one - other);
    const kept = values.slice(cut, values.length - cut);
    return kept.reduce((sum, value) => sum + value, 0) / kept.length;
  };
  return { wall: middle('wall'), cpu: middle('cpu') };
}

const table = (head: string[], rows: string[][]): string =>
  [head, head.map((_, at) => (at === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
