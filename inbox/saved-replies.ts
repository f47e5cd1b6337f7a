import { createReadStream } from 'node:fs';
import { UsageError } from '../lib/terminal/command-line.ts';
import { readUpTo } from './read-up-to.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';

/** With `{name}` and `{reference}`. */
export interface SavedReply {
  title: string;
  text: string;
}

/** Bytes. Each page of an inquiry has all saved replies. */
const LIMIT = 1_048_576;

const isFilled = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';

/**
 * @param file - Default: saved-replies.json in the working folder, if it exists.
 * @throws UsageError if it cannot be read or is malformed.
 */
export async function readSavedReplies(file?: string): Promise<SavedReply[]> {
  const path = file ?? 'saved-replies.json';
  const fail = (reason: string): never => {
    throw new UsageError(`The saved replies in ${escapeUnsafe(path)} cannot be used: ${reason}.`);
  };
  const json = await readUpTo(createReadStream(path), LIMIT).catch(
    ({ code = '' }: NodeJS.ErrnoException) =>
      code === 'ENOENT' && file === undefined ? Buffer.from('[]') : fail(code),
  );
  if (json === undefined) return fail('it is larger than 1 MiB');
  let list: unknown;
  try {
    list = JSON.parse(json.toString());
  } catch {
    return fail('it is not JSON');
  }
  if (!Array.isArray(list)) return fail('it is not a list');
  return list.map((entry: unknown, index) => {
    const { title, text } = Object(entry) as Record<string, unknown>;
    if (isFilled(title) && isFilled(text)) return { title, text };
    return fail(`entry ${index + 1} must have a "title" and a "text"`);
  });
}
