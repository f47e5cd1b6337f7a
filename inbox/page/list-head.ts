import { button, div, h, isComposing } from '../../ui/dom.ts';
import type { Query } from './client.ts';
import {
  CHOICES,
  countOf,
  describeStatus,
  FIRST_QUERY,
  headingOf,
  ORDERS,
  queryOf,
  searchFor,
  turned,
  type ListState,
} from './list-state.ts';

/** Milliseconds from the last key to the search. */
const TYPING_PAUSE = 400;

export type ListHead = ReturnType<typeof createListHead>;

export function createListHead(stage: string, ask: (query: Query) => Promise<void>) {
  let query = FIRST_QUERY;
  const status = h('p', { class: 'ib-status', role: 'status' });
  const heading = h('h2', { id: 'list-title', tabindex: '-1' }, 'Inquiries');
  const choices = (['unanswered', 'answered', 'all'] as const).map((show) => ({
    show,
    element: button(CHOICES[show].title, {}, async () => ask(queryOf(show))),
  }));
  const order = button('', { class: 'ib-link' }, async () => ask(turned(query) ?? query));
  const search = createSearchBox((text) => {
    if (text !== query.text) void ask(searchFor(text));
  });
  const group = { class: 'ib-shows', role: 'group', 'aria-label': 'Which inquiries' };
  return {
    element: div(
      'ib-list-head',
      div('ib-line ib-title', heading, order),
      h('div', group, ...choices.map(({ element }) => element)),
      h('div', { role: 'search', class: 'ib-search' }, search),
      status,
    ),
    heading,
    search,
    render(state: ListState): void {
      ({ query } = state);
      const count = countOf(state);
      document.title = `${Number.parseInt(count, 10) > 0 ? `(${count}) ` : ''}Inbox of ${stage}`;
      heading.textContent = headingOf(state);
      const said = describeStatus(state);
      if (status.textContent !== said) status.textContent = said;
      for (const { show, element } of choices) element.ariaPressed = String(show === query.show);
      order.textContent = ORDERS[query.order];
      order.hidden = turned(query) === undefined;
      order.ariaLabel = `${order.textContent}, change the order`;
      if (document.activeElement !== search) search.value = query.text;
    },
  };
}

function createSearchBox(onSearch: (text: string) => void): HTMLInputElement {
  const search = h('input', {
    type: 'search',
    id: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Search all: reference, email, text',
    'aria-label': 'Search all inquiries by reference, email and text',
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  function finish(): void {
    clearTimeout(timer);
    onSearch(search.value.trim());
  }
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(finish, TYPING_PAUSE);
  });
  search.addEventListener('change', finish);
  // Otherwise Chromium empties the box.
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && isComposing(event)) event.preventDefault();
  });
  return search;
}
