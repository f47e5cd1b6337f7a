import { formatCount } from '../../ui/format.ts';
import { isFailure, type Closed, type Failure, type Inquiry } from './client.ts';
import type { Listing, Query, Unanswered } from './client.ts';

/** The first order is the default. */
export const CHOICES: Readonly<
  Record<Query['show'], { title: string; orders: readonly [Query['order'], Query['order']?] }>
> = {
  unanswered: { title: 'Unanswered', orders: ['oldest', 'newest'] },
  answered: { title: 'Closed', orders: ['answered', 'newest'] },
  all: { title: 'All', orders: ['newest', 'oldest'] },
  undelivered: { title: 'Came back', orders: ['answered'] },
};

export const ORDERS: Readonly<Record<Query['order'], string>> = {
  oldest: 'Oldest first',
  newest: 'Newest first',
  answered: 'Latest answer first',
};

export const queryOf = (show: Query['show']): Query => ({
  show,
  order: CHOICES[show].orders[0],
  text: '',
});

export const FIRST_QUERY = queryOf('unanswered');

/** An empty text ends the search. */
export const searchFor = (text: string): Query =>
  text === '' ? FIRST_QUERY : { ...queryOf('all'), text };

export function turned(query: Query): Query | undefined {
  const order = CHOICES[query.show].orders.find((each) => each !== query.order);
  return order && query.text === '' ? { ...query, order } : undefined;
}

const NEW_ONES = 20;

export type ListState = Readonly<{
  query: Query;
  loaded?: readonly Inquiry[];
  /** Undefined at the end, and while another list loads. */
  next?: string | undefined;
  isLoading: boolean;
  hasFailed: boolean;
  opened?: string | undefined;
  given: ReadonlySet<string>;
  /** Answers that the index may not have yet. */
  closed: ReadonlyMap<string, Closed>;
  unanswered?: Unanswered;
  seen: ReadonlySet<string>;
}>;

export const NOTHING: ListState = {
  query: FIRST_QUERY,
  isLoading: false,
  hasFailed: false,
  given: new Set(),
  closed: new Map(),
  seen: new Set(),
};

export const startLoading = (
  { next, ...state }: ListState,
  isMore: boolean,
  query = state.query,
): ListState => ({
  ...state,
  query,
  isLoading: true,
  hasFailed: false,
  ...(isMore && { next }),
});

/** @param isMore - Whether the response continues the list. */
export function receive(before: ListState, result: Listing | Failure, isMore: boolean): ListState {
  const state = { ...before, isLoading: false };
  const { loaded = [], next } = isMore ? state : NOTHING;
  if (isFailure(result)) return { ...state, loaded, next, hasFailed: true };
  return { ...state, loaded: [...loaded, ...result.inquiries], next: result.next };
}

/** @returns Also the new ones, and which of them belong to the loaded part. */
export function see(state: ListState, unanswered: Unanswered) {
  const { query, loaded = [], next, seen } = state;
  const unseen = unanswered.ids.filter((id) => !seen.has(id));
  const isFirst = state.unanswered === undefined;
  const fresh = isFirst ? [] : unseen.slice(-NEW_ONES);
  // Others come with the rest.
  const isListed =
    query.text === '' &&
    query.order !== 'answered' &&
    query.show !== 'answered' &&
    (next === undefined || query.order === 'newest');
  return {
    state: { ...state, unanswered, seen: new Set([...seen, ...(isFirst ? unseen : fresh)]) },
    fresh,
    missing: isListed ? fresh.filter((id) => !loaded.some((each) => each.id === id)) : [],
  };
}

export function insert(state: ListState, results: readonly (Inquiry | Failure)[]): ListState {
  const { query, loaded = [] } = state;
  const direction = query.order === 'oldest' ? 1 : -1;
  const known = new Set(loaded.map(({ id }) => id));
  const added = results.flatMap((each) => (isFailure(each) || known.has(each.id) ? [] : [each]));
  const all = [...loaded, ...added];
  return { ...state, loaded: all.toSorted((a, b) => direction * (a.id < b.id ? -1 : 1)) };
}

export const addAnswer = (state: ListState, id: string, answer: Closed): ListState => ({
  ...state,
  closed: new Map(state.closed).set(id, answer),
});

const isUnanswered = ({ closed, given }: ListState, id: string): boolean =>
  !closed.has(id) && !given.has(id);

export function shownOf(state: ListState): Inquiry[] {
  const { query, loaded = [], opened, closed, unanswered, seen } = state;
  if (query.show !== 'unanswered') {
    return loaded.map((each) => Object.assign({}, each, closed.get(each.id)));
  }
  const ids = new Set(unanswered?.ids);
  const isGone = (id: string): boolean =>
    unanswered?.isAll === true && id !== opened && seen.has(id) && !ids.has(id);
  return loaded.filter(
    ({ id, reply_at }) => reply_at === undefined && isUnanswered(state, id) && !isGone(id),
  );
}

/** Such as `12` or `2000+`; empty before the first poll. */
export function countOf(state: ListState): string {
  const { unanswered } = state;
  if (unanswered === undefined) return '';
  return `${unanswered.ids.filter((id) => isUnanswered(state, id)).length}${unanswered.isAll ? '' : '+'}`;
}

export function headingOf(state: ListState): string {
  const { show, text } = state.query;
  if (text !== '') return 'Search';
  const count = countOf(state);
  return show === 'unanswered' && count !== '' ? `${count} unanswered` : CHOICES[show].title;
}

export function describeStatus(state: ListState): string {
  const isSearch = state.query.text !== '';
  if (state.isLoading) return isSearch ? 'Searching all inquiries…' : 'Loading…';
  if (!isSearch || state.hasFailed) return '';
  const { length } = shownOf(state);
  const isAll = state.next === undefined;
  if (length === 0) return isAll ? 'No matches' : 'No matches so far';
  return formatCount(length, 'match', 'matches') + (isAll ? '' : '; older ones not searched yet');
}

export function describeNone(state: ListState): string {
  const { query, loaded, isLoading, hasFailed } = state;
  if (loaded === undefined || isLoading || hasFailed || query.text !== '') return '';
  if (shownOf(state).length > 0) return '';
  if (query.show !== 'unanswered') return 'No inquiries.';
  return 'Nothing to answer. New inquiries appear here by themselves.';
}

/** @param place - Of an inquiry that has left the list. */
export function neighbourOf(ids: string[], place: number, step: 1 | -1, id?: string) {
  if (id === undefined) return ids[0];
  const index = ids.indexOf(id);
  // Another has its place.
  return ids[index === -1 ? place + Math.min(step, 0) : index + step];
}
