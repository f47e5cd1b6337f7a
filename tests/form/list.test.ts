/** Search, days and links of the list of the contact form, without a browser. */
import { describe, expect, it } from 'vitest';
import { parseListQuery, type Inquiry } from '../../src/contract.ts';
import { toInclude } from '../../web/src/pages.ts';
import { strings } from '../../web/src/languages/en.ts';
import { createLocale } from '../../web/src/locale.ts';
import { createMatcher, dayOf, timeBefore, titleOf } from '../../web/src/search.ts';

const ID = '01a201e0-1676-7000-8000-00000000000f';
const make = (subject: string, body = '', created_at = '2026-11-22T05:00:00.000Z'): Inquiry => ({
  id: ID,
  cognito_sub: '',
  email: '',
  subject,
  body,
  created_at,
});

describe('the search', () => {
  it.each([
    ['  ', 'anything', true],
    ['café', 'cafe\u0301', true],
    ['open hours', 'Hours: when are you open?', true],
    ['open closed', 'Hours: when are you open?', false],
    [ID.slice(0, 13).toUpperCase(), 'the reference', true],
  ])('for %j in %j: %j', (query, text, expected) => {
    expect(createMatcher(query, '')(make(text))).toBe(expected);
    expect(createMatcher(query, '')(make('', text))).toBe(expected);
  });

  it('finds terms in subject and message, and none across the two', () => {
    expect(createMatcher('one two', '')(make('one', 'two'))).toBe(true);
    expect(createMatcher('onetwo', '')(make('one', 'two'))).toBe(false);
  });

  it('finds what is not older than a time', () => {
    const since = timeBefore(new Date('2026-11-29T05:00:00.000Z'), 7, 0);
    expect(createMatcher('', since)(make('', '', '2026-11-22T05:00:00.000Z'))).toBe(true);
    expect(createMatcher('', since)(make('', '', '2026-11-22T04:59:59.999Z'))).toBe(false);
  });

  it('goes back by months of the calendar', () => {
    expect(timeBefore(new Date(2025, 1, 28, 12), 0, 12)).toBe(
      new Date(2024, 1, 28, 12).toISOString(),
    );
    expect(timeBefore(new Date(2024, 11, 31, 12), 0, 12)).toBe(
      new Date(2023, 11, 31, 12).toISOString(),
    );
  });
});

describe('the days', () => {
  const locale = createLocale('en', strings, ['en-GB']);
  const titleAt = (time: Date, now: Date) =>
    titleOf(dayOf({ created_at: time.toISOString() }), now, locale);

  it('are named relative to now, the first of a month included', () => {
    const now = new Date(2026, 2, 1, 0, 5);
    expect(titleAt(new Date(2026, 2, 1), now)).toBe('Today');
    expect(titleAt(new Date(2026, 1, 28, 23, 59), now)).toBe('Yesterday');
    expect(titleAt(new Date(2026, 1, 27, 23, 59), now)).toMatch(/^Friday,? 27 February 2026$/);
    expect(titleAt(new Date(2025, 2, 1, 12), now)).toMatch(/^Saturday,? 1 March 2025$/);
  });

  it('of text that is not a time have a title, too', () => {
    expect(titleOf(dayOf({ created_at: '<b>' }), new Date(), locale)).not.toBe('');
  });
});

describe('the link to an inquiry', () => {
  it.each([
    [ID, '01a201e0-1676-7000-8000-000000000010'],
    ['01a201e0-1676-7000-8000-09ffffffffff', '01a201e0-1676-7000-8000-0a0000000000'],
  ])('asks the service for %s by the id that follows it', (id, before) => {
    const query = Object.fromEntries(new URLSearchParams(toInclude(id)));
    expect(parseListQuery(query)).toEqual({ limit: 1, before });
  });
});
