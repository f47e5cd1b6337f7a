import { afterEach, expect, it, vi } from 'vitest';
import { freeBetween } from '../../src/memory.ts';

const MB = 1024 * 1024;
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Runs one event; `sizes` are those of the process in MB: at first, before the event and after it. */
async function run(...sizes: number[]) {
  const size = vi.spyOn(process.memoryUsage, 'rss');
  for (const megabytes of sizes) size.mockReturnValueOnce(megabytes * MB);
  const calls: string[] = [];
  vi.stubGlobal('gc', () => void calls.push('gc'));
  const handler = freeBetween(async (event: string, context: string) => {
    calls.push(event);
    return `${event} ${context}`;
  });
  expect(await handler('event', 'context')).toBe('event context');
  return calls.join();
}

it.each([
  ['nothing while the process has its size', [60, 92, 92], 'event'],
  ['what an earlier event has left', [60, 93, 60], 'gc,event'],
  ['what the event has left', [60, 60, 93], 'event,gc'],
])('frees %s', async (_, sizes, calls) => {
  expect(await run(...sizes)).toBe(calls);
});

it('runs the handler where Node has no gc', async () => {
  vi.stubGlobal('gc', undefined);
  vi.spyOn(process.memoryUsage, 'rss')
    .mockReturnValueOnce(0)
    .mockReturnValue(99 * MB);
  expect(await freeBetween(async (event: string) => event)('event', undefined)).toBe('event');
});
