import { expect, it } from 'vitest';
import type { Failure } from '../../web/src/api.ts';
import { parseListQuery } from '../../src/contract.ts';
import { loadLocale } from '../../web/src/languages/locale.ts';
import {
  addSent,
  appendOlder,
  createMatcher,
  describeCount,
  isSearching,
  mergeNewest,
  NOTHING,
  reduce,
  toQueryFor,
} from '../../web/src/list/list-state.ts';
import { INQUIRY } from '../helpers/events.ts';

const locale = await loadLocale('en', ['en-GB']);
const page = (ids: string, next?: string) => ({
  inquiries: Array.from(ids, (id) => ({ ...INQUIRY, id })),
  next: next && `?before=${next}`,
});

it.each([
  ['keeps older pages, and what leads on', page('543', '3'), page('765', '5'), page('76543', '3')],
  ['keeps older ones after one that was new', page('95', '5'), page('97', '7'), page('975', '5')],
  ['drops what others may precede', page('32'), page('98', '8'), page('98', '8')],
  ['is the newest page when that is all', page('321'), page('31'), page('31')],
  ['loses what was removed at its end', page('321'), page('3'), page('3')],
  ['goes on where the newest page ends', page('7'), page('987', '7'), page('987', '7')],
  ['goes on after a page that begins after its last', page('9'), page('87', '7'), page('87', '7')],
  ['is empty when all were removed', page('1'), page(''), page('')],
])('on a refresh, the list %s', (_, shown, newest, expected) => {
  expect(mergeNewest(shown, newest)).toEqual(expected);
});

it.each(['1', '21'])('each inquiry is listed once when %j follows 32', (older) => {
  expect(appendOlder(page('32', '2'), page(older))).toEqual(page('321'));
});

it.each([
  ['as the newest', page('32'), '4', page('432')],
  ['once', page('32'), '3', page('32')],
  ['before older ones', page('52', '2'), '3', page('532', '2')],
  ['after newer ones of another tab', page('54'), '3', page('543')],
  [
    'with the next page, when it is older than what is loaded',
    page('54', '4'),
    '3',
    page('54', '4'),
  ],
])('an inquiry that was sent is listed %s', (_, shown, id, expected) => {
  expect(addSent(shown, { ...INQUIRY, id })).toEqual(expected);
});

it.each([
  ['open two', '', true],
  ['open closed', '', false],
  ['opentwo', '', false],
  [INQUIRY.id.slice(0, 13).toUpperCase(), '', true],
  ['', INQUIRY.created_at, true],
  ['', '2026-11-20T06:11:02.648Z', false],
])('a search for %j from %j on finds an inquiry: %j', (query, since, expected) => {
  const inquiry = { ...INQUIRY, subject: 'Are you open', body: 'two' };
  expect(createMatcher(query, since)(inquiry)).toBe(expected);
});

const FAILURE: Failure = { kind: 'server', mayBeDone: false };
const NEWER = { ...INQUIRY, created_at: '2026-12-24' };
const PART = { query: 'x', page: { inquiries: [NEWER, INQUIRY], next: '?before=2' } };
it.each([
  ['', false, { ...PART, query: '' }],
  ['1 match', true, { ...PART, visible: [INQUIRY] }],
  ['No matches so far', true, PART],
  ['No matches so far', false, { ...PART, trouble: FAILURE }],
  ['No matching inquiries', false, { ...PART, since: '2026-12' }],
])('the list says how many there are: %j, and searches on: %j', (text, searching, change) => {
  const state = { ...NOTHING, ...change };
  expect([isSearching(state), describeCount(state, locale)]).toEqual([searching, text]);
});

it('older inquiries that a refresh has outrun are left to the next page', () => {
  const state = { ...NOTHING, page: page('98', '8') };
  const late = reduce(state, { type: 'loaded-older', after: '?before=4', page: page('3') });
  expect(late).toBe(state);
});

it('the link to an inquiry asks the service by the id that follows it', () => {
  const query = new URLSearchParams(toQueryFor('01a201e0-1676-7000-8000-09ffffffffff'));
  const before = '01a201e0-1676-7000-8000-0a0000000000';
  expect(parseListQuery(Object.fromEntries(query))).toEqual({ limit: 1, before });
});
