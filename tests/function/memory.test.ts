/** When garbage is collected; tests/resilience/memory.test.ts shows that it suffices. */
import { expect, it, vi } from 'vitest';
import { withGarbageCollection } from '../../src/memory.ts';

const MB = 1024 * 1024;
const LARGE = 'x'.repeat(MB + 1);
const SMALL = LARGE.slice(1);

it.each<[string, string | undefined, string, number, number, number]>([
  ['not after a small event', SMALL, '', 20, 0, 0],
  ['not after a small list', undefined, SMALL, 20, 0, 0],
  ['before the event that follows a large body', LARGE, '', 20, 0, 1],
  ['before the event that follows a large response', undefined, LARGE, 20, 0, 1],
  ['at once in a process that has grown', undefined, LARGE, 120, 1, 2],
])('collects garbage %s', async (_, body, response, megabytes, atOnce, later) => {
  const gc = vi.fn<() => void>();
  vi.stubGlobal('gc', gc);
  const rss = vi.spyOn(process.memoryUsage, 'rss').mockReturnValueOnce(0);
  rss.mockReturnValue(megabytes * MB);
  const handle = vi.fn<(event: { body?: string }) => Promise<{ body: string }>>();
  const handler = withGarbageCollection(handle.mockResolvedValueOnce({ body: response }));
  /** A heap that is worth collecting. */
  const heap = Buffer.alloc(20 * MB);
  await handler({ ...(body !== undefined && { body }) }, undefined);
  expect(gc).toHaveBeenCalledTimes(atOnce);
  handle.mockResolvedValueOnce({ body: '' });
  // A direct invocation without an event.
  await handler(undefined as never, undefined);
  expect(gc).toHaveBeenCalledTimes(later);
  expect(heap).toHaveLength(20 * MB);
});

it('runs the handler where Node has no gc', async () => {
  vi.stubGlobal('gc', undefined);
  const handler = withGarbageCollection(async () => ({ body: LARGE }));
  for (let n = 0; n < 2; n++) expect(await handler({}, undefined)).toEqual({ body: LARGE });
});
