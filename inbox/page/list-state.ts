/** What the list shows, apart from its elements: the query, what is loaded, and what is known of answers. */
import { formatCount } from '../../web/ui/format.ts';
import type { Closed, Inquiry, Listing, Query, Unanswered } from './client.ts';

/** New inquiries that one look at the table loads; the rest waits for the next one. */
const NEW_ONES = 20;

/** What the choices are called, and in which orders they are listed: the first one comes first. */
export const CHOICES: Readonly<
  Record<Query['show'], { title: string; orders: readonly Query['order'][] }>
> = {
  unanswered: { title: 'Unanswered', orders: ['oldest', 'newest'] },
  answered: { title: 'Closed', orders: ['answered', 'newest'] },
  all: { title: 'All', orders: ['newest', 'oldest'] },
  undelivered: { title: 'Came back', orders: ['answered'] },
};

const ORDERS = {
  oldest: 'Oldest first',
  newest: 'Newest first',
  answered: 'Latest answer first',
} as const;

const queryOf = (show: Query['show'], text = ''): Query => {
  const [order = 'newest'] = CHOICES[show].orders;
  return { show, order, text };
};

/** What the page opens with. */
export const FIRST_QUERY = queryOf('unanswered');

export type ListState = ReturnType<typeof createListState>;

/** @param isGiven - Whether an answer to an inquiry is on its way. */
export function createListState(isGiven: (id: string) => boolean) {
  let query = FIRST_QUERY;
  /** Undefined until the first response. */
  let loaded: Inquiry[] | undefined;
  let next: string | undefined;
  let opened: string | undefined;
  /** Answers that the index may not know yet. */
  const closed = new Map<string, Closed>();
  /** Unanswered ones as of the last look, and all that any look has seen. */
  let unanswered: ReadonlySet<string> | undefined;
  let isCounted = false;
  const seen = new Set<string>();

  const isOpen = (id: string): boolean => !closed.has(id) && !isGiven(id);
  /** Whether a colleague has answered it. */
  const isGone = (id: string): boolean =>
    isCounted && id !== opened && seen.has(id) && unanswered?.has(id) === false;

  const shown = (): Inquiry[] =>
    (loaded ?? []).filter(
      ({ id, reply_at }) =>
        query.show !== 'unanswered' || (reply_at === undefined && isOpen(id) && !isGone(id)),
    );

  /** How many are unanswered, such as `12` or `2000+`; empty before the first look. */
  function count(): string {
    if (unanswered === undefined) return '';
    return `${[...unanswered].filter(isOpen).length}${isCounted ? '' : '+'}`;
  }

  /** The other order; undefined where there is one alone. */
  const otherOrder = (): Query['order'] | undefined =>
    query.text === '' ? CHOICES[query.show].orders.find((each) => each !== query.order) : undefined;

  return {
    query: (): Query => query,
    next: (): string | undefined => next,
    opened: (): string | undefined => opened,
    /** The inquiries to show, in their order. */
    shown,
    count,
    show: (show: Query['show']) => void (query = queryOf(show)),
    /** Searches all of them, the newest first; an empty text ends the search. */
    search: (text: string) => void (query = text === '' ? FIRST_QUERY : queryOf('all', text)),
    turn: () => void (query = { ...query, order: otherOrder() ?? query.order }),
    open: (id: string | undefined) => void (opened = id),
    /** Takes a response of the list. @param isMore - Whether it continues what is loaded. */
    receive(listing: Listing, isMore: boolean): void {
      const known = listing.inquiries.map((each) => Object.assign(each, closed.get(each.id)));
      loaded = isMore ? [...(loaded ?? []), ...known] : known;
      ({ next } = listing);
    },
    /** Takes what is unanswered now. @returns The new ones, and those of them that belong into what is loaded. */
    see({ ids, isAll }: Unanswered) {
      const unseen = ids.filter((id) => !seen.has(id));
      const fresh = unanswered === undefined ? [] : unseen.slice(-NEW_ONES);
      for (const id of unanswered === undefined ? ids : fresh) seen.add(id);
      unanswered = new Set(ids);
      isCounted = isAll;
      // Those that belong behind what is loaded come with the rest.
      const isListed =
        query.text === '' &&
        query.order !== 'answered' &&
        query.show !== 'answered' &&
        (next === undefined || query.order === 'newest');
      const known = new Set(loaded?.map(({ id }) => id));
      return { fresh, missing: isListed ? fresh.filter((id) => !known.has(id)) : [] };
    },
    /** Puts inquiries where they belong by their time. */
    insert(inquiries: Inquiry[]): void {
      const direction = query.order === 'oldest' ? 1 : -1;
      loaded = [...(loaded ?? []), ...inquiries].toSorted(
        (a, b) => direction * (a.id < b.id ? -1 : 1),
      );
    },
    /** Takes an answer to an inquiry. */
    close(id: string, answer: Closed): void {
      closed.set(id, answer);
      Object.assign(loaded?.find((each) => each.id === id) ?? {}, answer);
    },
    heading(): string {
      if (query.text !== '') return 'Search';
      return query.show === 'unanswered' ? `${count()} unanswered` : CHOICES[query.show].title;
    },
    /** The label of the button that turns the order; empty where there is one order alone. */
    order: (): string => (otherOrder() === undefined ? '' : ORDERS[query.order]),
    /** What a search has found so far; empty without one. */
    status(): string {
      if (query.text === '') return '';
      const { length } = shown();
      if (length === 0) return next === undefined ? 'No matches' : 'No matches so far';
      const rest = next === undefined ? '' : '; older ones not searched yet';
      return formatCount(length, 'match', 'matches') + rest;
    },
    /** What is said in place of the rows. */
    none(): string {
      if (loaded === undefined || query.text !== '' || shown().length > 0) return '';
      if (query.show !== 'unanswered') return 'No inquiries.';
      return 'Nothing to answer. New inquiries appear here by themselves.';
    },
    /** The label of the button that continues. */
    more: (): string => (query.text === '' ? 'Show more' : 'Search older ones'),
  };
}
