/**
 * Measures this service and its peers, each as its own process under Lambda's limits: 128 MB, a whole core while it
 * initialises and 7.2 % of one afterwards, where control groups can be written. See RESULTS.md.
 *
 * Usage: see below. Exit codes: 0 measured, 1 a contender failed or answered wrongly, 2 bad use.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, runCommand, UsageError } from '../scripts/cli.ts';
import { drawChart } from './chart.ts';
import { contenders } from './contenders.ts';
import type { Contender, Package } from './contenders.ts';
import { startDatabase } from './database.ts';
import { limitsUnavailableReason } from './limits.ts';
import { checkContender, measureBodies, measureColdStart, measureLists } from './measure.ts';
import type { Bench, BodyOutcome, ColdStart, Lists } from './measure.ts';
import { describeMachine, formatResults, summarise } from './report.ts';

const names = contenders.map(({ name }) => name);
const USAGE = `
Usage: npm run bench -- [options]

  --quick         three cold starts instead of eleven, and lists once instead of three times
  --only NAME     measure this contender alone; may be repeated
                  (${names.join(', ')})
  --skip PART     leave out a part: lists, bodies; may be repeated
  --out FOLDER    write RESULTS.md, chart.svg and results.json there (default: bench, when nothing is left out)
`;

interface Entrant {
  readonly contender: Contender;
  readonly built: Package;
  readonly coldStarts: ColdStart[];
  readonly lists: Lists[];
  bodies: BodyOutcome[];
}

await runCommand(async () => {
  const { quick, only, skip, out } = parseOptions(USAGE, {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: names },
    skip: { type: 'string', multiple: true, default: [] },
    out: { type: 'string' },
  });
  const unknown = [
    ...only.filter((name) => !names.includes(name)),
    ...skip.filter((part) => part !== 'lists' && part !== 'bodies'),
  ];
  if (unknown.length > 0) throw new UsageError(`There is no ${unknown.join(', ')} (see --help).`);

  const obstacle = limitsUnavailableReason();
  if (obstacle !== undefined) {
    say(`No limits: ${obstacle}. Only CPU times mean something.`);
  }
  say('Starting the database and filling its table');
  const database = await startDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-bench-'));
  try {
    const bench: Bench = { database, limited: obstacle === undefined, warmRequests: quick ? 10 : 20 };
    const entrants: Entrant[] = [];
    for (const contender of contenders.filter(({ name }) => only.includes(name))) {
      say(`Building and checking ${contender.title}`);
      const target = join(folder, contender.name);
      mkdirSync(target);
      const built = await contender.build(target);
      if (contender.constant !== true) {
        await checkContender(bench, built).catch((cause: Error) => {
          throw new Error(`${contender.title} answers wrongly: ${cause.message}`, { cause });
        });
      }
      entrants.push({ contender, built, coldStarts: [], lists: [], bodies: [] });
    }

    // Round by round, so that what else happens on the machine meets all of them alike.
    const rounds = quick ? 3 : 11;
    for (let round = 1; round <= rounds; round++) {
      for (const { contender, built, coldStarts } of entrants) {
        say(`Cold start ${round} of ${rounds}: ${contender.title}`);
        coldStarts.push(await measureColdStart(bench, contender, built));
      }
    }
    const working = entrants.filter(({ contender }) => contender.constant !== true);
    const listRounds = skip.includes('lists') ? 0 : quick ? 1 : 3;
    for (let round = 1; round <= listRounds; round++) {
      for (const { contender, built, lists } of working) {
        say(`Lists ${round} of ${listRounds}: ${contender.title}`);
        lists.push(await measureLists(bench, built));
      }
    }
    if (!skip.includes('bodies')) {
      for (const entrant of working) {
        say(`Large bodies: ${entrant.contender.title}`);
        entrant.bodies = await measureBodies(bench, entrant.built);
      }
    }

    const results = {
      machine: describeMachine(),
      engine: database.engine,
      limited: bench.limited,
      rounds,
      fullest: database.owners.fullest.count,
      rows: entrants.map(({ contender, built, coldStarts, lists, bodies }) =>
        summarise({
          name: contender.name,
          title: contender.title,
          size: built.size,
          coldStarts,
          lists,
          bodies,
        }),
      ),
    };
    const report = formatResults(results);
    process.stdout.write(`\n${report}`);
    const whole = !quick && skip.length === 0 && entrants.length === contenders.length;
    const target = out ?? (whole ? import.meta.dirname : undefined);
    if (target !== undefined) {
      writeFileSync(join(target, 'RESULTS.md'), report);
      writeFileSync(join(target, 'chart.svg'), drawChart(results));
      writeFileSync(join(target, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
      say(`Wrote RESULTS.md, chart.svg and results.json to ${target}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
    await database.close();
  }
});

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
