/** Large bodies: as large as Lambda passes on, and as large as the function parses (docs/adr/0062). */

export interface LargeBody {
  readonly name: string;
  readonly base64: boolean;
  /** Status of the response. */
  readonly expected: number;
  make(): string;
}

/** Bytes for the body in Lambda's 6 MB, less the rest of the event; base64 takes four bytes for three. */
const LARGEST = 6_288_000;
/** The same in base64. */
const LARGEST_BASE64 = Math.floor((LARGEST * 3) / 4);
/** UTF-16 units: just under the length from which a body is 413 without being parsed. */
const PARSED = 2_590_000;
/** UTF-16 units: just under the length from which a body's structure is counted. */
const UNCOUNTED = 255 * 1024;

/** As many repetitions as fit between head and tail in so many UTF-16 units. */
const fill = (room: number, part: string, head = '', tail = ''): string =>
  head + part.repeat(Math.floor((room - head.length - tail.length) / part.length)) + tail;

const VALID = '{"subject":"s","body":"b","x":';
const SUBJECT = '{"body":"","subject":"';

export const bodies: readonly LargeBody[] = [
  body('6 MB of `[`', 413, () => fill(LARGEST, '[')),
  body('6 MB of `[`, base64', 413, () => fill(LARGEST_BASE64, '['), true),
  body('6 MB of digits', 413, () => fill(LARGEST, '1')),
  body('2.5 MB of `{},`', 413, () => fill(PARSED, '{},', `${VALID}[`, '{}]}')),
  body('2.5 MB of `{},`, base64', 413, () => fill(PARSED, '{},', `${VALID}[`, '{}]}'), true),
  body('250 KB of `[`', 500, () => fill(UNCOUNTED, '[')),
  body('250 KB of `{},`', 201, () => fill(UNCOUNTED, '{},', `${VALID}[`, '{}]}')),
  body('a field of 2.5 MB that is ignored', 201, () => fill(PARSED, 'x', `${VALID}"`, '"}')),
  body('the same, base64', 201, () => fill(PARSED, 'x', `${VALID}"`, '"}'), true),
  body('a subject of 2.5 MB', 413, () => fill(PARSED, 'x', SUBJECT, '"}')),
  body('a subject of 2 million euro signs', 413, () => fill(LARGEST / 3, '€', SUBJECT, '"}')),
  body('a subject of 390 KB, every byte escaped', 201, () => fill(390 * 1024 * 6, '\\u0078', SUBJECT, '"}')),
  body('2.5 MB of text that is not JSON', 500, () => fill(PARSED, 'a')),
];

function body(name: string, expected: number, make: () => string, base64 = false): LargeBody {
  return { name, expected, make, base64 };
}
