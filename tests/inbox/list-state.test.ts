import { expect, it } from 'vitest';
import * as list from '../../inbox/page/list-state.ts';
import { INQUIRY } from '../helpers/events.ts';

const toRows = (ids: string) => Array.from(ids, (id) => ({ ...INQUIRY, id }));
const toLook = (ids: string, isAll = true) => ({ ids: Array.from(ids), isAll });
const FAILURE = { failure: 500, message: '' };
const ANSWER = { respondent: 'pete', reply_at: '2026-11-20T10:00:00.000Z' };

/** Unanswered inquiries with a letter as id, after the first poll. */
const open = (ids: string, isAll = true) => {
  const state = list.receive(list.NOTHING, { inquiries: toRows(ids) }, false);
  return list.see(state, toLook(ids, isAll)).state;
};
const idsOf = (state: list.ListState) =>
  list
    .shownOf(state)
    .map(({ id }) => id)
    .join('');
const describe = (state: list.ListState) => `${list.headingOf(state)}: ${idsOf(state)}`;

it('leaves out what is answered, here, by a colleague, or at this moment', () => {
  const state = { ...list.addAnswer(open('abcdg'), 'a', ANSWER), given: new Set('g') };
  expect(describe(list.see(state, toLook('abdg')).state)).toBe('2 unanswered: bd');
});

it('keeps the one that is open, and all of them where there are more than a look can tell', () => {
  const state = { ...open('ab'), opened: 'a' };
  expect(describe(list.see(state, toLook('b')).state)).toBe('1 unanswered: ab');
  const many = list.see(open('ab', false), toLook('b', false)).state;
  expect(describe(many)).toBe('1+ unanswered: ab');
});

it('takes new ones where they belong by their time, unless they come with the rest', () => {
  const { state, ...found } = list.see(open('bd'), toLook('abd'));
  expect(found).toEqual({ fresh: ['a'], missing: ['a'] });
  const all = list.insert(state, [...toRows('a'), FAILURE]);
  expect(describe(all)).toBe('3 unanswered: abd');
  const newestFirst = { ...state, query: { ...state.query, order: 'newest' as const } };
  expect(idsOf(list.insert(newestFirst, toRows('a')))).toBe('dba');
  const more = list.receive(all, { inquiries: toRows('e'), next: 'e' }, true);
  expect(list.see(more, toLook('f'))).toMatchObject({ fresh: ['f'], missing: [] });
});

it('takes at most 20 new ones at a time, the oldest first', () => {
  const ids = 'zyxwvutsrqponmlkjihgfedcba';
  const { state, fresh } = list.see(open(''), toLook(ids));
  expect(fresh.join('')).toBe(ids.slice(-20));
  expect(list.see(state, toLook(ids)).fresh.join('')).toBe(ids.slice(0, -20));
});

it('goes on from no place while another list is loaded, and takes each new inquiry once', () => {
  const state = list.receive(open('ab'), { inquiries: [], next: 'b' }, true);
  expect(list.startLoading(state, true).next).toBe('b');
  const loading = list.startLoading(state, false, list.queryOf('all'));
  expect([loading.next, list.describeStatus(loading)]).toEqual([undefined, 'Loading…']);
  expect(list.headingOf(list.NOTHING)).toBe('Unanswered');
  expect(idsOf(list.insert(state, toRows('bc')))).toBe('abc');
});

it('says that there is nothing to answer only after the list was loaded', () => {
  const { state } = list.see(list.NOTHING, toLook(''));
  expect(list.describeNone(state)).toBe('');
  expect(list.describeNone(list.receive(state, FAILURE, false))).toBe('');
  const loaded = list.receive(state, { inquiries: [] }, false);
  expect(list.describeNone(loaded)).toMatch(/^Nothing to answer/);
  expect(list.describeNone({ ...loaded, query: list.queryOf('all') })).toBe('No inquiries.');
});

it('keeps what is loaded when the rest cannot be, and nothing of another query', () => {
  const state = list.receive(list.NOTHING, { inquiries: toRows('ab'), next: 'b' }, false);
  expect(list.receive(state, FAILURE, true)).toEqual({ ...state, hasFailed: true });
  const { loaded, next } = list.receive(state, FAILURE, false);
  expect({ loaded, next }).toEqual({ loaded: [], next: undefined });
});

it('lists closed ones with answers that the response does not have yet', () => {
  const state = { ...list.addAnswer(open('ab'), 'a', ANSWER), query: list.queryOf('all') };
  expect(list.shownOf(state)).toEqual([{ ...INQUIRY, id: 'a', ...ANSWER }, ...toRows('b')]);
});

it.each([
  ['ab', undefined, '2 matches'],
  ['a', 'a', '1 match; older ones not searched yet'],
  ['', 'a', 'No matches so far'],
  ['', undefined, 'No matches'],
])('a search that has found %j and goes on from %s says %s', (ids, next, text) => {
  const searching = { ...list.NOTHING, query: list.searchFor('x') };
  const state = list.receive(searching, { inquiries: toRows(ids), ...(next && { next }) }, false);
  expect(list.describeStatus(state)).toBe(text);
  expect(list.headingOf(state)).toBe('Search');
});

it.each([
  ['a', 1, 'b'],
  ['b', -1, 'a'],
  ['a', -1, undefined],
  ['c', 1, undefined],
  [undefined, 1, 'a'],
  // It was between a and b.
  ['gone', 1, 'b'],
  ['gone', -1, 'a'],
] as const)('the neighbour of %s by %i is %s', (id, step, neighbour) => {
  expect(list.neighbourOf(['a', 'b', 'c'], 1, step, id)).toBe(neighbour);
});

it('turns the order, unless there is one alone; a search that ends leads to what is unanswered', () => {
  const query = list.queryOf('all');
  expect(list.turned(query)).toEqual({ ...query, order: 'oldest' });
  expect(list.turned({ ...query, order: 'oldest' })).toEqual(query);
  expect([list.turned(list.searchFor('x')), list.turned(list.queryOf('undelivered'))]).toEqual([
    undefined,
    undefined,
  ]);
  expect(list.searchFor('')).toEqual(list.queryOf('unanswered'));
});
