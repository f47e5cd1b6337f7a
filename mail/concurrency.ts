/** Mails of a batch or requests of a digest that are sent at the same time. */
const CONCURRENCY = 10;

/** Runs `work` for each item, at most {@link CONCURRENCY} at once. @throws The first error of `work`. */
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
