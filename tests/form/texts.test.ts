/** Sizes, formats and messages of the contact form. */
import { describe, expect, it } from 'vitest';
import { beginningOf, directionOf } from '../../web/ui/format.ts';
import { strings } from '../../web/src/languages/en.ts';
import { chooseLanguage, createLocale, loadLocale } from '../../web/src/locale.ts';
import * as messages from '../../web/src/messages.ts';
import type { Failure } from '../../web/src/api.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';
import { measure } from '../../web/src/size.ts';
import { toggleTopic } from '../../web/src/subject.ts';

const EN = createLocale('en', strings, ['en-GB'], 'Europe/Vienna');

describe('the size of an inquiry', () => {
  it.each([
    ['', '', 0],
    ['€', '', 3],
    ['🎂', '🎂', 8],
    ['\ud800', '', 3],
  ])('counts %j and %j as %i bytes of UTF-8', (subject, body, bytes) => {
    expect(measure({ subject, body })).toMatchObject({ bytes });
  });

  it.each([
    [ITEM_LIMIT * 0.8 - 1, 'fine', ''],
    [ITEM_LIMIT * 0.8, 'near', '320 kB of 400 kB'],
    [ITEM_LIMIT, 'near', '400 kB of 400 kB'],
    [ITEM_LIMIT + 1, 'over', 'Too long by 1 byte. Please shorten your message.'],
    [ITEM_LIMIT + 2048, 'over', 'Too long by 2 kB. Please shorten your message.'],
  ])('of %i bytes is %s, and shown from four fifths of the limit on: %j', (bytes, level, text) => {
    const measured = measure({ subject: '', body: 'x'.repeat(bytes) });
    expect([measured.level, messages.describeSize(EN, measured)]).toEqual([level, text]);
  });
});

describe('a topic', () => {
  const topics = ['Billing', 'Billing: refund', 'Delivery'];
  it.each([
    ['', 'Delivery', 'Delivery'],
    ['  ', 'Delivery', 'Delivery'],
    ['Billing', 'Delivery', 'Delivery'],
    ['Delivery', 'Delivery', ''],
    ['my text', 'Delivery', 'Delivery: my text'],
    ['Delivery: my text', 'Billing', 'Billing: my text'],
    ['Delivery: my text', 'Delivery', 'my text'],
    ['Billing: refund', 'Delivery', 'Delivery'],
    ['Deliveryman', 'Billing', 'Billing: Deliveryman'],
  ])('changes the subject %j by %j to %j: what the user typed stays', (subject, topic, result) => {
    expect(toggleTopic(subject, topic, topics)).toBe(result);
  });
});

it.each([
  [1, '1 byte'],
  [1023, '1,023 bytes'],
  [1025, '1.1 kB'],
  [ITEM_LIMIT + 1, '401 kB'],
])('writes %i bytes as %s', (bytes, text) => {
  expect(EN.formatBytes(bytes)).toBe(text);
});

it('text that is no time is returned unchanged', () => {
  expect(EN.formatTime('<b>')).toMatchObject({ short: '<b>', exact: '<b>', machine: '' });
});

it.each([
  ['2026-07-01T12:05:00.000Z', '14:05'],
  ['2026-07-01T12:05:00.001Z', '14:06'],
  ['2026-07-01T21:59:30.000Z', '00:00'],
])(
  'the time of day of %s, rounded up to the minute, is %s in the zone of the reader',
  (timestamp, time) => {
    expect(EN.formatClock(Date.parse(timestamp))).toBe(time);
  },
);

it('the beginning of a text ends before a character that would be cut in half', () => {
  expect([3, 4, 5].map((length) => beginningOf('ab🎂c', length))).toEqual(['ab', 'ab🎂', 'ab🎂c']);
});

it.each([
  ['', 'ltr'],
  ['123 !? 🎂', 'ltr'],
  ['123 שלום', 'rtl'],
  ['abc مرحبا', 'ltr'],
  ['\u202Eabc', 'ltr'],
])('the direction of the text %j is %s, by its first letter', (text, direction) => {
  expect(directionOf(text)).toBe(direction);
});

describe('the message for a failure', () => {
  const { unknown, nothingSent, textKept, trySafely, signInToFinish } = strings.failures;

  it.each<Failure['kind']>(['signed-out', 'limit', 'server'])(
    '%s: what happened, whether something was sent, and that the text is kept',
    (kind) => {
      for (const [mayBeDone, outcome] of [
        [false, nothingSent],
        [true, unknown],
      ] as const) {
        const { title, text } = messages.describeSendFailure(EN, { kind, mayBeDone }, 0);
        expect(title).toBe(strings.failures[kind]);
        expect(text.startsWith(`${outcome} ${textKept}`)).toBe(true);
      }
    },
  );

  it('says what to do', () => {
    const explain = (failure: Failure) => messages.describeSendFailure(EN, failure, 0).text;
    expect(explain({ kind: 'server', mayBeDone: true })).toContain(trySafely);
    expect(explain({ kind: 'signed-out', mayBeDone: true })).toContain(signInToFinish);
    expect(explain({ kind: 'reused', mayBeDone: false })).toBe(strings.failures.otherVersion);
    const refused = { kind: 'refused', mayBeDone: false, message: 'Because.' } as const;
    expect(explain(refused)).toMatch(/ \u2068Because\.\u2069$/);
  });

  it.each([
    [60, 'in 1 minute, at'],
    [61, 'in 2 minutes, at'],
    [3_540, 'in 59 minutes, at'],
    [3_541, 'You can send it at'],
  ])(
    'limit: says when the next inquiry can be sent, %i seconds from now: %s',
    (retryAfter, text) => {
      const now = Date.parse('2026-07-01T12:05:00Z');
      const said = messages.describeSendFailure(
        EN,
        { kind: 'limit', mayBeDone: false, retryAfter },
        now,
      ).text;
      expect(said).toContain(`${text} ${EN.formatClock(now + retryAfter * 1_000)}.`);
      expect(said).toContain('kept your text');
    },
  );
});

describe('the language of the page', () => {
  it.each([
    [['en'], null, ['de-AT', 'en'], 'en'],
    [['en'], 'de', [], 'en'],
    [['en'], 'en', ['xx'], 'en'],
  ] as const)('of %j, chosen %j, preferred %j, is %s', (offered, chosen, preferred, language) => {
    expect(chooseLanguage(offered, chosen, preferred)).toBe(language);
  });

  it('has the numbers and dates of the reader’s region', async () => {
    const { formatTime } = await loadLocale('en', ['de', 'en-US']);
    expect(formatTime('2026-07-01T12:00:00Z').short).toMatch(/^Jul 1, 2026/);
  });
});
