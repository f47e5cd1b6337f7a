/**
 * Measures this service and the other contenders, each in processes of its own under Lambda's limits: 128 MB of memory,
 * a whole core during initialisation and 7.2 % of one afterwards, where control groups can be written. See RESULTS.md.
 *
 * Usage: see below. Exit codes: 0 measured, 1 a contender failed or its responses are wrong, 2 bad use.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, runCommand, UsageError } from '../lib/command-line.ts';
import { contenders, prebuilt } from './contenders.ts';
import { startDatabase } from './database.ts';
import { limitsUnavailableReason } from './limits.ts';
import { checkContender, measureColdStart, measureLists } from './measure.ts';
import type { Bench, Entrant } from './measure.ts';
import { formatResults } from './report.ts';

const names = contenders.map(({ name }) => name);
const USAGE = `
Usage: npm run bench -- [options]

  --quick         three cold starts instead of eleven, and lists once instead of five times
  --only NAME     measure this contender only; may be repeated
                  (${names.join(', ')})
  --against ZIP   measure a package built earlier (its inquiries.zip), too; may be repeated

Needs a JDK 17 or newer. Prints the results. Without options, also writes them to bench/RESULTS.md.
`;

await runCommand(async () => {
  const { quick, only, against } = parseOptions(USAGE, {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: names },
    against: { type: 'string', multiple: true, default: [] },
  });
  const unknown = [
    ...only.filter((name) => !names.includes(name)),
    ...against.filter((zip) => !existsSync(zip)),
  ];
  if (unknown.length > 0) throw new UsageError(`There is no ${unknown.join(', ')} (see --help).`);

  const noLimits = await limitsUnavailableReason();
  if (noLimits !== undefined) log(`No limits: ${noLimits}. Only CPU times are meaningful.`);
  log('Starting the database and filling its table');
  const database = await startDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-bench-'));
  try {
    const bench: Bench = {
      database,
      limited: noLimits === undefined,
      warmRequests: quick ? 9 : 21,
    };
    const entrants: Entrant[] = [];
    const chosen = contenders.filter(({ name }) => only.includes(name));
    for (const contender of [...chosen, ...against.map(prebuilt)]) {
      log(`Building and checking ${contender.title}`);
      const target = join(folder, String(entrants.length));
      mkdirSync(target);
      const built = await contender.build(target);
      if (contender.constant !== true) {
        await checkContender(bench, built).catch((cause: Error) => {
          throw new Error(`Wrong response of ${contender.title}: ${cause.message}`, { cause });
        });
      }
      const entrant = { contender, built, costs: new Map(), memory: new Map() };
      entrants.push(entrant);
    }

    const rounds = quick ? 3 : 11;
    for (let round = 1; round <= rounds; round++) {
      for (const entrant of turns(entrants, round)) {
        log(`Cold start ${round} of ${rounds}: ${entrant.contender.title}`);
        for (const variant of entrant.built.variants) {
          await measureColdStart(bench, entrant, variant);
        }
      }
    }
    const listing = entrants.filter(({ contender }) => contender.constant !== true);
    const listRounds = quick ? 1 : 5;
    for (let round = 1; round <= listRounds; round++) {
      for (const entrant of turns(listing, round)) {
        log(`Lists ${round} of ${listRounds}: ${entrant.contender.title}`);
        await measureLists(bench, entrant);
      }
    }
    const report = formatResults(bench, entrants, rounds);
    process.stdout.write(`\n${report}`);
    if (!quick && against.length === 0 && chosen.length === names.length) {
      writeFileSync(join(import.meta.dirname, 'RESULTS.md'), report);
    }
  } finally {
    rmSync(folder, { recursive: true });
    await database.close();
  }
});

/** Each round begins with another, so that a busy machine and an engine that is not warm yet affect all contenders alike. */
function turns<T>(all: readonly T[], round: number): T[] {
  const first = round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}

function log(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
