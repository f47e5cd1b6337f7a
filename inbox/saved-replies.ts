import { createReadStream } from 'node:fs';
import { UsageError } from '../lib/command-line.ts';
import { readUpTo } from '../lib/read-up-to.ts';
import { escapeUnsafe } from '../lib/terminal-text.ts';

/** A text for replies; the page replaces `{name}` and `{reference}` in it. */
export interface SavedReply {
  readonly title: string;
  readonly text: string;
}

const DEFAULT_FILE = 'saved-replies.json';

/** Bytes. The page gets all of them at its start. */
const LIMIT = 1_048_576;

const isFilled = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';

/**
 * Reads the saved replies: a JSON list of objects with `title` and `text`.
 *
 * @param file - Default: saved-replies.json in the working folder, if it is there.
 * @throws UsageError in one line when it cannot be read or has another form.
 */
export async function readSavedReplies(file?: string): Promise<readonly SavedReply[]> {
  const fail = (reason: string): never => {
    throw new UsageError(
      `The saved replies in ${escapeUnsafe(file ?? DEFAULT_FILE)} cannot be used: ${reason}.`,
    );
  };
  let list: unknown;
  try {
    const bytes = await readUpTo(createReadStream(file ?? DEFAULT_FILE), LIMIT);
    list = JSON.parse((bytes ?? fail('it is larger than 1 MiB')).toString());
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && file === undefined) return [];
    return fail(code ?? 'it is not JSON');
  }
  if (!Array.isArray(list)) return fail('it is not a list');
  return list.map((entry: unknown, index) => {
    const { title, text } = Object(entry) as Record<string, unknown>;
    if (isFilled(title) && isFilled(text)) return { title, text };
    return fail(`entry ${index + 1} must have a "title" and a "text"`);
  });
}
