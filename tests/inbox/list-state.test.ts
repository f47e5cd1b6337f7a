import { describe, expect, it } from 'vitest';
import type { Inquiry } from '../../inbox/page/client.ts';
import { createListState } from '../../inbox/page/list-state.ts';
import { INQUIRY } from '../helpers/events.ts';

const inquiry = (id: string): Inquiry => ({ ...INQUIRY, id });
const ANSWER = { respondent: 'pete', reply_at: '2026-11-20T10:00:00.000Z' };

/** A list of unanswered inquiries, the first look at the table included. */
const open = (
  ids: string[],
  { given = [], isAll = true }: { given?: string[]; isAll?: boolean } = {},
) => {
  const state = createListState((id) => given.includes(id));
  state.receive({ inquiries: ids.map((id) => inquiry(id)) }, false);
  state.see({ ids, isAll });
  return { ...state, ids: () => state.shown().map(({ id }) => id) };
};

describe('what the list shows', () => {
  it('leaves out what is answered, here, by a colleague, or at this moment', () => {
    const state = open(['a', 'b', 'c', 'd'], { given: ['b'] });
    state.close('a', ANSWER);
    state.see({ ids: ['a', 'b', 'd'], isAll: true });
    expect([state.ids(), state.count(), state.heading()]).toEqual([['d'], '1', '1 unanswered']);
  });

  it('keeps the one that is open, and all of them where there are more than a look can tell', () => {
    const state = open(['a', 'b']);
    state.open('a');
    state.see({ ids: ['b'], isAll: true });
    expect(state.ids()).toEqual(['a', 'b']);
    const many = open(['a', 'b'], { isAll: false });
    many.see({ ids: ['b'], isAll: false });
    expect([many.ids(), many.count()]).toEqual([['a', 'b'], '1+']);
  });

  it('takes new ones where they belong by their time, unless they come with the rest', () => {
    const state = open(['b', 'd']);
    const { fresh, missing } = state.see({ ids: ['a', 'b', 'd'], isAll: true });
    expect([fresh, missing]).toEqual([['a'], ['a']]);
    state.insert([inquiry('a')]);
    expect(state.ids()).toEqual(['a', 'b', 'd']);
    state.receive({ inquiries: [inquiry('e')], next: 'e' }, true);
    expect(state.see({ ids: ['f'], isAll: true })).toEqual({ fresh: ['f'], missing: [] });
  });

  it('says that there is nothing to answer only after the list was loaded', () => {
    const state = createListState(() => false);
    state.see({ ids: ['a'], isAll: true });
    expect([state.heading(), state.none()]).toEqual(['1 unanswered', '']);
    state.receive({ inquiries: [] }, false);
    expect(state.none()).toMatch(/^Nothing to answer/);
  });

  it('has closed ones by their answer, then by arrival, and says so', () => {
    const { show, turn, query } = open([]);
    show('answered');
    expect(query()).toEqual({ show: 'answered', order: 'answered', text: '' });
    turn();
    expect(query().order).toBe('newest');
    turn();
    expect(query().order).toBe('answered');
    show('unanswered');
    expect(query().order).toBe('oldest');
  });

  it.each([
    [[], undefined, 'No matches', undefined],
    [[], 'x', 'No matches so far', 'Search older ones'],
    [['a'], undefined, '1 match', undefined],
    [['a', 'b'], 'x', '2 matches; older ones not searched yet', 'Search older ones'],
  ])('of a search that has found %j is said: %s, %s', (ids, next, status, more) => {
    const state = open([]);
    state.search('word');
    state.receive({ inquiries: ids.map((id) => inquiry(id)), ...(next && { next }) }, false);
    expect([state.status(), state.more(), state.none()]).toEqual([status, more, '']);
  });
});
