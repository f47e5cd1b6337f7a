import { promises, type PathLike } from 'node:fs';

/** Node's module would load ten others, 1 ms of a cold start. docs/adr/0060 */
export const readFile = async (path: PathLike, encoding: BufferEncoding): Promise<string> =>
  promises.readFile(path, encoding);
