/** Characters of an event's body and its response together from which memory is freed. */
const LARGE = 1024 * 1024;

function free(size: number): void {
  if (size > LARGE) globalThis.gc?.();
}

/**
 * Wraps a handler so that the garbage of a large event does not stay until the next one. V8 is told a heap as large as the
 * function's memory, and knows nothing of what buffers, stacks and code take: without this, several events of 6 MB in a row
 * exceed the 128 MB. Lambda starts Node with `--expose-gc`; without it, nothing is freed here. docs/adr/0062
 */
export function freeBetween<Event extends { body?: string }, Context, Response extends { body: string }>(
  handler: (event: Event, context: Context) => Promise<Response>,
): (event: Event, context: Context) => Promise<Response> {
  /** Of the response before, of which Lambda's runtime makes further copies after the handler has returned. */
  let left = 0;
  return async (event, context) => {
    free(left);
    const response = await handler(event, context);
    left = response.body.length;
    free(left + (event?.body?.length ?? 0));
    return response;
  };
}
