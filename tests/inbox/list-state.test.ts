import { expect, it } from 'vitest';
import { createListState } from '../../inbox/page/list-state.ts';
import { INQUIRY } from '../helpers/events.ts';

const toRows = (ids: string) => Array.from(ids, (id) => ({ ...INQUIRY, id }));

/** A list of unanswered inquiries with one letter as id, the first look at the table included. */
const open = (ids: string, isAll = true) => {
  const state = createListState((id) => id === 'g');
  const look = (now: string) => state.see({ ids: Array.from(now), isAll });
  const shown = () => state.shown().map(({ id }) => id);
  state.receive({ inquiries: toRows(ids) }, false);
  look(ids);
  return { ...state, look, shows: () => `${state.heading()}: ${shown().join('')}` };
};

it('leaves out what is answered, here, by a colleague, or at this moment', () => {
  const { close, look, shows } = open('abcdg');
  close('a', { respondent: 'pete', reply_at: '2026-11-20T10:00:00.000Z' });
  look('abdg');
  expect(shows()).toBe('2 unanswered: bd');
});

it('keeps the one that is open, and all of them where there are more than a look can tell', () => {
  const state = open('ab');
  state.open('a');
  state.look('b');
  expect(state.shows()).toBe('1 unanswered: ab');
  const many = open('ab', false);
  many.look('b');
  expect(many.shows()).toBe('1+ unanswered: ab');
});

it('takes new ones where they belong by their time, unless they come with the rest', () => {
  const { insert, look, receive, shows } = open('bd');
  expect(look('abd')).toEqual({ fresh: ['a'], missing: ['a'] });
  insert(toRows('a'));
  expect(shows()).toBe('3 unanswered: abd');
  receive({ inquiries: toRows('e'), next: 'e' }, true);
  expect(look('f')).toEqual({ fresh: ['f'], missing: [] });
});

it('says that there is nothing to answer only after the list was loaded', () => {
  const { none, receive, see } = createListState(() => false);
  see({ ids: [], isAll: true });
  expect(none()).toBe('');
  receive({ inquiries: [] }, false);
  expect(none()).toMatch(/^Nothing to answer/);
});
