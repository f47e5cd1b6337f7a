/** Many users, many requests, a database that fails now and then: nothing lost, nothing twice, nothing leaked. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import { makeEvent, makePost } from '../helpers/events.ts';
import * as faults from '../helpers/fault-proxy.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import { BUILT, startSandbox, type Answer, type Sandbox } from '../helpers/sandbox.ts';
import { createTally, isHard } from '../helpers/tally.ts';

const OPERATIONS = isHard ? 6_000 : 600;
/** One invocation is under way in each. */
const SANDBOXES = 8;
/** Bytes that the heap of a sandbox may have grown by between the first quarter and the end. */
const HEAP_MARGIN = 8 * 1024 * 1024;

const FAULTS: [probability: number, fault: faults.Fault][] = [
  [0.02, faults.refuse(400, 'ThrottlingException')],
  [0.02, faults.refuse(500, 'InternalServerError')],
  [0.02, faults.answerAfter(() => ({ status: 500 }))],
  [0.02, faults.cutConnection('after', 'reset')],
  [0.02, faults.cutConnection('before', 'close')],
  [0.01, faults.breakOff('cut', 10)],
  [0.01, faults.answerAfter(() => ({ body: Buffer.alloc(0) }))],
  [0.01, faults.refuse(400, 'AccessDeniedException')],
  [0.001, faults.hang],
];
const chooseFault = (): faults.Fault => {
  let dice = Math.random();
  return (
    FAULTS.find(([probability]) => (dice -= probability) < 0)?.[1] ??
    faults.delay(Math.random() * 20)
  );
};

/** The built handler, and the size of its heap after a garbage collection for an event that asks for it. */
const MODULE = `data:text/javascript,
  import { handler as built } from ${JSON.stringify(BUILT)};
  const heap = () => (gc(), { body: String(process.memoryUsage().heapUsed) });
  export const handler = (event, context) => (event.heap ? heap() : built(event, context));`;
const heapOf = async (sandbox: Sandbox): Promise<number> =>
  Number((await sandbox.invoke({ heap: true })).text);

const tally = createTally('6 soak: mixed operations under random faults');

/** A user, with the ids that were answered with a 201. */
const makeUser = () => ({
  claims: { sub: randomUUID(), email: `${randomUUID()}@example.com` },
  created: new Set<string>(),
});
type User = ReturnType<typeof makeUser>;

async function create(sandbox: Sandbox, { claims, created }: User): Promise<Answer> {
  const subject = randomUUID();
  const got = await sandbox.invoke(makePost({ subject, body: 'b' }, claims));
  if (got.status === 201) {
    const { inquiry } = got.json as { inquiry: Inquiry };
    expect(inquiry).toMatchObject({ cognito_sub: claims.sub, email: claims.email, subject });
    created.add(inquiry.id);
  }
  return got;
}

/** A list has the caller's own rows, each once, newest first, and none is missing that had been answered. */
async function list(sandbox: Sandbox, { claims, created }: User): Promise<Answer> {
  const known = [...created];
  const got = await sandbox.invoke(makeEvent({ claims }));
  if (got.status !== 200) return got;
  const { inquiries } = got.json as InquiryListResponse;
  const ids = inquiries.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
  expect(known.filter((id) => !ids.includes(id))).toEqual([]);
  expect(inquiries.every(({ cognito_sub }) => cognito_sub === claims.sub)).toBe(true);
  return got;
}

it(`keeps every promise through ${OPERATIONS} operations of 20 users`, async () => {
  await using resources = new AsyncDisposableStack();
  const table = await createOwnTable();
  resources.defer(() => table.close());
  const proxy = await faults.startFaultProxy(table.engine);
  resources.defer(() => proxy.close());
  const environment = table.environment(proxy.url);
  const starting = Array.from({ length: SANDBOXES }, () =>
    startSandbox(environment, { module: MODULE }),
  );
  const sandboxes = (await Promise.all(starting)).map((sandbox) => resources.use(sandbox));
  const users = Array.from({ length: 20 }, makeUser);

  /** @returns Bytes that the heap has grown by after the first quarter. */
  const work = async (sandbox: Sandbox): Promise<number> => {
    let heap = 0;
    for (let done = 0; done < OPERATIONS / SANDBOXES; done++) {
      if (done === Math.floor(OPERATIONS / SANDBOXES / 4)) heap = await heapOf(sandbox);
      const user = users[Math.floor(Math.random() * users.length)] as User;
      const run = Math.random() < 0.55 ? create : list;
      const { milliseconds, status } = await run(sandbox, user);
      expect([200, 201, 500]).toContain(status);
      tally(milliseconds);
    }
    expect(heap).toBeGreaterThan(0);
    return (await heapOf(sandbox)) - heap;
  };
  proxy.plan = chooseFault;
  const growth = await Promise.all(sandboxes.map(work));
  proxy.plan = faults.never;
  // Retries that had been given up may still arrive.
  await sleep(500);

  for (const user of users) {
    const got = await list(sandboxes[0] as Sandbox, user);
    const { inquiries } = got.json as InquiryListResponse;
    const rows = await table.rows(user.claims.sub);
    expect(new Set(inquiries.map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)));
    // Each subject is used once, so a retry that stored twice would show.
    expect(new Set(rows.map(({ subject }) => subject)).size).toBe(rows.length);
  }
  expect(Math.max(...growth)).toBeLessThan(HEAP_MARGIN);
  // An unhandled rejection would have ended the process; not even a warning has been written.
  const lines = sandboxes.flatMap((each) => each.lines);
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
});
