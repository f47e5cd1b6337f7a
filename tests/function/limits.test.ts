import { expect, it } from 'vitest';
import { timeOf } from '../../src/contract.ts';
import { INQUIRY_ID } from '../../src/limits.ts';
import { INQUIRY, SUB } from '../helpers/events.ts';

const { id, created_at } = INQUIRY;

it('the id of an inquiry has the time of created_at', () => {
  expect(id).toMatch(INQUIRY_ID);
  expect(timeOf(id)).toBe(Date.parse(created_at));
});

it.each([
  ['is another text', 'secret'],
  ['has another version', SUB],
  ['has another variant', id.replace('-a975-', '-c975-')],
  ['is in upper case', id.toUpperCase()],
  ['has no hyphens', id.replaceAll('-', '')],
  ['has a digit that is not hexadecimal', id.replace('0', 'g')],
  ...[0, 9, 14, 19, 24].map((at) => [`lacks a digit at ${at}`, id.slice(0, at) + id.slice(at + 1)]),
  ['has a space before it', ` ${id}`],
  ['has a line end after it', `${id}\n`],
] as [string, string][])('an id is refused when it %s', (_, text) => {
  expect(text).not.toMatch(INQUIRY_ID);
  expect(() => timeOf(text)).toThrow(new SyntaxError('The text is not the id of an inquiry.'));
});
