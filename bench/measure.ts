/** The measurements of one contender, each in a process of its own. */
import { checkContract, checkCreated, checkList } from './check.ts';
import type { Contender, Package } from './contenders.ts';
import { makeOwner, MESSAGE } from './database.ts';
import type { Database, Owner, SeededOwner } from './database.ts';
import { claimsOf, makeEvent } from './events.ts';
import { startSandbox } from './sandbox.ts';
import type { Cost, Sandbox } from './sandbox.ts';

/** `start`: initialisation and first POST together. `ten` to `fullest`: warm GETs of lists of that length. */
export type Step =
  | 'initialisation'
  | 'firstPost'
  | 'start'
  | 'firstGet'
  | 'warmPost'
  | 'ten'
  | 'hundred'
  | 'thousand'
  | 'fullest';

/** What one process has cost: medians where a step is repeated; a text is the reason why there is no figure. */
export interface Run {
  readonly costs: Partial<Record<Step, Cost | string>>;
  /** Peak in bytes. */
  readonly memory?: number;
}

/** A contender and its measurements, process by process; empty where they are left out. */
export interface Entrant {
  readonly contender: Contender;
  readonly built: Package;
  readonly coldStarts: Run[];
  readonly lists: Run[];
}

export interface Bench {
  readonly database: Database;
  readonly limited: boolean;
  /** Warm requests of each kind in one process; odd. */
  readonly warmRequests: number;
}

const MESSAGE_JSON = JSON.stringify(MESSAGE);
let nextNumber = 100;
/** An owner without inquiries. */
const nextOwner = (): Owner => makeOwner(nextNumber++);

/** @throws Error when a response of the contender is wrong. */
export async function checkContender(bench: Bench, built: Package): Promise<void> {
  await inSandbox({ ...bench, limited: false }, built, async (sandbox) =>
    checkContract(async (event) => (await sandbox.invoke(event)).result, nextOwner()),
  );
}

export async function measureColdStart(bench: Bench, { contender, built }: Entrant): Promise<Run> {
  const { constant = false } = contender;
  return inSandbox(bench, built, async (sandbox) => {
    const post = async (): Promise<Cost> => {
      const owner = nextOwner();
      const event = makeEvent({ method: 'POST', claims: claimsOf(owner), body: MESSAGE_JSON });
      const { result, ...cost } = await sandbox.invoke(event);
      if (!constant) checkCreated(result, owner);
      return cost;
    };
    const get = () => list(sandbox, bench.database.owners.ten, constant);
    const { initialisation } = sandbox;
    const firstPost = await post();
    const costs = {
      initialisation,
      firstPost,
      start: { wall: initialisation.wall + firstPost.wall, cpu: initialisation.cpu + firstPost.cpu },
      firstGet: await get(),
      warmPost: await repeat(bench.warmRequests, post),
      ten: await repeat(bench.warmRequests, get),
    };
    return { costs, memory: sandbox.peakMemory() };
  });
}

/** Lists of each length, ascending, in one process, until it fails. */
export async function measureLists(bench: Bench, { built }: Entrant): Promise<Run> {
  const { owners } = bench.database;
  const repetitions = { hundred: bench.warmRequests, thousand: 5, fullest: 3 };
  return inSandbox(bench, built, async (sandbox) => {
    // Warm-up: the first requests compile the code.
    await repeat(5, () => list(sandbox, owners.ten));
    const costs: Run['costs'] = {};
    for (const length of ['hundred', 'thousand', 'fullest'] as const) {
      const cost = repeat(repetitions[length], () => list(sandbox, owners[length]));
      costs[length] = await cost.catch(explainFailure);
      if (typeof costs[length] === 'string') return { costs };
    }
    return { costs, memory: sandbox.peakMemory() };
  });
}

async function list(sandbox: Sandbox, owner: SeededOwner, constant = false): Promise<Cost> {
  const event = makeEvent({ method: 'GET', claims: claimsOf(owner) });
  const { result, ...cost } = await sandbox.invoke(event);
  if (!constant) checkList(result, owner);
  return cost;
}

/** The reason why there is no response. @throws the error when the response was wrong. */
function explainFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  if (message.includes('SIGKILL')) return 'killed: out of memory';
  // V8 aborts when its heap is full.
  if (message.includes('SIGABRT')) return 'crashed: heap out of memory';
  if (message.includes('timed out')) return 'timed out';
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

/** Medians of an odd number of costs. */
export function medianCost(costs: readonly Cost[]): Cost {
  const median = (kind: keyof Cost): number =>
    costs.map((cost) => cost[kind]).toSorted((one, other) => one - other)[Math.floor(costs.length / 2)] ??
    Number.NaN;
  return { wall: median('wall'), cpu: median('cpu') };
}
