/** Simulates a load of POSTs against the documented limits of AWS. Exit codes: 0, 2 bad use. */
import { parseOptions, runCommand, UsageError, type Main } from '../../lib/command-line.ts';
import { formatReport } from './report.ts';
import { createScenario, NUMBERS } from './scenario.ts';

const toOption = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const USAGE = `
Usage: npm run capacity -- [options]

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
  const names = Object.keys(NUMBERS);
  const types = Object.fromEntries(names.map((name) => [toOption(name), { type: 'string' as const }]));
  const values: Readonly<Record<string, unknown>> = parseOptions(USAGE, types, args);
  const given = names.flatMap((name) => {
    const text = values[toOption(name)];
    return typeof text === 'string' ? [[name, parseNumber(name, text)]] : [];
  });
  stdout.write(formatReport(createScenario(Object.fromEntries(given))));
};

if (import.meta.main) await runCommand(main);
