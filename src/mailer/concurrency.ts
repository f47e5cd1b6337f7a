/** Mails of a batch, and requests of a digest, that are under way at the same time. */
export const CONCURRENCY = 10;

/** Runs `work` for each item, {@link CONCURRENCY} at most at the same time. @throws What `work` throws first. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items].values();
  const workOn = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, workOn));
}
