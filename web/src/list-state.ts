/** What the list shows, and what is said about it. */
import type { Inquiry } from '../../src/contract.ts';
import type { Locale } from './locale.ts';
import type { Loaded } from './pages.ts';

export interface ListState extends Readonly<Loaded> {
  query: string;
  /** The time from which inquiries are searched, in the form of `created_at`; empty: any. */
  since: string;
  /** The loaded inquiries that match. */
  visible: Inquiry[];
  /** Whether older ones could not be loaded. */
  isCut: boolean;
}

export const NOTHING: ListState = { query: '', since: '', visible: [], isCut: false };

export const isFiltered = ({ query, since }: ListState): boolean => query + since !== '';

/** Whether there may be inquiries that match and are not loaded. */
const isPartial = ({ page, since }: ListState): boolean =>
  page?.next !== undefined && (page.inquiries.at(-1)?.created_at ?? '') >= since;

/** Whether older inquiries that can match are being loaded. */
export const isSearching = (state: ListState): boolean =>
  isFiltered(state) && !state.isCut && isPartial(state);

/** How many inquiries are listed, once all are loaded, or match. */
export function describeCount(state: ListState, { strings: { list }, count }: Locale): string {
  const { visible } = state;
  if (!isFiltered(state)) return isPartial(state) ? '' : count(list.count, visible.length);
  if (visible.length > 0) return count(list.matches, visible.length);
  return isPartial(state) ? list.noMatchYet : list.noMatch;
}
