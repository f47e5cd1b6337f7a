/** What the list shows, apart from its elements: the query, what is loaded, and what is known of answers. */
import { formatCount } from '../../web/ui/format.ts';
import type { Closed, Inquiry, Listing, Query, Unanswered } from './client.ts';

/** New inquiries that one look at the table loads; the rest waits for the next one. */
const NEW_ONES = 20;

/** The order in which a choice is listed first. */
const ORDERS = {
  unanswered: 'oldest',
  answered: 'answered',
  all: 'newest',
  undelivered: 'answered',
} as const satisfies Record<Query['show'], Query['order']>;

const TITLES = {
  answered: 'Closed',
  all: 'All inquiries',
  undelivered: 'Came back',
} as const;

const NONE = {
  unanswered: 'Nothing to answer. New inquiries appear here by themselves.',
  answered: 'No closed inquiries.',
  all: 'No inquiries.',
  undelivered: 'No reply of the last seven days came back.',
} as const satisfies Record<Query['show'], string>;

export const ORDER_NAMES = {
  oldest: 'Oldest first',
  newest: 'Newest first',
  answered: 'Latest answer first',
} as const satisfies Record<Query['order'], string>;

/** What the page opens with. */
export const FIRST_QUERY: Query = { show: 'unanswered', order: ORDERS.unanswered, text: '' };

export type ListState = ReturnType<typeof createListState>;

/** @param isGiven - Whether an answer to an inquiry is on its way. */
export function createListState(isGiven: (id: string) => boolean) {
  let query = FIRST_QUERY;
  /** Undefined until the first response. */
  let loaded: readonly Inquiry[] | undefined;
  let next: string | undefined;
  let opened: string | undefined;
  /** Answers that the index may not know yet. */
  const closed = new Map<string, Closed>();
  /** Unanswered ones as of the last look, and all that any look has seen. */
  let unanswered: ReadonlySet<string> | undefined;
  let isCounted = false;
  const seen = new Set<string>();

  const isOpen = (id: string): boolean => !closed.has(id) && !isGiven(id);
  const isGone = (id: string): boolean =>
    isCounted && id !== opened && seen.has(id) && unanswered?.has(id) === false;
  const otherOrder = (): Query['order'] =>
    query.order === 'newest' ? (query.show === 'answered' ? 'answered' : 'oldest') : 'newest';

  /** How many are unanswered, such as `12` or `2000+`; empty before the first look. */
  function count(): string {
    if (unanswered === undefined) return '';
    return `${[...unanswered].filter(isOpen).length}${isCounted ? '' : '+'}`;
  }

  const shown = (): readonly Inquiry[] =>
    (loaded ?? []).filter(
      ({ id, reply_at }) =>
        query.show !== 'unanswered' || (reply_at === undefined && isOpen(id) && !isGone(id)),
    );

  return {
    query: (): Query => query,
    next: (): string | undefined => next,
    opened: (): string | undefined => opened,
    /** The inquiries to show, in their order. */
    shown,
    count,
    /** Lists others, in the order of this choice. */
    show: (show: Query['show']) => void (query = { show, order: ORDERS[show], text: '' }),
    /** Searches all of them, the newest first; an empty text ends the search. */
    search(text: string): void {
      const show = text === '' ? 'unanswered' : 'all';
      query = { show, order: ORDERS[show], text };
    },
    turn: () => void (query = { ...query, order: otherOrder() }),
    open: (id: string | undefined) => void (opened = id),
    /** Takes a response of the list. @param isMore - Whether it continues what is loaded. */
    receive({ inquiries, ...rest }: Listing, isMore: boolean): void {
      const known = inquiries.map((inquiry) => Object.assign(inquiry, closed.get(inquiry.id)));
      loaded = isMore ? [...(loaded ?? []), ...known] : known;
      ({ next } = rest);
    },
    clear: () => void (loaded = []),
    /** Takes what is unanswered now. @returns The new ones, and those of them that belong into what is loaded. */
    see({ ids, isAll }: Unanswered) {
      const isFirst = unanswered === undefined;
      const fresh = isFirst ? [] : ids.filter((id) => !seen.has(id)).slice(-NEW_ONES);
      for (const id of isFirst ? ids : fresh) seen.add(id);
      unanswered = new Set(ids);
      isCounted = isAll;
      // Those that belong behind what is loaded come with the rest.
      const isListed =
        query.text === '' &&
        (query.show === 'unanswered' || query.show === 'all') &&
        (next === undefined || query.order === 'newest');
      const known = new Set(loaded?.map(({ id }) => id));
      return { fresh, missing: isListed ? fresh.filter((id) => !known.has(id)) : [] };
    },
    /** Puts inquiries where they belong by their time. */
    insert(inquiries: readonly Inquiry[]): void {
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
      return query.show === 'unanswered' ? `${count()} unanswered`.trim() : TITLES[query.show];
    },
    /** What a search has found so far; empty without one. */
    status(): string {
      if (query.text === '') return '';
      const { length } = shown();
      if (length === 0) return next === undefined ? 'No matches' : 'No matches so far';
      const rest = next === undefined ? '' : '; older ones not searched yet';
      return formatCount(length, 'match', 'matches') + rest;
    },
    /** What is said in place of the rows. */
    none: (): string =>
      loaded !== undefined && query.text === '' && shown().length === 0 ? NONE[query.show] : '',
    /** The label of the button that continues; undefined: there are no more. */
    more(): string | undefined {
      if (next === undefined) return undefined;
      if (query.text !== '') return 'Search older ones';
      if (query.order === 'answered') return 'Show earlier answers';
      return query.order === 'newest' ? 'Show older ones' : 'Show newer ones';
    },
  };
}
