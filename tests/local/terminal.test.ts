import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { formatLogLine, formatResponse } from '../../local/terminal.ts';

const entry = (level: string, message: unknown) =>
  JSON.stringify({ timestamp: '2026', level, message });
const request = { requestId: 'r', route: '/inquiries', attempts: 3, errorName: 'ECONNREFUSED' };
const mail = { requestId: 'r', inquiry: '01a1ffbe', mail: 'inquiry' };
const retried = { ...mail, outcome: 'failed', errorName: 'TimeoutError' };

it.each([
  ['{"_aws":{}}', undefined],
  [entry('INFO', request), undefined],
  [entry('ERROR', request), 'ERROR ECONNREFUSED, requests to DynamoDB: 3'],
  [entry('INFO', { ...mail, outcome: 'sent' }), 'INFO mail inquiry 01a1ffbe sent'],
  [entry('WARN', retried), 'WARN mail inquiry 01a1ffbe failed TimeoutError'],
  // Sent before the start.
  [entry('INFO', { ...mail, outcome: 'already-sent' }), undefined],
  [entry('INFO', 'here'), 'INFO here'],
  [entry('WARN', { a: [1] }), 'WARN { a: [ 1 ] }'],
  ['TypeError: x is undefined', 'TypeError: x is undefined'],
])('a terminal shows the line %s as %j', (line, expected) => {
  const formatted = formatLogLine(line);
  expect(formatted && stripVTControlCharacters(formatted)).toBe(expected);
});

it.each([
  ['/inquiries', 'GET /inquiries 200 6 ms'],
  ['/ana@example.com', 'GET (other path) 200 6 ms'],
])('a terminal shows a request for %s as %s', (path, expected) => {
  const line = formatResponse({ method: 'GET', path, status: 200, milliseconds: 5.6 });
  expect(stripVTControlCharacters(line)).toBe(expected);
});
