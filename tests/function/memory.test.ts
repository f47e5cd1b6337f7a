import { expect, it, vi } from 'vitest';
import { withGarbageCollection } from '../../src/memory.ts';

const MB = 1024 * 1024;
const LARGE = 'x'.repeat(MB + 1);
const SMALL = LARGE.slice(1);

/** The process grows by so many MB; its heap and its buffers have so many. */
function mockMemory(growth: number, heap: number): void {
  const { memoryUsage } = process;
  vi.spyOn(memoryUsage, 'rss')
    .mockReturnValue((60 + growth) * MB)
    .mockReturnValueOnce(60 * MB);
  const usage = { ...memoryUsage(), heapUsed: (heap - 3) * MB + 1, external: 3 * MB };
  vi.spyOn(process, 'memoryUsage').mockReturnValue(usage);
  Object.assign(process.memoryUsage, memoryUsage);
}

/** Handles an event and a small one after it. */
async function run(body: string | undefined, response: string, growth: number, heap: number) {
  mockMemory(growth, heap);
  const calls: string[] = [];
  vi.stubGlobal('gc', () => void calls.push('gc'));
  const handler = withGarbageCollection(
    async (event: { body?: string; response: string }, context: string) => {
      calls.push(context);
      return { body: event.response };
    },
  );
  const event = { response, ...(body !== undefined && { body }) };
  expect(await handler(event, 'first')).toEqual({ body: response });
  expect(await handler({ response: '' }, 'second')).toEqual({ body: '' });
  return calls.join();
}

it.each([
  ['nothing after small events', SMALL, '', 67, 99, 'first,second'],
  ['nothing after a small list', undefined, SMALL, 67, 99, 'first,second'],
  ['nothing after a large list that V8 has collected', undefined, LARGE, 66, 17, 'first,second'],
  ['what a large body has left', LARGE, '', 66, 18, 'first,gc,second'],
  ['what a large response has left', undefined, LARGE, 66, 18, 'first,gc,second'],
  ['at once what is needed for the response', undefined, LARGE, 67, 18, 'first,gc,gc,second'],
])('frees %s', async (_, body, response, growth, heap, calls) => {
  expect(await run(body, response, growth, heap)).toBe(calls);
});

it('runs the handler where Node has no gc', async () => {
  vi.stubGlobal('gc', undefined);
  mockMemory(Infinity, Infinity);
  const response = { body: LARGE };
  const handler = withGarbageCollection(async () => response);
  // A direct invocation may have no event.
  await handler(undefined as never, undefined);
  expect(await handler({}, undefined)).toBe(response);
});
