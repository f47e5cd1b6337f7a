/** Bytes by which the process may grow before memory is freed. */
const GROWTH = 32 * 1024 * 1024;

/**
 * Wraps a handler so that the garbage of a large event does not stay until the next one. V8 is told a heap as large as the
 * function's memory, and knows nothing of what buffers, stacks and code take: without this, several events of 6 MB in a row
 * exceed the 128 MB. Lambda starts Node with `--expose-gc`; without it, nothing is freed here. docs/adr/0062
 */
export function freeBetween<Event, Context, Response>(
  handler: (event: Event, context: Context) => Promise<Response>,
): (event: Event, context: Context) => Promise<Response> {
  const initial = process.memoryUsage.rss();
  const free = (): void => {
    if (process.memoryUsage.rss() - initial > GROWTH) globalThis.gc?.();
  };
  return async (event, context) => {
    free();
    const response = await handler(event, context);
    free();
    return response;
  };
}
