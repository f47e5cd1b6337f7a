import { afterEach, expect, it, vi } from 'vitest';
import { freeBetween } from '../../src/memory.ts';

const MB = 1024 * 1024;
const LARGE = 'x'.repeat(MB + 1);
const SMALL = LARGE.slice(1);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Handles an event and a small one after it; the process has grown by so many MB in between. */
async function run(body: string | undefined, response: string, growth: number) {
  vi.spyOn(process.memoryUsage, 'rss')
    .mockReturnValueOnce(60 * MB)
    .mockReturnValue((60 + growth) * MB);
  const calls: string[] = [];
  vi.stubGlobal('gc', () => void calls.push('gc'));
  const handler = freeBetween(async (event: { body?: string; response: string }, context: string) => {
    calls.push(context);
    return { body: event.response };
  });
  const event = { response, ...(body !== undefined && { body }) };
  expect(await handler(event, 'first')).toEqual({ body: response });
  expect(await handler({ response: '' }, 'second')).toEqual({ body: '' });
  return calls.join();
}

it.each([
  ['nothing after small events', SMALL, '', 67, 'first,second'],
  ['nothing after a small list', undefined, SMALL, 67, 'first,second'],
  ['what a large body has left', LARGE, '', 66, 'first,gc,second'],
  ['what a large response has left', undefined, LARGE, 66, 'first,gc,second'],
  ['at once what is needed for the response', undefined, LARGE, 67, 'first,gc,gc,second'],
])('frees %s', async (_, body, response, growth, calls) => {
  expect(await run(body, response, growth)).toBe(calls);
});

it('runs the handler where Node has no gc', async () => {
  vi.stubGlobal('gc', undefined);
  vi.spyOn(process.memoryUsage, 'rss').mockReturnValueOnce(0).mockReturnValue(Infinity);
  const response = { body: LARGE };
  const handler = freeBetween(async () => response);
  // A direct invocation may have no event.
  await handler(undefined as never, undefined);
  expect(await handler({}, undefined)).toBe(response);
});
