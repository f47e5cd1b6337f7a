/**
 * Measures this service and the other contenders, each in processes of its own under Lambda's limits: 128 MB of memory,
 * a whole core during initialisation and 7.2 % of one afterwards, where control groups can be written. See RESULTS.md.
 *
 * Usage: see below. Exit codes: 0 measured, 1 a contender failed or its responses are wrong, 2 bad use.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, runCommand } from '../lib/command-line.ts';
import { BARE, buildPackage, contenders } from './contenders.ts';
import { startDatabase } from './database.ts';
import { limitsUnavailableReason } from './limits.ts';
import { checkContender, measureColdStart, measureList, type Entrant } from './measure.ts';
import { formatResults } from './report.ts';

const USAGE = `
Usage: npm run bench -- [options]

  --quick   three cold starts instead of eleven, and the fullest list once instead of five times

Needs a JDK 17 or newer. Prints the results; without --quick, also writes them to bench/RESULTS.md.
`;

await runCommand(async () => {
  const { quick } = parseOptions(USAGE, { quick: { type: 'boolean', default: false } });
  const noLimits = await limitsUnavailableReason();
  if (noLimits !== undefined) log(`No limits: ${noLimits}. Only CPU times are meaningful.`);
  log('Starting the database and filling its table');
  await using resources = new AsyncDisposableStack();
  const database = await startDatabase();
  resources.defer(() => database.close());
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-bench-'));
  resources.defer(() => rmSync(folder, { recursive: true }));

  const bench = { database, limited: noLimits === undefined, warmRequests: quick ? 9 : 21 };
  const entrants: Entrant[] = [];
  for (const contender of contenders) {
    log(`Building and checking ${contender.title}`);
    const built = await buildPackage(contender, folder);
    const entrant = { contender, built, costs: new Map(), memory: new Map() };
    entrants.push(entrant);
    if (contender.name !== BARE) await checkContender(bench, entrant);
  }

  const rounds = quick ? 3 : 11;
  const listRounds = quick ? 1 : 5;
  for (let round = 1; round <= rounds; round++) {
    // Each begins with another, so that a busy machine and an engine that is not warm yet affect all contenders alike.
    const first = round % entrants.length;
    for (const entrant of [...entrants.slice(first), ...entrants.slice(0, first)]) {
      const { name, title, variants } = entrant.contender;
      log(`Round ${round} of ${rounds}: ${title}`);
      for (const variant of variants) await measureColdStart(bench, entrant, variant);
      if (round <= listRounds && name !== BARE) await measureList(bench, entrant);
    }
  }
  const report = formatResults(bench, entrants, rounds);
  process.stdout.write(`\n${report}`);
  if (!quick) writeFileSync(join(import.meta.dirname, 'RESULTS.md'), report);
});

function log(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
