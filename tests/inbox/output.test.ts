import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { parseTime } from '../../inbox/arguments.ts';
import { toCsvText } from '../../inbox/export.ts';
import { cutText, formatTable } from '../../inbox/output.ts';
import { formatAge, formatDuration } from '../../inbox/words.ts';
import { toLines, wrapLine, wrapUsage } from '../../lib/terminal/terminal-text.ts';
import { HOSTILE_TEXTS } from '../text/hostile-texts.ts';

it('a text has a line for each of its own, and four spaces for a tab', () => {
  expect(toLines('a\r\nb\n\tc\u001b')).toEqual(['a', 'b', String.raw`    c\u001b`]);
});

it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['漢字漢字', 5, '漢字…'],
  ['漢字漢字', 4, '漢…'],
  ['👩‍👧👩‍👧', 4, '👩‍👧👩‍👧'],
  ['👩‍👧👩‍👧', 3, '👩‍👧…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  // A pile of marks cannot be shown.
  [`a${'\u0301'.repeat(500)}b`, 10, '\uFFFDb'],
])('%j in %d columns is %j', (text, columns, expected) => {
  expect(cutText(text, columns)).toBe(expected);
});

it('the help of a command has 80 columns, and its options keep theirs', () =>
  expect(wrapUsage(`\nUsage: x\n\n  --port N   ${'word '.repeat(16)}end\n`)).toBe(
    `Usage: x\n\n  --port N   ${'word '.repeat(12)}word\n             word word word end`,
  ));

it('a line of any length is shown on a terminal that does not know its width', () => {
  const line = 'word '.repeat(80_000);
  expect(wrapLine(line, 0)).toBe(line);
});

const columns = ['ID', 'EMAIL', 'SUBJECT'].map((head, at) => {
  return { head, cell: (row: string[]) => row[at] ?? '', flexible: at > 0 };
});

it.each([
  // The widest texts are cut, but not below eight columns. Text from right to left is isolated.
  [40, 'ana@example.com', 'x'.repeat(100), `ana@example.com  ${'x'.repeat(18)}…`],
  [10, 'ana@example.com', 'subject no. 1', 'ana@exa…  subject…'],
  [80, 'a@b', 'Re: שלום', 'a@b    \u2068Re: שלום\u2069'],
])('a table on a terminal of %d columns has %j and %j', (width, email, subject, row) => {
  expect(formatTable(columns, [['1', email, subject]], width).split('\n')[1]).toBe(`1   ${row}`);
});

it.each([40, 200])(
  'a table of hostile texts has no row of more than %d columns, and cells at the same column',
  (width) => {
    const rows = HOSTILE_TEXTS.map((text, n) => [String(n), text, 'END']);
    const lines = formatTable(columns, rows, width).split('\n').slice(0, -1);
    expect(lines).toHaveLength(rows.length + 1);
    expect(lines.filter((line) => stringWidth(line) > width)).toEqual([]);
    const places = lines.map((line) => stringWidth(line.slice(0, line.search(/(SUBJECT|END)$/))));
    expect(new Set(places).size).toBe(1);
  },
);

it.each([
  [0, '0s', 'now'],
  [59_999, '59s', 'now'],
  [60_000, '1m', '1m ago'],
  [86_400_000 * 400, '400d', '400d ago'],
  [-86_400_000 * 2, '0s', 'in 2d'],
])('%d ms is %s, and that long ago is %s', (milliseconds, duration, age) => {
  expect([formatDuration(milliseconds), formatAge(-milliseconds, 0)]).toEqual([duration, age]);
});

const NOW = Date.parse('2026-11-21T12:00:00Z');

it.each([
  ['30m', NOW - 30 * 60_000],
  ['2w', NOW - 14 * 86_400_000],
  ['2024-02-29', new Date(2024, 1, 29).getTime()],
  ['2026-11-01T10:30', new Date(2026, 10, 1, 10, 30).getTime()],
  ['2026-11-01T10:30:05.123+09:00', Date.UTC(2026, 10, 1, 1, 30, 5, 123)],
])('--since takes %s', (text, expected) => {
  expect(parseTime(text, '--since', NOW)).toBe(expected);
});

it.each([
  '',
  '-7d',
  '7y',
  '2026-02-30',
  '2026-02-30T10:00Z',
  '2026-11-01T25:00',
  '2026-11-01T10:00:',
  '\u001b[2J',
])('--since refuses %j in one line', (text) => {
  expect(() => parseTime(text, '--since', NOW)).toThrow(/^--since must be [^\p{Cc}]*$/u);
});

it.each([
  ...Array.from('=+-@＝＋－＠', (sign): [string, string] => [`${sign}1`, `'${sign}1`]),
  ['\t=1', "'    =1"],
  ['"=1', `'"=1`],
  ['a\n=1', "a\n'=1"],
  ['a; "" @1', `a;' "" @1`],
  ['a|-1', "a|'-1"],
  ['a = b - c, x@example.com', 'a = b - c, x@example.com'],
])('%j is written as %j for a spreadsheet', (text, expected) => {
  expect(toCsvText(text)).toBe(expected);
});
