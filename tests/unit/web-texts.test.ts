/** Sizes, formats and messages of the contact form. */
import { describe, expect, it } from 'vitest';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createEntities, createInquiryStore } from '../../src/entities/inquiry-store.ts';
import {
  beginningOf,
  directionOf,
  formatBytes,
  formatClock,
  formatCount,
  formatTime,
} from '../../web/src/format.ts';
import {
  describeListFailure,
  describeOldAttempt,
  describeSendFailure,
  describeSize,
} from '../../web/src/messages.ts';
import type { Failure } from '../../web/src/api.ts';
import { INQUIRY, makeCall } from '../helpers/events.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';
import { measure } from '../../web/src/size.ts';

describe('the size of an inquiry', () => {
  it.each([
    ['', '', 0, 0],
    ['a', 'b', 2, 2],
    ['é', '', 1, 2],
    ['€', '', 1, 3],
    ['🎂', '🎂', 2, 8],
    ['\ud800', '', 1, 3],
  ])('counts %j and %j as %i characters and %i bytes of UTF-8', (subject, body, characters, bytes) => {
    expect(measure(subject, body)).toMatchObject({ characters, bytes });
  });

  it('is near the limit from nine tenths of it, and over it one byte beyond', () => {
    const level = (bytes: number) => measure('', 'x'.repeat(bytes)).level;
    expect(level(ITEM_LIMIT * 0.9 - 1)).toBe('fine');
    expect(level(ITEM_LIMIT * 0.9)).toBe('near');
    expect(level(ITEM_LIMIT)).toBe('near');
    expect(level(ITEM_LIMIT + 1)).toBe('over');
  });

  it('never refuses what the service would store', async () => {
    const client = new DynamoDBClient();
    client.send = async () => ({ ConsumedCapacity: {}, $metadata: {} });
    const store = createInquiryStore(client, createEntities('any'));
    const put = (body: string) => store.put({ ...INQUIRY, email: '', body }, makeCall());
    expect(await put('x'.repeat(ITEM_LIMIT - 1024))).toEqual({ id: INQUIRY.id });
    expect(await put('x'.repeat(ITEM_LIMIT + 1))).toEqual({ refusal: 'inquiry' });
  });

  it('is said only when it matters', () => {
    const say = (bytes: number) => describeSize(measure('', 'x'.repeat(bytes)));
    expect(say(1000)).toBeUndefined();
    expect(say(ITEM_LIMIT - 1)).toBe('Almost full: 1 byte left.');
    expect(say(ITEM_LIMIT + 2048)).toBe('Too large by 2 KB. Please shorten the message.');
  });
});

describe('numbers', () => {
  it.each([
    [1, '1 byte'],
    [1023, '1023 bytes'],
    [1025, '1.1 KB'],
    [100 * 1024 + 1, '101 KB'],
    [ITEM_LIMIT + 1, '401 KB'],
  ])('writes %i bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it('counts with the right form of the noun', () => {
    expect(formatCount(0, 'character')).toBe('0 characters');
    expect(formatCount(1, 'inquiry', 'inquiries')).toBe('1 inquiry');
    expect(formatCount(1234, 'inquiry', 'inquiries')).toBe('1,234 inquiries');
  });
});

describe('times', () => {
  it('are written in the zone and the language of the reader, to the second on demand', () => {
    const time = formatTime('2026-07-01T22:30:05.123Z', 'de-AT', 'Europe/Vienna');
    expect(time.short).toBe('02.07.2026, 00:30');
    expect(time.exact).toMatch(/^Donnerstag, 2\. Juli 2026.* 00:30:05 MESZ$/);
    expect(time.language).toBe('de-AT');
    expect(time.machine).toBe('2026-07-01T22:30:05.123Z');
  });

  it('are shown as they came when they are none', () => {
    expect(formatTime('<b>', 'en')).toMatchObject({ short: '<b>', exact: '<b>', machine: '' });
  });
});

