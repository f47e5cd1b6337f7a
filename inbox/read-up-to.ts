/**
 * Reads a file, pipe or request.
 *
 * @param limit - Bytes.
 * @returns undefined beyond the limit, where it closes a file or pipe.
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
