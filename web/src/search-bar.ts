import { h, isComposing } from '../../ui/dom.ts';
import type { Locale } from './locale.ts';

/** Milliseconds of the periods that the languages name. */
const PERIODS = [7, 30, 365].map((days) => days * 86_400_000);

/** @param onChange - `since`: in the form of `created_at`; both may be empty. */
export function createSearchBar(
  { strings: { list } }: Locale,
  onChange: (query: string, since: string) => void,
) {
  const terms = h('input', {
    type: 'search',
    autocomplete: 'off',
    'aria-label': list.search,
    placeholder: list.search,
  });
  const period = h(
    'select',
    { 'aria-label': list.period },
    h('option', {}, list.anyTime),
    ...list.periods.map((text) => h('option', {}, text)),
  );
  const element = h('search', { class: 'search', hidden: true }, terms, period);
  const change = (): void => {
    const length = PERIODS[period.selectedIndex - 1];
    const since = length === undefined ? '' : new Date(Date.now() - length).toISOString();
    onChange(terms.value.trim(), since);
  };
  const clear = (): void => {
    terms.value = '';
    period.selectedIndex = 0;
    change();
  };
  element.addEventListener('input', change);
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    // Otherwise Chromium empties the box.
    if (isComposing(event)) event.preventDefault();
    else clear();
  });
  return { element, clear, focus: () => terms.focus() };
}
