/** The size of an inquiry, counted as the service counts it: bytes of UTF-8. */
import { ITEM_LIMIT } from '../../src/limits.ts';

/** From this size on the form warns. An item holds names and keys, too, so the service may refuse a little less. */
const NEAR = ITEM_LIMIT * 0.9;

export interface Size {
  readonly characters: number;
  readonly bytes: number;
  readonly level: 'fine' | 'near' | 'over';
}

const encoder = new TextEncoder();

/** Measures subject and message together; a character is a code point, as a reader would count it at the least. */
export function measure(subject: string, body: string): Size {
  const bytes = encoder.encode(subject).length + encoder.encode(body).length;
  const level = bytes > ITEM_LIMIT ? 'over' : bytes >= NEAR ? 'near' : 'fine';
  return { characters: countCodePoints(subject) + countCodePoints(body), bytes, level };
}

function countCodePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    count++;
    if ((text.codePointAt(index) ?? 0) > 0xffff) index++;
  }
  return count;
}
