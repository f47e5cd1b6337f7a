import { expect, it } from 'vitest';
import { timeOf } from '../../src/contract.ts';
import { INQUIRY, SUB } from '../helpers/events.ts';

const { id, created_at } = INQUIRY;

it('the id of an inquiry has the time of created_at', () => {
  expect(timeOf(id)).toBe(Date.parse(created_at));
});

it.each([
  ['another text', 'secret'],
  ['another version', SUB],
  ['another variant', id.replace('-a975-', '-c975-')],
  ['upper case', id.toUpperCase()],
  ['no hyphens', id.replaceAll('-', '')],
  ...[0, 9, 14, 19, 24].map((at) => [`no digit at ${at}`, id.slice(0, at) + id.slice(at + 1)]),
  ['a space before it', ` ${id}`],
  ['a line end after it', `${id}\n`],
])('an id is refused that has %s', (_, text) => {
  expect(() => timeOf(text)).toThrow(SyntaxError);
});
