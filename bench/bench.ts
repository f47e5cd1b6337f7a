/**
 * Measures the contenders, each in processes of its own under Lambda's limits: 128 MB, a whole core during
 * initialisation, then 7.2 % of one, where control groups can be written.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, runCommand } from '../lib/command-line.ts';
import { startSandbox, type Cost, type Sandbox } from '../local/lambda/sandbox.ts';
import { BARE, buildPackage, contenders, type Variant } from './contenders.ts';
import { makeOwner, startDatabase, type Owner } from './database.ts';
import { createLimits, limitsUnavailableReason } from './limits.ts';
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
  for (const { variants, ...contender } of contenders) {
    log(`Building and checking ${contender.title}`);
    const built = await buildPackage({ ...contender, variants }, folder);
    const results: Results = { ...built, costs: new Map(), memory: new Map() };
    const run = async (
      use: (sandbox: Sandbox) => Promise<void>,
      { isLimited = noLimits === undefined, figure = '', INQUIRIES_PER_HOUR = '' } = {},
    ): Promise<void> => {
      await using own = new AsyncDisposableStack();
      const limits = isLimited ? createLimits() : undefined;
      own.defer(async () => limits?.remove());
      const sandbox = await startSandbox({
        module: built.module,
        environment: { ...database.environment, INQUIRIES_PER_HOUR },
        before: limits?.enter,
      });
      own.defer(() => sandbox.close());
      limits?.throttle();
      await use(sandbox);
      if (limits === undefined || !sandbox.isRunning()) return;
      const peak = Math.max(limits.peakMemory(), results.memory.get(figure) ?? 0);
      results.memory.set(figure, peak);
    };
    if (contender.title !== BARE) {
      await run(
        (sandbox) =>
          checkContract(
            async (event) => (await sandbox.invoke(event)).result,
            variants.includes('keyed POST'),
          ),
        { isLimited: false },
      );
    }
    entrants.push({ results, variants, run });
  }
  type Entrant = (typeof entrants)[number];

  const invoke = async (
    sandbox: Sandbox,
    { results }: Entrant,
    event: string,
    verify: (result: string) => void,
  ): Promise<Cost> => {
    const { result, ...cost } = await sandbox.invoke(event);
    if (results.title !== BARE) verify(result);
    return cost;
  };
  const list = (sandbox: Sandbox, entrant: Entrant, owner: Owner): Promise<Cost> =>
    invoke(sandbox, entrant, makeEvent({ method: 'GET', owner }), (result) =>
      check.list(result, owner),
    );

  /** Measures initialisation, the first POST and warm ones; also GETs of ten, or refusals beyond the limit. */
  const measureColdStart = async (entrant: Entrant, variant: Variant): Promise<void> => {
    const hasLimit = variant === 'keyed POST with the limit';
    const sender = makeOwner();
    const nextPost = () => {
      // With the limit, one owner, so that there is something to count.
      const owner = hasLimit ? sender : makeOwner();
      const key = variant === 'POST' ? undefined : crypto.randomUUID();
      return { owner, event: makePost(owner, key) };
    };
    const record = (figure: string, cost: Cost) => addCost(entrant.results, figure, cost);
    const measure = async (sandbox: Sandbox): Promise<void> => {
      const post = () => {
        const { owner, event } = nextPost();
        return invoke(sandbox, entrant, event, (result) => void check.created(result, owner));
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
        const get = () => list(sandbox, entrant, database.ofTen);
        await get();
        record('GET of 10', await repeat(requests, get));
      }
      if (hasLimit) {
        const beRefused = () => invoke(sandbox, entrant, nextPost().event, check.refused);
        record('keyed POST beyond the limit', await repeat(requests, beRefused));
      }
    };
    const INQUIRIES_PER_HOUR = hasLimit ? String(1 + requests) : '';
    await entrant.run(measure, { figure: `memory, ${variant}`, INQUIRIES_PER_HOUR });
  };

  const measureFullestList = (entrant: Entrant): Promise<void> =>
    entrant.run(
      async (sandbox) => {
        // Compiles the code.
        await repeat(5, () => list(sandbox, entrant, database.ofTen));
        const cost = await repeat(5, () => list(sandbox, entrant, database.ofFullest)).catch(
          (error: Error) => {
            // After a wrong response the process runs; with too much memory it is killed.
            if (sandbox.isRunning()) throw error;
            return error.message;
          },
        );
        addCost(entrant.results, 'fullest list', cost);
      },
      { figure: 'memory, fullest list' },
    );

  for (let round = 1; round <= rounds; round++) {
    // Each round begins with another, so that other load affects all alike.
    const first = round % entrants.length;
    for (const entrant of [...entrants.slice(first), ...entrants.slice(0, first)]) {
      const { title } = entrant.results;
      log(`Round ${round} of ${rounds}: ${title}`);
      for (const variant of entrant.variants) await measureColdStart(entrant, variant);
      if (round <= listRounds && title !== BARE) await measureFullestList(entrant);
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

function addCost({ costs }: Results, figure: string, cost: Cost | string): void {
  costs.set(figure, [...(costs.get(figure) ?? []), cost]);
}

function log(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
