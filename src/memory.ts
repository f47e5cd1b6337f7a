/** Characters of an event's body and its response together that leave garbage worth collecting. */
const LARGE = 1024 * 1024;
/** Bytes of V8's heap and of buffers with which the event after a large one may begin; about 10 MB are no garbage. */
const HEAP = 18 * 1024 * 1024;
/** Bytes by which the process may have grown before the runtime makes its copies of a response. */
const GROWTH = 66 * 1024 * 1024;

/**
 * Wraps a handler so that the garbage of large events does not add up. V8 is told a heap as large as the function's memory,
 * and knows nothing of what buffers, stacks and code take: without this, several events of 6 MB in a row exceed the 128 MB.
 * Lambda starts Node with `--expose-gc`; without it, nothing is freed here. docs/adr/0062
 */
export function withGarbageCollection<
  Event extends { body?: string },
  Context,
  Response extends { body: string },
>(
  handler: (event: Event, context: Context) => Promise<Response>,
): (event: Event, context: Context) => Promise<Response> {
  const initial = process.memoryUsage.rss();
  /** Characters of the previous event and its response. */
  let size = 0;
  return async (event, context) => {
    if (size > LARGE) {
      const { heapUsed, external } = process.memoryUsage();
      // V8 has collected most of a long list by itself.
      if (heapUsed + external > HEAP) globalThis.gc?.();
    }
    const response = await handler(event, context);
    size = response.body.length + (event?.body?.length ?? 0);
    // Reading the size of the process takes as long as a tenth of a small request: after a large one only.
    if (size > LARGE && process.memoryUsage.rss() - initial > GROWTH) globalThis.gc?.();
    return response;
  };
}