describe('the time of day', () => {
  it.each([
    ['2026-07-01T12:05:00.000Z', '14:05'],
    ['2026-07-01T12:05:00.001Z', '14:06'],
    ['2026-07-01T21:59:30.000Z', '00:00'],
  ])('from which on %s has passed is %s in the zone of the reader', (timestamp, time) => {
    expect(formatClock(Date.parse(timestamp), 'de-AT', 'Europe/Vienna')).toBe(time);
  });
});

describe('the beginning of a text', () => {
  it('ends before a character that would be cut in half', () => {
    expect([3, 4, 5].map((length) => beginningOf('ab🎂c', length))).toEqual(['ab', 'ab🎂', 'ab🎂c']);
  });
});

describe('the direction of a text', () => {
  it.each([
    ['', 'ltr'],
    ['123 !? 🎂', 'ltr'],
    ['123 שלום', 'rtl'],
    ['abc مرحبا', 'ltr'],
    ['\u202Eabc', 'ltr'],
  ])('of %j is %s, by its first letter', (text, direction) => {
    expect(directionOf(text)).toBe(direction);
  });
});

describe('what is said of a failure', () => {
  const kinds: Failure['kind'][] = [
    'signed-out',
    'too-large',
    'busy',
    'limit',
    'refused',
    'offline',
    'unreachable',
    'server',
  ];

  it.each(kinds)('%s: what happened, and that nothing typed is lost or what to do about it', (kind) => {
    const { title, text } = describeSendFailure({ kind, mayBeDone: false }, 0);
    expect(title).not.toBe('');
    expect(text).toContain('Nothing was sent');
    expect(text).toMatch(/text is kept|shorten/);
    expect(describeListFailure({ kind, mayBeDone: false }).text).toContain('could not be loaded');
  });

  it.each(['offline', 'unreachable', 'server', 'busy', 'conflict'] as const)(
    '%s: says that the outcome is unknown and that trying again is safe',
    (kind) => {
      expect(describeSendFailure({ kind, mayBeDone: true }, 0).text).toBe(
        'We cannot tell yet whether your inquiry arrived. Your text is kept. “Try again” is safe: it is stored once.',
      );
    },
  );

  it('signed-out: says that the outcome is unknown and that signing in finishes it', () => {
    const { text } = describeSendFailure({ kind: 'signed-out', mayBeDone: true }, 0);
    expect(text).toMatch(/cannot tell yet .* Your text is kept\. Sign in again and it is sent again/);
  });

  it('reused: says that another version was sent and asks whether to send this one', () => {
    const { title, text } = describeSendFailure({ kind: 'reused', mayBeDone: false }, 0);
    expect(title).toBe('An earlier version of this inquiry was sent already');
    expect(text).toMatch(/in your list.*Your text is kept.*\?$/);
  });

  it.each([
    [1, 'in 1 minute, at'],
    [60, 'in 1 minute, at'],
    [61, 'in 2 minutes, at'],
    [3_540, 'in 59 minutes, at'],
    [3_541, 'you can send it at'],
  ])('limit: says when the next inquiry can be sent, %i seconds from now: %s', (retryAfter, text) => {
    const now = Date.parse('2026-07-01T12:05:00Z');
    const said = describeSendFailure({ kind: 'limit', mayBeDone: false, retryAfter }, now).text;
    expect(said).toContain(`${text} ${formatClock(now + retryAfter * 1_000)}.`);
    expect(said).toContain('Your text is kept');
  });

  it('names the time of an attempt whose outcome can no longer be asked for', () => {
    const { text } = describeOldAttempt(Date.parse('2026-07-01T12:05:00Z'));
    expect(text).toContain(`on ${formatTime('2026-07-01T12:05:00Z').short} may have succeeded`);
    expect(text).toContain('your list shows it');
  });

  it('repeats what the service says when it refuses', () => {
    expect(describeSendFailure({ kind: 'refused', mayBeDone: false, message: 'Because.' }, 0).text).toMatch(
      /Because\.$/,
    );
  });
});
