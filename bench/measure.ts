/** The measurements of one contender, each in a process of its own. */
import { randomUUID } from 'node:crypto';
import { startSandbox, type Cost, type Sandbox } from '../local/lambda/sandbox.ts';
import { checkContract, checkCreated, checkKey, checkList } from './check.ts';
import { BARE, type Contender, type Package, type Variant } from './contenders.ts';
import { makeOwner, MESSAGE, type Database, type SeededOwner } from './database.ts';
import { makeEvent } from './events.ts';
import { createLimits } from './limits.ts';

/** A contender and its measurements by the names of the figures; a figure that is not measured is missing. */
export interface Entrant {
  contender: Contender;
  built: Package;
  /** One cost for each process; a text is the reason why the process has ended before. */
  costs: Map<string, (Cost | string)[]>;
  /** Peaks in bytes, over all processes. */
  memory: Map<string, number>;
}

export interface Bench {
  database: Database;
  limited: boolean;
  /** Warm requests of each kind in one process. */
  warmRequests: number;
}

let nextNumber = 100;
/** An owner without inquiries. */
const nextOwner = () => makeOwner(nextNumber++);

/** @throws Error when a response of the contender is wrong. */
export async function checkContender(bench: Bench, entrant: Entrant): Promise<void> {
  await inSandbox({ ...bench, limited: false }, entrant, async (sandbox) => {
    const invoke = async (event: string) => (await sandbox.invoke(event)).result;
    await checkContract(invoke, nextOwner());
    if (entrant.contender.variants.includes('keyed POST')) await checkKey(invoke, nextOwner());
  });
}

/** Measures initialisation, the first POST of the variant, and warm ones; with the plain one, GETs of ten inquiries, too. */
export async function measureColdStart(
  bench: Bench,
  entrant: Entrant,
  variant: Variant,
): Promise<void> {
  const isPlain = variant === 'POST';
  const isLimited = variant === 'keyed POST with the limit';
  const sender = nextOwner();
  const environment = { INQUIRIES_PER_HOUR: isLimited ? String(2 * bench.warmRequests) : '' };
  const measure = async (sandbox: Sandbox): Promise<void> => {
    const post = async (): Promise<Cost> => {
      // With the limit, all inquiries have one owner, so the limit has something to count.
      const owner = isLimited ? sender : nextOwner();
      const key = isPlain ? undefined : randomUUID();
      const event = makeEvent({ method: 'POST', owner, key, body: JSON.stringify(MESSAGE) });
      const { result, ...cost } = await sandbox.invoke(event);
      if (entrant.contender.name !== BARE) checkCreated(result, owner);
      return cost;
    };
    const get = () => list(sandbox, entrant, bench.database.owners.ten);
    const { initialisation } = sandbox;
    const first = await post();
    if (isPlain) {
      record(entrant, 'initialisation', initialisation);
      await get();
    }
    record(entrant, `first ${variant}`, first);
    record(entrant, `initialisation + first ${variant}`, {
      wall: initialisation.wall + first.wall,
      cpu: initialisation.cpu + first.cpu,
    });
    record(entrant, `warm ${variant}`, await repeat(bench.warmRequests, post));
    if (isPlain) record(entrant, 'GET of 10', await repeat(bench.warmRequests, get));
  };
  await inSandbox(bench, entrant, measure, isPlain ? 'memory' : undefined, environment);
}

/** Measures the fullest list. */
export async function measureList(bench: Bench, entrant: Entrant): Promise<void> {
  const { ten, fullest } = bench.database.owners;
  const measure = async (sandbox: Sandbox): Promise<void> => {
    // Warm-up: the first requests compile the code.
    await repeat(5, () => list(sandbox, entrant, ten));
    const cost = await repeat(5, () => list(sandbox, entrant, fullest)).catch((error: Error) => {
      // A wrong response leaves the process running. One that uses too much memory is killed.
      if (sandbox.isRunning()) throw error;
      return error.message;
    });
    record(entrant, 'fullest list', cost);
  };
  await inSandbox(bench, entrant, measure, 'memory, fullest list');
}

function record({ costs }: Entrant, figure: string, cost: Cost | string): void {
  costs.set(figure, [...(costs.get(figure) ?? []), cost]);
}

async function list(
  sandbox: Sandbox,
  { contender }: Entrant,
  { count, ...owner }: SeededOwner,
): Promise<Cost> {
  const { result, ...cost } = await sandbox.invoke(makeEvent({ method: 'GET', owner }));
  if (contender.name !== BARE) checkList(result, { ...owner, count });
  return cost;
}

/**
 * Runs the contender in a sandbox under the limits; its share of the CPU is limited after initialisation.
 *
 * @param figure - The name of its peak of memory, which nothing counts without limits.
 */
async function inSandbox(
  { database, limited }: Bench,
  { built: { module }, memory }: Entrant,
  use: (sandbox: Sandbox) => Promise<void>,
  figure?: string,
  environment: Record<string, string> = {},
): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const limits = limited ? createLimits() : undefined;
  resources.defer(async () => limits?.remove());
  const sandbox = await startSandbox({
    module,
    environment: { ...database.environment, ...environment },
    before: limits?.enter,
  });
  resources.defer(() => sandbox.close());
  limits?.throttle();
  await use(sandbox);
  if (figure === undefined || limits === undefined || !sandbox.isRunning()) return;
  memory.set(figure, Math.max(limits.peakMemory(), memory.get(figure) ?? 0));
}

async function repeat(times: number, measure: () => Promise<Cost>): Promise<Cost> {
  const costs: Cost[] = [];
  for (let count = 0; count < times; count++) costs.push(await measure());
  return middleCost(costs);
}

/** Means of the middle half of the costs: under the limits, waits come in steps of 20 ms, by which medians would jump. */
export function middleCost(costs: Cost[]): Cost {
  const cut = Math.floor(costs.length / 4);
  const middle = (kind: keyof Cost): number => {
    const values = costs.map((cost) => cost[kind]).toSorted((one, other) => one - other);
    const kept = values.slice(cut, values.length - cut);
    return kept.reduce((sum, value) => sum + value, 0) / kept.length;
  };
  return { wall: middle('wall'), cpu: middle('cpu') };
}
