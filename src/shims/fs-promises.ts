import { promises, type PathLike } from 'node:fs';

/**
 * Replaces Node's module, which loads ten others, 1 ms of a cold start: the SDK reads settings that it is not given from
 * files. docs/adr/0060
 */
export const readFile = async (path: PathLike, encoding: BufferEncoding): Promise<string> =>
  promises.readFile(path, encoding);
