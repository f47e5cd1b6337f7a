/** What is measured of one contender, process by process. */
import { checkContract, checkCreated, checkList, createOwners } from './check.ts';
import { bodies } from './bodies.ts';
import type { Contender, Package } from './contenders.ts';
import { MESSAGE } from './database.ts';
import type { Database, SeededOwner } from './database.ts';
import { getEvent, postEvent } from './events.ts';
import { startSandbox } from './sandbox.ts';
import type { Cost, Memory, Sandbox } from './sandbox.ts';

/** One cold start and the requests after it. */
export interface ColdStart {
  readonly initialisation: Cost;
  readonly firstPost: Cost;
  readonly firstGet: Cost;
  /** Medians of the requests after the first. */
  readonly warmPost: Cost;
  readonly warmGet: Cost;
  /** After all of these. */
  readonly memory: Memory;
}

export const listNames = ['hundred', 'thousand', 'fullest'] as const;
export type ListName = (typeof listNames)[number];

/** Medians of one process; a string says why there is none. */
export interface Lists {
  readonly costs: Readonly<Record<ListName, Cost | string>>;
  /** After the fullest. */
  readonly memory: Memory | string;
}

/** What became of one large body. */
export interface BodyOutcome {
  readonly name: string;
  /** HTTP status, or why there is none. */
  readonly outcome: number | string;
  readonly expected: number;
  readonly cost: Cost | undefined;
  /** Of a process that has answered this body and no other large one. */
  readonly memory: Memory | undefined;
}

export interface Bench {
  readonly database: Database;
  readonly limited: boolean;
  /** Warm requests of each kind after a cold start. */
  readonly warmRequests: number;
}

const nextOwner = createOwners();
const MESSAGE_JSON = JSON.stringify(MESSAGE);

/** @throws Error when a contender answers wrongly. */
export async function checkContender(bench: Bench, built: Package): Promise<void> {
  await inSandbox({ ...bench, limited: false }, built, async (sandbox) =>
    checkContract(async (event) => (await sandbox.invoke(event)).result, nextOwner()),
  );
}

export async function measureColdStart(
  bench: Bench,
  { constant = false }: Contender,
  built: Package,
): Promise<ColdStart> {
  const { ten } = bench.database.owners;
  return inSandbox(bench, built, async (sandbox) => {
    const post = async (): Promise<Cost> => {
      const owner = nextOwner();
      const { result, ...cost } = await sandbox.invoke(postEvent(owner, MESSAGE_JSON));
      if (!constant) checkCreated(result, owner);
      return cost;
    };
    const get = async (): Promise<Cost> => {
      const { result, ...cost } = await sandbox.invoke(getEvent(ten));
      if (!constant) checkList(result, ten);
      return cost;
    };
    return {
      initialisation: sandbox.initialisation,
      firstPost: await post(),
      firstGet: await get(),
      warmPost: await repeat(bench.warmRequests, post),
      warmGet: await repeat(bench.warmRequests, get),
      memory: sandbox.peakMemory(),
    };
  });
}

/** Requests for each length of list in one process; as many as the contender survives. */
export async function measureLists(bench: Bench, built: Package): Promise<Lists> {
  const { owners } = bench.database;
  const repetitions = { hundred: bench.warmRequests, thousand: 5, fullest: 3 };
  return inSandbox(bench, built, async (sandbox) => {
    const get = async (owner: SeededOwner): Promise<Cost> => {
      const { result, ...cost } = await sandbox.invoke(getEvent(owner));
      checkList(result, owner);
      return cost;
    };
    // The first requests compile what the others use.
    for (let warmUp = 0; warmUp < 5; warmUp++) await get(owners.ten);
    const costs: Record<ListName, Cost | string> = { hundred: '', thousand: '', fullest: '' };
    for (const name of listNames) {
      costs[name] = await repeat(repetitions[name], () => get(owners[name])).catch(explainFailure);
      if (typeof costs[name] === 'string') return { costs, memory: costs[name] };
    }
    return { costs, memory: sandbox.peakMemory() };
  });
}

/** Sends each large body to a process of its own, after one usual request. */
export async function measureBodies(bench: Bench, built: Package): Promise<BodyOutcome[]> {
  const outcomes: BodyOutcome[] = [];
  for (const { name, expected, make, base64 } of bodies) {
    const owner = nextOwner();
    outcomes.push(
      await inSandbox(bench, built, async (sandbox) => {
        await sandbox.invoke(postEvent(owner, MESSAGE_JSON));
        try {
          const { result, wall, cpu } = await sandbox.invoke(postEvent(owner, make(), base64));
          const { statusCode: outcome } = JSON.parse(result) as { statusCode: number };
          return { name, expected, outcome, cost: { wall, cpu }, memory: sandbox.peakMemory() };
        } catch (error) {
          return { name, expected, outcome: explainFailure(error), cost: undefined, memory: undefined };
        }
      }),
    );
  }
  return outcomes;
}

/** Wrong answers are errors; what is said here is that there was no answer. */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error) || error.name === 'AssertionError') throw error;
  if (error.message.includes('SIGKILL')) return 'killed: out of memory';
  // V8 aborts when its heap is full.
  if (error.message.includes('SIGABRT')) return 'crashed: heap out of memory';
  if (error.message.includes('timed out')) return 'timed out';
  throw error;
}

async function inSandbox<Result>(
  { database, limited }: Bench,
  { module }: Package,
  use: (sandbox: Sandbox) => Promise<Result>,
): Promise<Result> {
  const sandbox = await startSandbox({ module, limited, environment: database.environment });
  try {
    return await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

async function repeat(times: number, measure: () => Promise<Cost>): Promise<Cost> {
  const costs: Cost[] = [];
  for (let count = 0; count < times; count++) costs.push(await measure());
  return medianCost(costs);
}

/** The most of each kind. */
export const maximum = (memories: readonly Memory[]): Memory => ({
  resident: Math.max(...memories.map(({ resident }) => resident)),
  counted: Math.max(...memories.map(({ counted }) => counted)),
});

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}

export const medianCost = (costs: readonly Cost[]): Cost => ({
  wall: median(costs.map(({ wall }) => wall)),
  cpu: median(costs.map(({ cpu }) => cpu)),
});
