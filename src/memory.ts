/** UTF-16 units of body and response together. After a longer event, memory is checked. */
const LARGE = 1024 * 1024;
/** Bytes of heap and buffers. With more in use, garbage is collected before the next event. */
const HEAP = 18 * 1024 * 1024;
/** Bytes by which memory may grow. The runtime needs the rest to copy the response. */
const GROWTH = 66 * 1024 * 1024;

/** Without this, several events of 6 MB in a row would exceed 128 MB. docs/adr/0062 */
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
    // Reading the RSS takes a tenth of a small request's time.
    if (size > LARGE && process.memoryUsage.rss() - initial > GROWTH) globalThis.gc?.();
    return response;
  };
}
