import { parseCommandLine } from '../lib/command-line.ts';
import type { Io } from '../lib/command-line.ts';
import { recordAnswer } from './answer.ts';
import { parseId } from './arguments.ts';
import type { Connect } from './connect.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] dismiss ID [options]

Marks an inquiry as answered without a reply: it was answered elsewhere or needs no answer. No mail is sent, and it
cannot be undone.

  --json  one JSON object on a terminal, too

Exit codes: 0 dismissed, 1 failed, 2 bad usage, 3 already answered or dismissed.
`;

export async function dismissInquiry(connect: Connect, args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseCommandLine(USAGE, { json: { type: 'boolean' } }, { args });
  return recordAnswer(connect(), parseId(positionals, 'dismiss'), { json: values.json }, io);
}
