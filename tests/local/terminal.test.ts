import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { formatLogLine, formatResponse } from '../../local/terminal.ts';

const entry = (level: string, message: unknown) =>
  JSON.stringify({ timestamp: '2026', level, message });
const request = { requestId: 'r', method: 'GET', route: '/inquiries', status: 500, attempts: 3 };
const mail = { requestId: 'r', inquiry: '01a1ffbe-1bf5-7fc3-8d87-b8b146727107', mail: 'inquiry' };

describe('a line of a function at a terminal', () => {
  it.each([
    ['metrics', '{"_aws":{}}', undefined],
    ['a request', entry('INFO', { ...request, status: 200 }), undefined],
    ["a client's mistake", entry('WARN', { ...request, status: 400 }), undefined],
    [
      'an internal error',
      entry('ERROR', { ...request, errorName: 'ECONNREFUSED' }),
      'ERROR ECONNREFUSED, requests to DynamoDB: 3',
    ],
    ['a mail', entry('INFO', { ...mail, outcome: 'sent' }), `mail inquiry ${mail.inquiry} sent`],
    [
      'a mail that is tried again',
      entry('WARN', { ...mail, outcome: 'failed', errorName: 'TimeoutError' }),
      `WARN mail inquiry ${mail.inquiry} failed, TimeoutError`,
    ],
    [
      'a mail that was sent before the start',
      entry('INFO', { ...mail, outcome: 'already-sent' }),
      undefined,
    ],
    ['text that a developer logs', entry('INFO', 'here'), 'INFO here'],
    ['an object that a developer logs', entry('WARN', { a: [1] }), 'WARN { a: [ 1 ] }'],
    ['what is not JSON', 'TypeError: x is undefined', 'TypeError: x is undefined'],
  ])('%s', (_, line, expected) => {
    const formatted = formatLogLine(line);
    expect(formatted && stripVTControlCharacters(formatted)).toBe(expected);
  });
});

it.each([
  ['/inquiries', 'GET /inquiries 200 6 ms'],
  ['/ana@example.com', 'GET (other path) 200 6 ms'],
  ['/\u009B31mred', 'GET (other path) 200 6 ms'],
  [`/${'x'.repeat(60)}`, 'GET (other path) 200 6 ms'],
])('a response to a request for %j at a terminal', (path, expected) => {
  const line = formatResponse({ method: 'GET', path, status: 200, milliseconds: 5.6 });
  expect(stripVTControlCharacters(line)).toBe(expected);
});
