/** Simulates a load of POSTs against the documented limits of AWS. Exit codes: 0, 1 the plot cannot be written, 2 bad use. */
import { writeFileSync } from 'node:fs';
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

/** Plots what is stored of loads up to twice the rate, by tables that have served them before. */
export function plotLoad({ rate, keyed }: Load): string {
  const title = `Inquiries stored a second, ${keyed * 100} % with an Idempotency-Key`;
  const x = (value: number) => 70 + (value / rate) * 280;
  const y = (value: number) => 380 - (value / rate) * 165;
  const ticks = [0, 0.5, 1, 1.5, 2].map((tick) => {
    const value = tick * rate;
    return `<path d="M70 ${y(value)}H630" stroke="#ddd"/><text x="62" y="${y(value)}" dy="4" text-anchor="end">${count(value)}</text><text x="${x(value)}" y="400" text-anchor="middle">${count(value)}</text>`;
  });
  const plot = (name: keyof typeof MODELS, colour: string): string => {
    const quotas = { ...MODELS[name], warm: MODELS[name].table };
    const most = simulate({ rate: 2 * rate, keyed }, quotas, 1)[0]?.stored ?? 0;
    return `<path d="M70 380L${x(most)} ${y(most)}H630" fill="none" stroke="${colour}" stroke-width="2.5"/><text x="640" y="${y(most)}" dy="4" fill="${colour}">${name} quotas: ${count(most)}</text>`;
  };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 440" font-family="sans-serif" font-size="13">
<title>${title}</title><rect width="860" height="440" fill="#fff"/><text x="70" y="26" font-size="15" font-weight="bold">${title}</text>
${ticks.join('')}
<text x="350" y="424" text-anchor="middle">POSTs a second</text><path d="M70 380L630 50" stroke="#888" stroke-dasharray="4 4"/><text x="640" y="54" fill="#666">all of them</text>
${plot('raised', '#1b7a3d')}
${plot('default', '#1a56a6')}
</svg>
`;
}

const USAGE = `
Usage: npm run capacity -- [options]

  --rate N      POSTs a second (default: 10000)
  --keyed N     share of them with an Idempotency-Key, from 0 to 1 (default: 0.9)
  --plot FILE   also plot stored against offered load up to twice the rate (SVG)
`;

export const main: Main = async (args, { stdout }) => {
  const options = parseOptions(
    USAGE,
    {
      rate: { type: 'string', default: '10000' },
      keyed: { type: 'string', default: '0.9' },
      plot: { type: 'string' },
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
  if (options.plot !== undefined) writeFileSync(options.plot, plotLoad(load));
};

if (import.meta.main) await runCommand(main);
