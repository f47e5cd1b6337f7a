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

/** @param onChange - Called after the user has changed the search; `isCleared`: with the key Escape. */
export function createSearchBar(
  { strings: { list } }: Locale,
  onChange: (isCleared: boolean) => void,
) {
  const terms = h('input', {
    type: 'search',
    autocomplete: 'off',
    'aria-label': list.search,
    placeholder: list.search,
  });
  const options = list.periods.map((text, index) => h('option', { value: String(index) }, text));
  const period = h(
    'select',
    { 'aria-label': list.period },
    h('option', { value: '' }, list.anyTime),
    ...options,
  );
  const element = h('search', { class: 'search', hidden: true }, terms, period);
  const clear = (): void => {
    terms.value = '';
    period.value = '';
  };
  element.addEventListener('input', () => onChange(false));
  element.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    clear();
    onChange(true);
  });
  return {
    element,
    clear,
    focus: () => terms.focus(),
    query: (): string => terms.value,
    isActive: (): boolean => terms.value.trim() !== '' || period.value !== '',
    /** The time from which inquiries are searched, in the form of `created_at`; empty: any. */
    since(): string {
      const chosen = period.value === '' ? undefined : PERIODS[Number(period.value)];
      return chosen === undefined ? '' : timeBefore(new Date(), chosen.days, chosen.months);
    },
  };
}
