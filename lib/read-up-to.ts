/**
 * Reads a file, a pipe or a request.
 *
 * @param limit - Bytes.
 * @returns undefined when there are more, of which no more is read. Files and pipes are closed then.
 */
export async function readUpTo(
  chunks: AsyncIterable<Buffer>,
  limit: number,
): Promise<Buffer | undefined> {
  const read: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) return undefined;
    read.push(chunk);
  }
  return Buffer.concat(read);
}
