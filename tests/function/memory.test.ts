/** When garbage is collected; tests/resilience/memory.test.ts shows the effect. */
import { expect, it, vi } from 'vitest';
import { withGarbageCollection } from '../../src/memory.ts';

const MB = 1024 * 1024;

it('collects garbage before the event after a large one, and at once where the process grew', async () => {
  const rss = vi
    .spyOn(process.memoryUsage, 'rss')
    .mockReturnValueOnce(0)
    .mockReturnValue(20 * MB);
  const handler = withGarbageCollection(async ({ body }: { body: string }) => ({ body }));
  const handle = (length: number) => handler({ body: 'x'.repeat(length) }, undefined);
  const heap = Buffer.alloc(20 * MB);
  vi.stubGlobal('gc', undefined);
  for (let n = 0; n < 2; n++) await handle(MB);
  const gc = vi.fn<() => void>();
  vi.stubGlobal('gc', gc);
  const counts: number[] = [];
  for (const length of [0, 0, MB, 0]) {
    await handle(length);
    counts.push(gc.mock.calls.length);
  }
  rss.mockReturnValue(120 * MB);
  await handle(MB);
  expect([...counts, gc.mock.calls.length]).toEqual([1, 1, 1, 2, 3]);
  expect(heap).toHaveLength(20 * MB);
});
