/** The fields that search the list: terms and a period. */
import { h } from '../ui/dom.ts';
import type { Locale } from './locale.ts';
import { timeBefore } from './search.ts';

/** The periods to choose from, in days and months, as the languages name them. */
const PERIODS = [
  { days: 7, months: 0 },
  { days: 30, months: 0 },
  { days: 0, months: 12 },
];

/** @param onChange - Called after a change of the search. */
export function createSearchBar({ strings: { list } }: Locale, onChange: () => void) {
  const terms = h('input', {
    type: 'search',
    autocomplete: 'off',
    'aria-label': list.search,
    placeholder: list.search,
  });
  const period = h(
    'select',
    { 'aria-label': list.period },
    h('option', { value: '' }, list.anyTime),
    ...list.periods.map((text, index) => h('option', { value: String(index) }, text)),
  );
  const element = h('search', { class: 'search', hidden: true }, terms, period);
  const clear = (): void => {
    terms.value = '';
    period.value = '';
    onChange();
  };
  element.addEventListener('input', onChange);
  element.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') clear();
  });
  return {
    element,
    clear,
    focus: () => terms.focus(),
    /** What is searched for; `since`: from which time on, in the form of `created_at`. Both may be empty. */
    read(): { readonly query: string; readonly since: string } {
      const chosen = period.value === '' ? undefined : PERIODS[Number(period.value)];
      return {
        query: terms.value.trim(),
        since: chosen === undefined ? '' : timeBefore(new Date(), chosen),
      };
    },
  };
}
