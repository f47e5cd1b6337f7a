/** The measurements of one contender, each in a process of its own. */
import { randomUUID } from 'node:crypto';
import { startSandbox, type Cost, type Sandbox } from '../local/lambda/sandbox.ts';
import { checkContract, checkCreated, checkKeys, checkList } from './check.ts';
import type { Contender, Package, Variant } from './contenders.ts';
import { makeOwner, MESSAGE, type Database, type Owner, type SeededOwner } from './database.ts';
import { claimsOf, makeEvent } from './events.ts';
import { createLimits } from './limits.ts';

/** A contender and its measurements by the names of the figures; a figure that is not measured is missing. */
export interface Entrant {
  readonly contender: Contender;
  readonly built: Package;
  /** One cost for each process; a text is the reason why the process has ended before. */
  readonly costs: Map<string, (Cost | string)[]>;
  /** Peaks in bytes, over all processes. */
  readonly memory: Map<string, number>;
}

export interface Bench {
  readonly database: Database;
  readonly limited: boolean;
  /** Warm requests of each kind in one process. */
  readonly warmRequests: number;
}

type Environment = Readonly<Record<string, string>>;

let nextNumber = 100;
/** An owner without inquiries. */
const nextOwner = (): Owner => makeOwner(nextNumber++);

/** @throws Error when a response of the contender is wrong. */
export async function checkContender(bench: Bench, built: Package): Promise<void> {
  await inSandbox({ ...bench, limited: false }, built, {}, async (sandbox) => {
    const invoke = async (event: string) => (await sandbox.invoke(event)).result;
    await checkContract(invoke, nextOwner());
    if (built.variants.includes('keyed POST')) await checkKeys(invoke, nextOwner(), nextOwner());
  });
}

/** Measures initialisation, the first POST of the variant, and warm ones; with the plain one, GETs of ten inquiries, too. */
export async function measureColdStart(
  bench: Bench,
  entrant: Entrant,
  variant: Variant,
): Promise<void> {
  const { constant = false } = entrant.contender;
  const isLimited = variant === 'keyed POST with the limit';
  const sender = nextOwner();
  const environment: Environment = isLimited
    ? { INQUIRIES_PER_HOUR: String(2 * bench.warmRequests) }
    : {};
  await inSandbox(bench, entrant.built, environment, async (sandbox) => {
    const post = async (): Promise<Cost> => {
      // With the limit, all inquiries have one owner, so the limit has something to count.
      const owner = isLimited ? sender : nextOwner();
      const key = variant === 'POST' ? undefined : randomUUID();
      const { result, ...cost } = await sandbox.invoke(toPost(owner, key));
      if (!constant) checkCreated(result, owner);
      return cost;
    };
    const get = () => list(sandbox, bench.database.owners.ten, constant);
    const { initialisation } = sandbox;
    if (variant === 'POST') record(entrant, 'initialisation', initialisation);
    const first = await post();
    record(entrant, `first ${variant}`, first);
    record(entrant, `initialisation + first ${variant}`, {
      wall: initialisation.wall + first.wall,
      cpu: initialisation.cpu + first.cpu,
    });
    if (variant === 'POST') record(entrant, 'first GET', await get());
    record(entrant, `warm ${variant}`, await repeat(bench.warmRequests, post));
    if (variant === 'POST') {
      record(entrant, 'GET of 10', await repeat(bench.warmRequests, get));
      recordPeak(entrant, 'memory', sandbox.peakMemory());
    }
  });
}

/** Measures lists of each length, ascending, in one process, until it fails. */
export async function measureLists(bench: Bench, entrant: Entrant): Promise<void> {
  const { ten, hundred, thousand, fullest } = bench.database.owners;
  await inSandbox(bench, entrant.built, {}, async (sandbox) => {
    // Warm-up: the first requests compile the code.
    await repeat(5, () => list(sandbox, ten));
    for (const [figure, owner, times] of [
      ['GET of 100', hundred, bench.warmRequests],
      ['GET of 1,000', thousand, 5],
      ['fullest list', fullest, 5],
    ] as const) {
      try {
        record(entrant, figure, await repeat(times, () => list(sandbox, owner)));
      } catch (error) {
        // A wrong response leaves the process running. One that uses too much memory is killed.
        if (sandbox.isRunning()) throw error;
        return record(entrant, figure, (error as Error).message);
      }
    }
    return recordPeak(entrant, 'memory, fullest list', sandbox.peakMemory());
  });
}

function record({ costs }: Entrant, figure: string, cost: Cost | string): void {
  costs.set(figure, [...(costs.get(figure) ?? []), cost]);
}

/** Without limits nothing counts the memory, and there is no figure. */
function recordPeak({ memory }: Entrant, figure: string, bytes: number | undefined): void {
  if (bytes !== undefined) memory.set(figure, Math.max(bytes, memory.get(figure) ?? 0));
}

const toPost = (owner: Owner, key?: string): string =>
  makeEvent({ method: 'POST', claims: claimsOf(owner), key, body: JSON.stringify(MESSAGE) });

async function list(sandbox: Sandbox, owner: SeededOwner, constant = false): Promise<Cost> {
  const event = makeEvent({ method: 'GET', claims: claimsOf(owner) });
  const { result, ...cost } = await sandbox.invoke(event);
  if (!constant) checkList(result, owner);
  return cost;
}

/** Runs the contender in a sandbox under the limits; its share of the CPU is limited after initialisation. */
async function inSandbox(
  { database, limited }: Bench,
  { module }: Package,
  environment: Environment,
  use: (sandbox: Sandbox & { peakMemory(): number | undefined }) => Promise<void>,
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
  await use({ ...sandbox, peakMemory: () => limits?.peakMemory() });
}

async function repeat(times: number, measure: () => Promise<Cost>): Promise<Cost> {
  const costs: Cost[] = [];
  for (let count = 0; count < times; count++) costs.push(await measure());
  return middleCost(costs);
}

/** Means of the middle half of the costs: under the limits, waits come in steps of 20 ms, by which medians would jump. */
export function middleCost(costs: readonly Cost[]): Cost {
  const cut = Math.floor(costs.length / 4);
  const middle = (kind: keyof Cost): number => {
    const sorted = costs.map((cost) => cost[kind]).toSorted((one, other) => one - other);
    return (
      sorted.slice(cut, sorted.length - cut).reduce((sum, value) => sum + value, 0) /
      (sorted.length - 2 * cut)
    );
  };
  return { wall: middle('wall'), cpu: middle('cpu') };
}
