/** Bodies as large as Lambda takes them, made to hurt a parser. */

export interface LargeBody {
  readonly name: string;
  readonly make: () => string;
  readonly base64: boolean;
  /** Status of the answer. */
  readonly expected: number;
}

/**
 * Bytes left for the body in Lambda's 6 MB (6,291,556) once the rest of the event is in. In the event the body is a
 * JSON string, in which a quotation mark takes two bytes, or base64, in which three bytes take four.
 */
const ROOM = 6_288_000;

/** Bytes of a text inside the event. */
const size = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** As many repetitions as fit between head and tail. */
function fill(part: string, { head = '', tail = '', room = ROOM } = {}): string {
  return head + part.repeat(Math.floor((room - size(head) - size(tail)) / size(part))) + tail;
}

const VALID = '{"subject":"s","body":"b","x":';

const shapes: [name: string, expected: number, make: (room: number) => string][] = [
  ['[[[[…', 500, (room) => fill('[', { room })],
  ['[[[[…]]]]', 400, (room) => fill('[', { room: room / 2 }) + fill(']', { room: room / 2 })],
  ['[{},{},…]', 400, (room) => fill('{},', { head: '[', tail: '{}]', room })],
  ['{"a":{"a":…', 500, (room) => fill('{"a":', { room })],
  ['[0,0,…]', 400, (room) => fill('0,', { head: '[', tail: '0]', room })],
  ['["","",…]', 400, (room) => fill('"",', { head: '[', tail: '""]', room })],
  ['a million keys', 400, (room) => manyKeys('{', room)],
  ['valid, with a million keys', 201, (room) => manyKeys('{"subject":"s","body":"b",', room)],
  ['valid, with [[[[…]]]]', 201, (room) => VALID + nested(room - 100) + '}'],
  ['valid, with [{},{},…]', 201, (room) => fill('{},', { head: `${VALID}[`, tail: '{}]}', room })],
  ['valid, with a long string', 201, (room) => fill('x', { head: `${VALID}"`, tail: '"}', room })],
  ['a long subject', 413, (room) => fill('x', { head: '{"body":"","subject":"', tail: '"}', room })],
  [
    'a long subject in escapes',
    413,
    (room) => fill('\\u00e9', { head: '{"body":"","subject":"', tail: '"}', room }),
  ],
  [
    'a long subject beyond Latin 1',
    413,
    (room) => fill('\u20ac', { head: '{"body":"","subject":"', tail: '"}', room }),
  ],
  [
    'the same field again and again',
    201,
    (room) => fill('"body":"",', { head: '{"subject":"s",', tail: '"body":"b"}', room }),
  ],
  ['text that is not JSON', 500, (room) => fill('a', { room })],
];

export const bodies: readonly LargeBody[] = shapes.flatMap(([name, expected, make]) => [
  { name, expected, base64: false, make: () => make(ROOM) },
  // Escapes do not count inside base64; that the texts are a little shorter than they could be does no harm.
  { name: `${name} in base64`, expected, base64: true, make: () => make(Math.floor((ROOM * 3) / 4)) },
]);

const nested = (room: number): string => fill('[', { room: room / 2 }) + fill(']', { room: room / 2 });

function manyKeys(head: string, room: number): string {
  const parts = [head];
  let bytes = head.length;
  for (let key = 0; ; key++) {
    const part = `"k${key.toString(36)}":0,`;
    bytes += part.length + 2;
    if (bytes > room - 100) break;
    parts.push(part);
  }
  return `${parts.join('')}"k":0}`;
}
