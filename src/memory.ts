/** UTF-16 units. After an event whose body and response together are longer, memory is looked at. */
const LARGE = 1024 * 1024;
/** Bytes of heap and buffers. If more are in use when the next event begins, garbage is collected first. */
const HEAP = 18 * 1024 * 1024;
/** Bytes by which memory may have grown when the runtime copies a response; it needs the rest for the copy. */
const GROWTH = 66 * 1024 * 1024;

/** Several events of 6 MB in a row would exceed 128 MB. docs/adr/0062 */
export function withGarbageCollection<
  Event extends { body?: string },
  Context,
  Response extends { body: string },
>(
  handler: (event: Event, context: Context) => Promise<Response>,
): (event: Event, context: Context) => Promise<Response> {
  const initial = process.memoryUsage.rss();
  let size = 0;
  return async (event, context) => {
    if (size > LARGE) {
      const { heapUsed, external } = process.memoryUsage();
      if (heapUsed + external > HEAP) globalThis.gc?.();
    }
    const response = await handler(event, context);
    size = response.body.length + (event?.body?.length ?? 0);
    // Reading it takes a tenth of a small request's time.
    if (size > LARGE && process.memoryUsage.rss() - initial > GROWTH) globalThis.gc?.();
    return response;
  };
}
