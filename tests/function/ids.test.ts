import { expect, it } from 'vitest';
import { timeOf } from '../../src/contract.ts';
import { INQUIRY, SUB } from '../helpers/events.ts';

const { id, created_at } = INQUIRY;

it('the id of an inquiry has the time of created_at', () =>
  expect(timeOf(id)).toBe(Date.parse(created_at)));

it.each([
  'secret',
  // The version or variant is another.
  SUB,
  id.replace('-a975-', '-c975-'),
  id.toUpperCase(),
  id.replaceAll('-', ''),
  id.slice(1),
  ` ${id}`,
  `${id}\n`,
])('%j is no id', (text) => expect(() => timeOf(text)).toThrow(SyntaxError));
