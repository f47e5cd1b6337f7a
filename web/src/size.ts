/** How large an inquiry is, counted as the service counts it: bytes of UTF-8. */

/** What one item of the store holds, its own names and keys included; the service has the last word. */
export const LIMIT = 400 * 1024;
/** From here on the form warns. */
const NEAR = LIMIT * 0.9;

export interface Size {
  readonly characters: number;
  readonly bytes: number;
  readonly level: 'fine' | 'near' | 'over';
}

const encoder = new TextEncoder();

/** Measures subject and message together; a character is a code point, as a reader would count it at the least. */
export function measure(subject: string, body: string): Size {
  const bytes = encoder.encode(subject).length + encoder.encode(body).length;
  const level = bytes > LIMIT ? 'over' : bytes >= NEAR ? 'near' : 'fine';
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
