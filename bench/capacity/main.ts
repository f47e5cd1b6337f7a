/** Simulates a load of POSTs against the documented limits of AWS. Exit codes: 0, 1 the plot cannot be written, 2 bad use. */
import { writeFileSync } from 'node:fs';
import { parseOptions, runCommand, UsageError } from '../../lib/command-line.ts';
import type { Main } from '../../lib/command-line.ts';
import { formatReport, plotLoad } from './report.ts';
import { createScenario, MODELS, NUMBERS } from './scenario.ts';
import { simulate } from './simulate.ts';

const toOption = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const names = Object.keys(MODELS).join(', ');
const USAGE = `
Usage: npm run capacity -- [options]

  --model NAME         ${names} (one index key; today; today with raised quotas); default: all
  --plot FILE          also plot stored against offered load up to twice the rate (SVG)
${Object.entries(NUMBERS)
  .map(([name, [value, , , text]]) => `  --${`${toOption(name)} N`.padEnd(18)} ${text} (${value})`)
  .join('\n')}
`;

function parseNumber(name: string, text: string): number {
  const [value, least, most] = NUMBERS[name as keyof typeof NUMBERS];
  const number = text.trim() === '' ? NaN : Number(text);
  const isWhole = Number.isInteger(value) && value >= 1;
  if (number >= least && number <= most && (!isWhole || Number.isInteger(number))) return number;
  const kind = isWhole ? 'a whole number' : 'a number';
  throw new UsageError(`--${toOption(name)} must be ${kind} from ${least} to ${most}, not '${text}'`);
}

export const main: Main = async (args, { stdout }) => {
  const options = ['model', 'plot', ...Object.keys(NUMBERS).map(toOption)];
  const types = Object.fromEntries(options.map((option) => [option, { type: 'string' as const }]));
  const values: Readonly<Record<string, unknown>> = parseOptions(USAGE, types, args);
  const given: Record<string, number> = {};
  for (const name of Object.keys(NUMBERS)) {
    const text = values[toOption(name)];
    if (typeof text === 'string') given[name] = parseNumber(name, text);
  }
  const { model, plot } = values;
  if (typeof model === 'string' && !Object.hasOwn(MODELS, model))
    throw new UsageError(`--model must be one of ${names}, not '${model}'`);
  const run = (name: string) => {
    const scenario = createScenario(name, given);
    return { name, scenario, result: simulate(scenario) };
  };
  const [first = '', ...others] = typeof model === 'string' ? [model] : Object.keys(MODELS);
  stdout.write(formatReport([run(first), ...others.map(run)]));
  if (typeof plot === 'string') writeFileSync(plot, plotLoad(given));
};

if (import.meta.main) await runCommand(main);
