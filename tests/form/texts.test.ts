import { expect, it } from 'vitest';
import { beginningOf, directionOf } from '../../ui/format.ts';
import type { Failure } from '../../web/src/api.ts';
import { sizeOf, toggleTopic } from '../../web/src/form/fields.ts';
import { chooseLanguage, loadLocale } from '../../web/src/languages/locale.ts';
import {
  describeListFailure,
  describeSendFailure,
  describeSize,
} from '../../web/src/languages/messages.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';

const EN = await loadLocale('en', ['en-GB']);

it('the size of an inquiry is that of its texts in bytes of UTF-8', () => {
  expect(sizeOf({ subject: '€', body: '🎂\ud800' })).toBe(10);
});

it.each([
  [ITEM_LIMIT * 0.8 - 1, ''],
  [ITEM_LIMIT * 0.8, '320\u00a0kB of 400\u00a0kB'],
  [ITEM_LIMIT + 1, 'Too long by 0.1\u00a0kB. Please shorten your message.'],
  [ITEM_LIMIT + 1025, 'Too long by 1.1\u00a0kB. Please shorten your message.'],
  [2 * ITEM_LIMIT + 1, 'Too long by 401\u00a0kB. Please shorten your message.'],
])('the size of %i bytes is shown from four fifths of the limit on: %j', (bytes, text) => {
  expect(describeSize(EN, bytes)).toBe(text);
});

it.each([
  ['', 'Delivery', 'Delivery'],
  ['Billing', 'Delivery', 'Delivery'],
  ['Delivery', 'Delivery', ''],
  ['my text', 'Delivery', 'Delivery: my text'],
  ['Delivery: my text', 'Delivery', 'my text'],
  ['Billing: refund', 'Delivery', 'Delivery'],
  ['Deliveryman', 'Billing', 'Billing: Deliveryman'],
])(
  'the subject %j becomes, by the topic %j, %j: what the user typed stays',
  (subject, topic, result) => {
    expect(toggleTopic(subject, topic, ['Billing', 'Billing: refund', 'Delivery'], ': ')).toBe(
      result,
    );
  },
);

it.each([
  ['ab🎂c', 3, 'ab'],
  ['ab🎂c', 4, 'ab🎂'],
  ['a👩‍👩‍👧b', 4, 'a'],
  ['a👩‍👩‍👧b', 8, 'a'],
  ['ae\u0301b', 2, 'a'],
])(
  'the beginning of %j with at most %i units, %j, ends before a character that it would cut',
  (text, length, beginning) => {
    expect(beginningOf(text, length)).toBe(beginning);
  },
);

it.each([
  ['', 'ltr'],
  ['123 !? 🎂', 'ltr'],
  ['123 שלום', 'rtl'],
  ['\u202Eabc', 'ltr'],
])('the direction of the text %j is %s, by its first letter', (text, direction) => {
  expect(directionOf(text)).toBe(direction);
});

const KINDS: Failure['kind'][] = [
  'signed-out',
  'too-large',
  'busy',
  'limit',
  'conflict',
  'reused',
  'refused',
  'offline',
  'unreachable',
  'server',
];

it('says what happened, what became of the inquiry, and what to do', async () => {
  const at = new Date(2026, 6, 1, 14, 5).getTime();
  const said = KINDS.flatMap((kind) =>
    [false, true].map((mayBeDone) => {
      const failure = { kind, mayBeDone, message: 'Because.', retryAfter: 61 };
      const { title, text, english = '' } = describeSendFailure(EN, { ...failure, at });
      return [
        `${kind}, ${mayBeDone}`,
        title,
        text,
        describeListFailure(EN, failure).text,
        english,
        '',
      ];
    }),
  );
  await expect(said.flat().join('\n')).toMatchFileSnapshot('golden/failures.txt');
});

it.each([
  [['en'], ['de-AT', 'en'], 'en'],
  [['en'], [], 'en'],
  [['de', 'en'], ['', 'x', 'en-GB', 'de'], 'en'],
] as const)(
  'the language of a page in %j, with %j preferred, is %s',
  (offered, preferred, language) => {
    expect(chooseLanguage(offered, preferred)).toBe(language);
  },
);
