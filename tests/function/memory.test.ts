import { expect, it, vi } from 'vitest';
import { withGarbageCollection } from '../../src/memory.ts';

const MB = 1024 * 1024;

async function countCollections(
  sizes: number[],
  { rss = 0, hasGc = true } = {},
): Promise<number[]> {
  const usage = vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(0);
  const handler = withGarbageCollection(async ({ body }: { body: string }) => ({ body }));
  usage.mockReturnValue(rss);
  const gc = vi.fn<() => void>();
  vi.stubGlobal('gc', hasGc ? gc : undefined);
  const heap = Buffer.alloc(20 * MB);
  const counts: number[] = [];
  for (const size of sizes) {
    gc.mockClear();
    await handler({ body: 'x'.repeat(size) }, undefined);
    counts.push(gc.mock.calls.length);
  }
  expect(heap).toHaveLength(20 * MB);
  return counts;
}

it('collects garbage before the event after a large one', async () =>
  expect(await countCollections([0, 0, MB, 0, 0])).toEqual([0, 0, 0, 1, 0]));

it('collects garbage at once after a large event with which the process grew', async () =>
  expect(await countCollections([0, MB], { rss: 120 * MB })).toEqual([0, 1]));

it('answers large events where the runtime exposes no gc', async () =>
  expect(await countCollections([MB, MB], { hasGc: false })).toEqual([0, 0]));
