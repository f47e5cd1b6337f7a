/**
 * Measures this service and the other contenders, each in processes of its own under Lambda's limits: 128 MB of memory,
 * a whole core during initialisation and 7.2 % of one afterwards, where control groups can be written. See RESULTS.md.
 *
 * Usage: see below. Exit codes: 0 measured, 1 a contender failed or its responses are wrong, 2 bad use.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolder, parseOptions, runCommand, UsageError } from '../lib/command-line.ts';
import { contenders, prebuilt } from './contenders.ts';
import { startDatabase } from './database.ts';
import { limitsUnavailableReason } from './limits.ts';
import {
  checkContender,
  measureColdStart,
  measureConsumption,
  measureLists,
  measureVariant,
} from './measure.ts';
import type { Bench, Entrant } from './measure.ts';
import { formatResults } from './report.ts';

const names = contenders.map(({ name }) => name);
const USAGE = `
Usage: npm run bench -- [options]

  --quick         three cold starts instead of eleven, and lists once instead of three times
  --only NAME     measure this contender only; may be repeated
                  (${names.join(', ')})
  --against ZIP   measure a package built earlier (its inquiries.zip), too; may be repeated
  --no-lists      leave out the long lists
  --out FOLDER    write RESULTS.md and results.json there (default: bench, when nothing is left out or added)
`;

await runCommand(async () => {
  const {
    quick,
    only,
    against,
    'no-lists': noLists,
    out,
  } = parseOptions(USAGE, {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: names },
    against: { type: 'string', multiple: true, default: [] },
    'no-lists': { type: 'boolean', default: false },
    out: { type: 'string' },
  });
  const unknown = [
    ...only.filter((name) => !names.includes(name)),
    ...against.filter((zip) => !existsSync(zip)),
  ];
  if (unknown.length > 0) throw new UsageError(`There is no ${unknown.join(', ')} (see --help).`);

  if (out !== undefined) openFolder(out, 'output');
  const noLimits = limitsUnavailableReason();
  if (noLimits !== undefined) log(`No limits: ${noLimits}. Only CPU times are meaningful.`);
  log('Starting the database and filling its table');
  const database = await startDatabase();
  const hasTransactions = database.engine !== 'dynalite';
  if (!hasTransactions) log(`No POST with a key: ${database.engine} has no transactions.`);
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-bench-'));
  try {
    const bench: Bench = { database, limited: noLimits === undefined, warmRequests: quick ? 9 : 21 };
    const entrants: Entrant[] = [];
    const chosen = contenders.filter(({ name }) => only.includes(name));
    for (const contender of [...chosen, ...against.map(prebuilt)]) {
      log(`Building and checking ${contender.title}`);
      const target = join(folder, String(entrants.length));
      mkdirSync(target);
      const complete = await contender.build(target);
      const built = hasTransactions ? complete : { ...complete, hasKeys: false };
      if (contender.constant !== true) {
        await checkContender(bench, built).catch((cause: Error) => {
          throw new Error(`Wrong response of ${contender.title}: ${cause.message}`, { cause });
        });
      }
      const consumption = built.hasKeys === true ? await measureConsumption(bench, built) : {};
      entrants.push({ contender, built, coldStarts: [], variants: [], lists: [], consumption });
    }

    // In turns, so that other load on the machine affects all contenders alike.
    const rounds = quick ? 3 : 11;
    for (let round = 1; round <= rounds; round++) {
      for (const entrant of entrants) {
        log(`Cold start ${round} of ${rounds}: ${entrant.contender.title}`);
        entrant.coldStarts.push(await measureColdStart(bench, entrant));
        const { hasKeys = false, hasLimit = false } = entrant.built;
        if (hasKeys) entrant.variants.push(await measureVariant(bench, entrant, 'Keyed'));
        if (hasLimit) entrant.variants.push(await measureVariant(bench, entrant, 'Limited'));
      }
    }
    const working = entrants.filter(({ contender }) => contender.constant !== true);
    const listRounds = noLists ? 0 : quick ? 1 : 3;
    for (let round = 1; round <= listRounds; round++) {
      for (const entrant of working) {
        log(`Lists ${round} of ${listRounds}: ${entrant.contender.title}`);
        entrant.lists.push(await measureLists(bench, entrant));
      }
    }
    const report = formatResults(bench, entrants);
    process.stdout.write(`\n${report}`);
    const isWhole = !quick && !noLists && against.length === 0 && chosen.length === names.length;
    const target = out ?? (isWhole ? import.meta.dirname : undefined);
    if (target !== undefined) {
      writeFileSync(join(target, 'RESULTS.md'), report);
      writeFileSync(join(target, 'results.json'), `${JSON.stringify(entrants, null, 2)}\n`);
      log(`Wrote RESULTS.md and results.json to ${target}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
    await database.close();
  }
});

function log(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
