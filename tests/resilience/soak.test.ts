/** Many users, many requests, a database that fails now and then: nothing lost, nothing twice, nothing leaked. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import { makeEvent, makePost } from '../helpers/events.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import type { OwnTable } from '../helpers/own-table.ts';
import {
  answerAfter,
  breakOff,
  cutConnection,
  delay,
  hang,
  never,
  refuse,
  startFaultProxy,
} from '../helpers/fault-proxy.ts';
import type { Fault, FaultProxy } from '../helpers/fault-proxy.ts';
import { BUILT, startSandbox } from '../helpers/sandbox.ts';
import type { Answer, Sandbox } from '../helpers/sandbox.ts';
import { createTally, isHard } from '../helpers/tally.ts';

const USERS = 20;
const OPERATIONS = isHard ? 6_000 : 600;
/** One invocation is under way in each. */
const SANDBOXES = 8;
/** Bytes that the heap of a sandbox may have grown by between the first quarter and the end. */
const HEAP_MARGIN = 8 * 1024 * 1024;

interface User {
  readonly claims: { readonly sub: string; readonly email: string };
  /** Ids that were answered with a 201. */
  readonly created: Set<string>;
}

const FAULTS: [probability: number, fault: Fault][] = [
  [0.02, refuse(400, 'ThrottlingException')],
  [0.02, refuse(500, 'InternalServerError')],
  [0.02, answerAfter(() => ({ status: 500 }))],
  [0.02, cutConnection('after', 'reset')],
  [0.02, cutConnection('before', 'close')],
  [0.01, breakOff('cut', 10)],
  [0.01, answerAfter(() => ({ body: Buffer.alloc(0) }))],
  [0.01, refuse(400, 'AccessDeniedException')],
  [0.001, hang],
];
const chooseFault = (): Fault => {
  let dice = Math.random();
  return FAULTS.find(([probability]) => (dice -= probability) < 0)?.[1] ?? delay(Math.random() * 20);
};

let table: OwnTable;
let proxy: FaultProxy;
let sandboxes: Sandbox[];
/** The built handler, and the size of its heap after a garbage collection for an event that asks for it. */
const MODULE = `data:text/javascript,
  import { handler as built } from ${JSON.stringify(BUILT)};
  const heap = () => (gc(), { body: String(process.memoryUsage().heapUsed) });
  export const handler = (event, context) => (event.heap ? heap() : built(event, context));`;
const heapOf = async (sandbox: Sandbox): Promise<number> =>
  Number((await sandbox.invoke({ heap: true })).text);

beforeAll(async () => {
  table = await createOwnTable();
  proxy = await startFaultProxy(table.engine);
  const environment = table.environment(proxy.url);
  sandboxes = await Promise.all(
    Array.from({ length: SANDBOXES }, () => startSandbox(environment, { module: MODULE })),
  );
});
afterAll(async () => {
  await Promise.all(sandboxes.map(async (sandbox) => sandbox.close()));
  await proxy.close();
  table.close();
});

const tally = createTally('6 soak: mixed operations under random faults');
const canaries = createTally('7a answers to the soak without a canary');
const CANARY = 'canary';
const users: User[] = Array.from({ length: USERS }, (_, index) => ({
  claims: { sub: randomUUID(), email: `${CANARY}-${index}@example.com` },
  created: new Set<string>(),
}));

async function create(sandbox: Sandbox, { claims, created }: User): Promise<Answer> {
  const subject = `${CANARY} ${randomUUID()}`;
  const got = await sandbox.invoke(makePost({ subject, body: `${CANARY} in the body` }, claims));
  if (got.status === 201) {
    const { inquiry } = got.json as { inquiry: Inquiry };
    expect(inquiry).toMatchObject({ cognito_sub: claims.sub, email: claims.email, subject });
    expect(created.has(inquiry.id)).toBe(false);
    created.add(inquiry.id);
  }
  return got;
}

/** What a list may be: the caller's own rows, each once, newest first, none missing that had been answered. */
function expectList({ claims }: User, got: Answer, known: readonly string[], limit = Infinity): void {
  const { email, count, inquiries } = got.json as InquiryListResponse;
  const ids = inquiries.map(({ id }) => id);
  expect([email, count]).toEqual([claims.email, ids.length]);
  expect(inquiries.every((row) => row.cognito_sub === claims.sub && row.email === claims.email)).toBe(true);
  expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
  expect(ids.length).toBeLessThanOrEqual(limit);
  const oldest = got.headers['Link'] === undefined ? '' : (ids.at(-1) ?? '');
  const listed = new Set(ids);
  expect(known.filter((id) => id >= oldest && !listed.has(id))).toEqual([]);
}

/** Lists all of it, or the newest up to a limit. */
async function list(sandbox: Sandbox, user: User, limit?: number): Promise<Answer> {
  const known = [...user.created];
  const queryStringParameters = limit === undefined ? {} : { limit: String(limit) };
  const got = await sandbox.invoke({ ...makeEvent({ claims: user.claims }), queryStringParameters });
  if (got.status === 200) expectList(user, got, known, limit);
  return got;
}

it(`keeps every promise through ${OPERATIONS} operations of ${USERS} users`, async () => {
  const perSandbox = OPERATIONS / SANDBOXES;
  /** @returns Bytes that the heap has grown by after the first quarter. */
  const work = async (sandbox: Sandbox): Promise<number> => {
    let heap = 0;
    for (let done = 0; done < perSandbox; done++) {
      if (done === Math.floor(perSandbox / 4)) heap = await heapOf(sandbox);
      const user = users[Math.floor(Math.random() * USERS)] as User;
      const dice = Math.random();
      await tally(async () => {
        const limit = dice < 0.8 ? undefined : 1 + Math.floor(Math.random() * 10);
        const { milliseconds, status, text } = await (dice < 0.55
          ? create(sandbox, user)
          : list(sandbox, user, limit));
        expect([200, 201, 500]).toContain(status);
        if (status >= 400) await canaries(async () => expect(text).not.toContain(CANARY));
        return milliseconds;
      });
    }
    expect(heap).toBeGreaterThan(0);
    return (await heapOf(sandbox)) - heap;
  };
  proxy.plan = chooseFault;
  const growth = await Promise.all(sandboxes.map(work));
  proxy.plan = never;
  // Retries that had been given up may still arrive.
  await sleep(500);

  const [sandbox] = sandboxes as [Sandbox];
  const stored = await table.rows();
  for (const user of users) {
    const { claims } = user;
    const got = await list(sandbox, user);
    expect(got.status).toBe(200);
    const ids = (got.json as InquiryListResponse).inquiries.map(({ id }) => id);
    const rows = stored.filter(({ cognito_sub }) => cognito_sub === claims.sub);
    expect(new Set(ids)).toEqual(new Set(rows.map(({ id }) => id)));
    // Each subject is used once, so a retry that stored twice would show.
    expect(new Set(rows.map(({ subject }) => subject)).size).toBe(rows.length);
  }
  const subs = new Set(users.map(({ claims }) => claims.sub));
  expect(stored.filter(({ cognito_sub }) => !subs.has(cognito_sub))).toEqual([]);

  expect(Math.max(...growth)).toBeLessThan(HEAP_MARGIN);
  // An unhandled rejection would have ended the process; not even a warning has been written.
  const lines = sandboxes.flatMap((each) => each.lines);
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  expect(lines.join('\n')).not.toContain(CANARY);
});
