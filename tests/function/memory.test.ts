import { afterEach, expect, it, vi } from 'vitest';
import { freeBetween } from '../../src/memory.ts';

afterEach(() => void vi.unstubAllGlobals());

const LARGE = 'x'.repeat(1024 * 1024 + 1);
const SMALL = LARGE.slice(1);

/** Handles events with these bodies, which are those of their responses. */
async function run(events: readonly (readonly [body: string | undefined, response: string])[]) {
  const calls: string[] = [];
  vi.stubGlobal('gc', () => void calls.push('gc'));
  const handler = freeBetween(async (event: { body?: string; response: string }, context: string) => {
    calls.push(context);
    return { body: event.response };
  });
  for (const [body, response] of events) {
    const event = { response, ...(body !== undefined && { body }) };
    expect(await handler(event, 'event')).toEqual({ body: response });
  }
  return calls.join();
}

it.each([
  ['nothing after small events', [SMALL, ''], 'event,event'],
  ['nothing after an event without a body', [undefined, SMALL], 'event,event'],
  ['what a large body has left', [LARGE, ''], 'event,gc,event'],
  ['what a large response has left, also after the handler', [undefined, LARGE], 'event,gc,gc,event'],
] as const)('frees %s', async (_, event, calls) => {
  expect(await run([event, ['', '']])).toBe(calls);
});

it('runs the handler where Node has no gc', async () => {
  vi.stubGlobal('gc', undefined);
  const response = { body: LARGE };
  expect(await freeBetween(async () => response)({}, undefined)).toBe(response);
});
