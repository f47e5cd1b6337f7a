import type { Inquiry } from '../../../src/contract.ts';
import { fold, isFound, parseQuery } from '../../../text/search-text.ts';
import type { Failure, Page } from '../api.ts';
import { textsOf } from '../form/fields.ts';
import type { Locale } from '../languages/locale.ts';

export interface ListState {
  page?: Page | undefined;
  /** An inquiry in the address that is older than the page. */
  linked?: Inquiry | undefined;
  query: string;
  /** The earliest `created_at` of a search; empty: any. */
  since: string;
  visible: readonly Inquiry[];
  failure?: Failure | undefined;
  trouble?: Failure | undefined;
  /** The address's id, until it is shown. */
  wanted?: string | undefined;
  isNotFound: boolean;
  /** The id last sent or looked for. */
  marked?: string | undefined;
  said: { text: string };
}

export type Action =
  | { type: 'asked'; wanted?: string | undefined }
  | { type: 'failed'; failure: Failure }
  | { type: 'loaded'; page: Page }
  | { type: 'asked-older' }
  | { type: 'failed-older'; failure: Failure }
  | { type: 'loaded-older'; after: string; page: Page }
  | { type: 'shown'; id: string; linked: Inquiry | undefined }
  | { type: 'sent'; inquiry: Inquiry }
  | { type: 'searched'; query: string; since: string }
  | { type: 'said'; text: string };

export const NOTHING: ListState = {
  query: '',
  since: '',
  visible: [],
  isNotFound: false,
  said: { text: '' },
};

export function reduce(state: ListState, action: Action): ListState {
  const { page } = state;
  switch (action.type) {
    case 'asked':
      return { ...state, failure: undefined, isNotFound: false, wanted: action.wanted };
    case 'failed':
      return { ...state, failure: action.failure };
    case 'loaded':
      return select({
        ...state,
        page: page === undefined ? action.page : mergeNewest(page, action.page),
      });
    case 'asked-older':
      return { ...state, trouble: undefined };
    case 'failed-older':
      return { ...state, trouble: action.failure };
    case 'loaded-older':
      // The list was replaced meanwhile.
      if (page?.next !== action.after) return state;
      return select({ ...state, page: appendOlder(page, action.page) });
    case 'shown': {
      const { id, linked } = action;
      const next = select({ ...state, linked, marked: id, wanted: undefined });
      return { ...next, isNotFound: allOf(next).every((inquiry) => inquiry.id !== id) };
    }
    case 'sent': {
      const shown = page ?? { inquiries: [], next: undefined };
      const { inquiry } = action;
      return select({ ...state, page: addSent(shown, inquiry), marked: inquiry.id });
    }
    case 'searched':
      return select({ ...state, query: action.query, since: action.since });
    case 'said':
      return { ...state, said: { text: action.text } };
  }
}

function select(state: ListState): ListState {
  const { page, linked, query, since } = state;
  const isInPage = page?.inquiries.some(({ id }) => id === linked?.id);
  const next = { ...state, linked: isInPage ? undefined : linked };
  return { ...next, visible: allOf(next).filter(createMatcher(query, since)) };
}

export const allOf = ({ page, linked }: ListState): readonly Inquiry[] => [
  ...(linked === undefined ? [] : [linked]),
  ...(page?.inquiries ?? []),
];

export const isFiltered = ({ query, since }: ListState): boolean => query + since !== '';

const isPartial = ({ page, since }: ListState): boolean =>
  page?.next !== undefined && (page.inquiries.at(-1)?.created_at ?? '') >= since;

export const isSearching = (state: ListState): boolean =>
  isFiltered(state) && state.trouble === undefined && isPartial(state);

export function describeCount(state: ListState, { strings: { list }, count }: Locale): string {
  const { visible } = state;
  if (!isFiltered(state)) return isPartial(state) ? '' : count(list.count, visible.length);
  if (visible.length > 0) return count(list.matches, visible.length);
  return isPartial(state) ? list.noMatchYet : list.noMatch;
}

const foldedTexts = new WeakMap<Inquiry, string>();

function foldedTextOf(inquiry: Inquiry): string {
  const text = foldedTexts.get(inquiry) ?? fold(textsOf(inquiry).join('\n'));
  foldedTexts.set(inquiry, text);
  return text;
}

/** All terms, or the reference, must be found. */
export function createMatcher(query: string, since: string): (inquiry: Inquiry) => boolean {
  const terms = parseQuery(query);
  return (inquiry) =>
    inquiry.created_at >= since &&
    terms.every((term) => isFound(term, foldedTextOf(inquiry), inquiry.id));
}

/** Keeps older inquiries unless there may be a gap. */
export function mergeNewest(shown: Page, newest: Page): Page {
  const last = newest.inquiries.at(-1);
  const overlaps = last !== undefined && shown.inquiries.some(({ id }) => id >= last.id);
  if (newest.next === undefined || !overlaps || shown.inquiries.every(({ id }) => id >= last.id)) {
    return newest;
  }
  return {
    inquiries: [...newest.inquiries, ...shown.inquiries.filter(({ id }) => id < last.id)],
    next: shown.next,
  };
}

export function appendOlder(shown: Page, older: Page): Page {
  const known = new Set(shown.inquiries.map(({ id }) => id));
  return {
    inquiries: [...shown.inquiries, ...older.inquiries.filter(({ id }) => !known.has(id))],
    next: older.next,
  };
}

/** In order: another tab may have sent it before newer ones. */
export function addSent(shown: Page, inquiry: Inquiry): Page {
  const { inquiries, next } = shown;
  if (inquiries.some(({ id }) => id === inquiry.id)) return shown;
  const older = inquiries.findIndex(({ id }) => id < inquiry.id);
  if (older < 0 && next !== undefined) return shown;
  return { inquiries: inquiries.toSpliced(older < 0 ? inquiries.length : older, 0, inquiry), next };
}

/** `before` may be any id, here the next. */
export function toQueryFor(id: string): string {
  const next = (Number.parseInt(id.slice(-12), 16) + 1).toString(16).padStart(12, '0');
  return `?limit=1&before=${id.slice(0, -12)}${next}`;
}
