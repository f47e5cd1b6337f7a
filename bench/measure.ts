/** The measurements of one contender, each in a process of its own. */
import { randomUUID } from 'node:crypto';
import { checkContract, checkCreated, checkKeys, checkList, checkStatus } from './check.ts';
import type { Contender, Package } from './contenders.ts';
import { makeOwner, MESSAGE } from './database.ts';
import type { Database, Owner, SeededOwner } from './database.ts';
import { claimsOf, makeEvent } from './events.ts';
import { startMeter } from './meter.ts';
import type { Consumption } from './meter.ts';
import { startSandbox } from './sandbox.ts';
import type { Cost, Sandbox } from './sandbox.ts';

/**
 * `start`: initialisation and first POST together. `ten` to `fullest`: warm GETs of lists of that length. `Keyed`: POST
 * with an Idempotency-Key; `Limited`: POST with a limit of inquiries.
 */
export type Step =
  | ('initialisation' | 'firstPost' | 'start' | 'firstGet' | 'warmPost')
  | ('ten' | 'hundred' | 'thousand' | 'fullest')
  | `${'start' | 'firstPost' | 'warmPost'}${Variant}`;

export type Variant = 'Keyed' | 'Limited';

/** Requests whose consumption is measured. */
export type Request =
  | ('plain' | 'keyed' | 'replay' | 'reused')
  | ('limited' | 'limitedKeyed' | 'limitedReplay' | 'refused');

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
  /** Of POST with a key and with the limit. */
  readonly variants: Run[];
  readonly lists: Run[];
  readonly consumption: Partial<Record<Request, Consumption>>;
}

export interface Bench {
  readonly database: Database;
  readonly limited: boolean;
  /** Warm requests of each kind in one process; odd. */
  readonly warmRequests: number;
}

let nextNumber = 100;
/** An owner without inquiries. */
const nextOwner = (): Owner => makeOwner(nextNumber++);

/** @throws Error when a response of the contender is wrong. */
export async function checkContender(bench: Bench, built: Package): Promise<void> {
  await inSandbox({ ...bench, limited: false }, built, async (sandbox) => {
    const invoke = async (event: string) => (await sandbox.invoke(event)).result;
    await checkContract(invoke, nextOwner());
    if (built.hasKeys === true) await checkKeys(invoke, nextOwner(), nextOwner());
  });
}

export async function measureColdStart(bench: Bench, { contender, built }: Entrant): Promise<Run> {
  const { constant = false } = contender;
  return inSandbox(bench, built, async (sandbox) => {
    const post = async (): Promise<Cost> => {
      const owner = nextOwner();
      const { result, ...cost } = await sandbox.invoke(toPost(owner));
      if (!constant) checkCreated(result, owner);
      return cost;
    };
    const get = () => list(sandbox, bench.database.owners.ten, constant);
    const { initialisation } = sandbox;
    const firstPost = await post();
    const costs = {
      initialisation,
      firstPost,
      start: add(initialisation, firstPost),
      firstGet: await get(),
      warmPost: await repeat(bench.warmRequests, post),
      ten: await repeat(bench.warmRequests, get),
    };
    return { costs, memory: sandbox.peakMemory() };
  });
}

/** A cold start of the contender for POST with a key, or with the limit, which is not reached. */
export async function measureVariant(bench: Bench, { built }: Entrant, variant: Variant): Promise<Run> {
  const environment = variant === 'Limited' ? limitTo(2 * bench.warmRequests) : {};
  // With the limit, all inquiries have one owner, so the limit has something to count.
  const sender = nextOwner();
  return inSandbox(
    bench,
    built,
    async (sandbox) => {
      const post = async (): Promise<Cost> => {
        const owner = variant === 'Limited' ? sender : nextOwner();
        const key = variant === 'Keyed' ? randomUUID() : undefined;
        const { result, ...cost } = await sandbox.invoke(toPost(owner, key));
        checkCreated(result, owner);
        return cost;
      };
      const firstPost = await post();
      const costs: Run['costs'] = {
        [`start${variant}`]: add(sandbox.initialisation, firstPost),
        [`firstPost${variant}`]: firstPost,
        [`warmPost${variant}`]: await repeat(bench.warmRequests, post),
      };
      return { costs };
    },
    environment,
  );
}

/** What POST consumes of DynamoDB: without a key, with one, and, where the contender supports it, with the limit. */
export async function measureConsumption(bench: Bench, built: Package): Promise<Entrant['consumption']> {
  const meter = await startMeter(bench.database.url);
  const consumption: Partial<Record<Request, Consumption>> = {};
  const send = (
    requests: readonly (readonly [request: Request, status: number, event: string])[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<void> =>
    inSandbox(
      { ...bench, limited: false },
      built,
      async (sandbox) => {
        for (const [request, status, event] of requests) {
          meter.take();
          checkStatus((await sandbox.invoke(event)).result, status);
          consumption[request] = meter.take();
        }
      },
      { ...environment, AWS_ENDPOINT_URL_DYNAMODB: meter.url },
    );
  const owner = nextOwner();
  try {
    await send([
      ['plain', 201, toPost(owner)],
      ['keyed', 201, toPost(owner, 'key')],
      ['replay', 201, toPost(owner, 'key')],
      ['reused', 422, toPost(owner, 'key', { ...MESSAGE, subject: '' })],
    ]);
    if (built.hasLimit === true) {
      const requests = [
        ['limited', 201, toPost(owner)],
        ['limitedKeyed', 201, toPost(owner, 'key-2')],
        ['limitedReplay', 201, toPost(owner, 'key-2')],
        ['refused', 429, toPost(owner)],
      ] as const;
      // Two inquiries are stored already, so the limit has something to count.
      await send(requests, limitTo(4));
    }
    return consumption;
  } finally {
    await meter.close();
  }
}

const toPost = (owner: Owner, key?: string, message = MESSAGE): string =>
  makeEvent({ method: 'POST', claims: claimsOf(owner), key, body: JSON.stringify(message) });

const limitTo = (count: number) => ({ INQUIRIES_PER_HOUR: String(count) });

const add = (one: Cost, other: Cost): Cost => ({ wall: one.wall + other.wall, cpu: one.cpu + other.cpu });

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
  environment: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const sandbox = await startSandbox({
    module,
    limited,
    environment: { ...database.environment, ...environment },
  });
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
