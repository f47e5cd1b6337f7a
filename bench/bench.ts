/**
 * Measures the contenders, each in processes of its own under Lambda's limits, if control groups can be written: 128
 * MB, and a whole core during initialisation, then 7.2 % of one.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, runCommand } from '../lib/terminal/command-line.ts';
import { startSandbox, type Cost, type Sandbox } from '../local/lambda/sandbox.ts';
import { BARE, buildPackage, contenders, type Variant } from './contenders.ts';
import { makeOwner, startDatabase, type Owner } from './database.ts';
import { createLimits, limitsUnavailableReason } from '../local/lambda/limits.ts';
import { formatResults, middleCost, type Results } from './report.ts';
import { check, checkContract, makeEvent, makePost } from './requests.ts';

const USAGE = `
Usage: npm run bench -- [options]

  --quick   three cold starts instead of eleven, and the fullest list once instead of five times

Needs a JDK 17 or newer. Prints the results; without --quick, also writes them to bench/RESULTS.md.
`;

await runCommand(async () => {
  const { quick } = parseOptions(USAGE, { quick: { type: 'boolean', default: false } });
  const [rounds, listRounds, requests] = quick ? [3, 1, 9] : [11, 5, 21];
  const noLimits = await limitsUnavailableReason();
  if (noLimits !== undefined) log(`No limits: ${noLimits}. Only CPU times are meaningful.`);
  log('Starting the database and filling its table');
  await using resources = new AsyncDisposableStack();
  const database = await startDatabase(resources);
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-bench-'));
  resources.defer(() => rmSync(folder, { recursive: true }));

  const entrants = [];
  for (const contender of contenders) {
    const { title, variants } = contender;
    log(`Building and checking ${title}`);
    const built = await buildPackage(contender, folder);
    const results: Results = { ...built, costs: new Map(), memory: 0 };
    const record = (figure: string, cost: Cost | string): void =>
      void results.costs.set(figure, [...(results.costs.get(figure) ?? []), cost]);
    const run = async (
      use: (sandbox: Sandbox) => Promise<void>,
      INQUIRIES_PER_HOUR = '',
    ): Promise<void> => {
      await using own = new AsyncDisposableStack();
      const limits = noLimits === undefined ? createLimits() : undefined;
      own.defer(async () => limits?.remove());
      const sandbox = await startSandbox({
        module: built.module,
        environment: { ...database.environment, INQUIRIES_PER_HOUR },
        before: limits?.enter,
      });
      own.defer(() => sandbox.close());
      limits?.throttle();
      await use(sandbox);
      results.memory = Math.max(limits?.peakMemory() ?? 0, results.memory);
    };
    const invoke = async (
      sandbox: Sandbox,
      event: string,
      verify: (result: string) => void,
    ): Promise<Cost> => {
      const { result, ...cost } = await sandbox.invoke(event);
      if (title !== BARE) verify(result);
      return cost;
    };
    const list = (sandbox: Sandbox, owner: Owner): Promise<Cost> =>
      invoke(sandbox, makeEvent({ method: 'GET', owner }), (result) => check.list(result, owner));

    const measureColdStart = async (variant: Variant): Promise<void> => {
      const hasLimit = variant === 'keyed POST with the limit';
      const sender = makeOwner();
      const nextPost = () => {
        // With the limit, one owner sends all, so that there is something to count.
        const owner = hasLimit ? sender : makeOwner();
        const key = variant === 'POST' ? undefined : crypto.randomUUID();
        return { owner, event: makePost(owner, key) };
      };
      const measure = async (sandbox: Sandbox): Promise<void> => {
        const post = () => {
          const { owner, event } = nextPost();
          return invoke(sandbox, event, (result) => void check.created(result, owner));
        };
        const { initialisation } = sandbox;
        const first = await post();
        record(`initialisation + first ${variant}`, {
          wall: initialisation.wall + first.wall,
          cpu: initialisation.cpu + first.cpu,
        });
        if (variant === 'POST') record('initialisation', initialisation);
        record(`first ${variant}`, first);
        record(`warm ${variant}`, await repeat(requests, post));
        if (variant === 'POST') {
          const get = () => list(sandbox, database.ofTen);
          await get();
          record('GET of 10', await repeat(requests, get));
        }
        if (hasLimit) {
          const beRefused = () => invoke(sandbox, nextPost().event, check.refused);
          record('keyed POST beyond the limit', await repeat(requests, beRefused));
        }
      };
      await run(measure, hasLimit ? String(1 + requests) : '');
    };

    const measureFullestList = (): Promise<void> =>
      run(async (sandbox) => {
        await repeat(5, () => list(sandbox, database.ofTen));
        const cost = await repeat(5, () => list(sandbox, database.ofFullest)).catch(
          (error: Error) => {
            // After a wrong response, the process still runs; with too much memory, it is killed.
            if (sandbox.isRunning()) throw error;
            return error.message;
          },
        );
        record('fullest list', cost);
      });

    if (title !== BARE) {
      const hasKeys = variants.includes('keyed POST');
      await run((sandbox) =>
        checkContract(async (event) => (await sandbox.invoke(event)).result, hasKeys),
      );
    }
    entrants.push({ results, variants, measureColdStart, measureFullestList });
  }

  for (let round = 1; round <= rounds; round++) {
    // Each round begins with another contender, so that other load affects all alike.
    const first = round % entrants.length;
    for (const entrant of [...entrants.slice(first), ...entrants.slice(0, first)]) {
      const { title } = entrant.results;
      log(`Round ${round} of ${rounds}: ${title}`);
      for (const variant of entrant.variants) await entrant.measureColdStart(variant);
      if (round <= listRounds && title !== BARE) await entrant.measureFullestList();
    }
  }
  const all = entrants.map(({ results }) => results);
  const report = formatResults(all, rounds, noLimits === undefined);
  process.stdout.write(`\n${report}`);
  if (!quick) writeFileSync(join(import.meta.dirname, 'RESULTS.md'), report);
});

async function repeat(times: number, measure: () => Promise<Cost>): Promise<Cost> {
  const costs: Cost[] = [];
  for (let count = 0; count < times; count++) costs.push(await measure());
  return middleCost(costs);
}

function log(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
