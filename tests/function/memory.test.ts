/** When garbage is collected; tests/resilience/memory.test.ts shows that it suffices. */
import { expect, it, vi } from 'vitest';
import { withGarbageCollection } from '../../src/memory.ts';

const MB = 1024 * 1024;
const LARGE = 'x'.repeat(MB + 1);
const SMALL = LARGE.slice(1);

/** A heap that is worth collecting. */
const heap = Buffer.alloc(20 * MB);

const wrap = () =>
  withGarbageCollection(async ({ response }: { body?: string; response: string }) => ({
    body: response,
  }));

it.each([
  ['not after a small event', { body: SMALL, response: '' }, 0],
  ['not after a small list', { response: SMALL }, 0],
  ['before the event that follows a large body', { body: LARGE, response: '' }, 1],
  ['before the event that follows a large response', { response: LARGE }, 1],
])('collects garbage %s', async (_, event, times) => {
  const gc = vi.fn<() => void>();
  vi.stubGlobal('gc', gc);
  const handler = wrap();
  expect(await handler(event, undefined)).toEqual({ body: event.response });
  expect(gc).not.toHaveBeenCalled();
  await handler({ response: '' }, undefined);
  expect(gc).toHaveBeenCalledTimes(times);
  expect(heap).toHaveLength(20 * MB);
});

it('collects at once what a large response leaves in a process that has grown', async () => {
  const gc = vi.fn<() => void>();
  vi.stubGlobal('gc', gc);
  const handler = wrap();
  const growth = Buffer.alloc(120 * MB, 1);
  await handler({ response: LARGE }, undefined);
  expect(gc).toHaveBeenCalledOnce();
  expect(growth).toHaveLength(120 * MB);
});

it('runs the handler where Node has no gc, and for a direct invocation without an event', async () => {
  vi.stubGlobal('gc', undefined);
  const response = { body: LARGE };
  const handler = withGarbageCollection(async () => response);
  await handler(undefined as never, undefined);
  expect(await handler({}, undefined)).toBe(response);
});
