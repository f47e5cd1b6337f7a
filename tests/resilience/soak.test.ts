/** Many requests to a database that fails now and then: memory does not grow, and nothing but log lines is written. */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { makeEvent, makePost } from '../helpers/events.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import * as faults from '../helpers/fault-proxy.ts';
import { BUILT, startSandbox, type Answer } from '../helpers/sandbox.ts';
import { createTally, isHard } from '../helpers/tally.ts';

/** Of each sandbox. */
const OPERATIONS = isHard ? 750 : 76;
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
  return FAULTS.find(([probability]) => (dice -= probability) < 0)?.[1] ?? faults.delay(Math.random() * 20);
};

/** The built handler, and the size of its heap after a garbage collection for an event that asks for it. */
const MODULE = `data:text/javascript,
  import { handler as built } from ${JSON.stringify(BUILT)};
  const heap = () => (gc(), { body: String(process.memoryUsage().heapUsed) });
  export const handler = (event, context) => (event.heap ? heap() : built(event, context));`;

const tally = createTally('6 soak: mixed operations under random faults');

it(`keeps its memory and its log through ${OPERATIONS * SANDBOXES} operations`, async () => {
  const table = await createOwnTable();
  const proxy = await faults.startFaultProxy(table.engine);
  onTestFinished(() => proxy.close());
  proxy.plan = chooseFault;
  const work = async (): Promise<void> => {
    const sandbox = await startSandbox(table.environment(proxy.url), { module: MODULE });
    onTestFinished(() => sandbox.close());
    const heapOf = async (): Promise<number> => Number((await sandbox.invoke({ heap: true })).text);
    const claims = { sub: randomUUID(), email: 'ana@example.com' };
    const ask = async (): Promise<Answer> => {
      const dice = Math.random();
      if (dice < 0.55) return sandbox.invoke(makePost({ subject: 's', body: 'b' }, claims));
      const limit = dice < 0.8 ? {} : { limit: String(1 + Math.floor(Math.random() * 10)) };
      return sandbox.invoke({ ...makeEvent({ claims }), queryStringParameters: limit });
    };
    let before = 0;
    for (let done = 0; done < OPERATIONS; done++) {
      if (done === Math.floor(OPERATIONS / 4)) before = await heapOf();
      await tally(async () => {
        const { milliseconds, status } = await ask();
        expect([200, 201, 500]).toContain(status);
        return milliseconds;
      });
    }
    expect((await heapOf()) - before).toBeLessThan(HEAP_MARGIN);
    // An unhandled rejection would have ended the process; not even a warning has been written.
    expect(sandbox.lines.filter((line) => !/^\{"_aws":|"route":"\/inquiries"/.test(line))).toEqual([]);
  };
  await Promise.all(Array.from({ length: SANDBOXES }, work));
  table.close();
});
