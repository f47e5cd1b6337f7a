/** The head of the list: which inquiries, in which order, and the search in all of them. */
import { button, div, h } from '../../web/ui/dom.ts';
import type { Query } from './client.ts';
import { ORDER_NAMES, type ListState } from './list-state.ts';

const SHOWS = [
  ['unanswered', 'Unanswered'],
  ['answered', 'Closed'],
  ['all', 'All'],
] as const;

/** Milliseconds without a key after which what has been typed is searched for. */
const TYPING_PAUSE = 400;

interface Actions {
  readonly onShow: (show: Query['show']) => Promise<void>;
  readonly onTurn: () => Promise<void>;
  readonly onSearch: (text: string) => void;
}

export function createListHead(state: ListState, { onShow, onTurn, onSearch }: Actions) {
  const status = h('p', { class: 'ib-status', role: 'status' });
  const heading = h('h2', { id: 'list-title', tabindex: '-1' }, 'Inquiries');
  const shows = SHOWS.map(([show, label]) => ({
    show,
    element: button(label, { 'aria-pressed': 'false' }, async () => onShow(show)),
  }));
  const order = button('', { class: 'ib-link' }, onTurn);
  const search = createSearchBox(state, onSearch);
  const group = { class: 'ib-shows', role: 'group', 'aria-label': 'Which inquiries' };
  const element = div(
    'ib-list-head',
    div('ib-line ib-title', heading, order),
    h('div', group, ...shows.map((each) => each.element)),
    search.element,
    status,
  );
  return {
    element,
    heading,
    search: search.input,
    say: (text: string) => void (status.textContent = text),
    /** Shows what the list shows. */
    render(): void {
      const { show, order: current, text } = state.query();
      heading.textContent = state.heading();
      for (const each of shows) each.element.ariaPressed = String(each.show === show);
      order.hidden = text !== '' || show === 'undelivered';
      order.textContent = ORDER_NAMES[current];
      order.ariaLabel = `${ORDER_NAMES[current]}, change the order`;
      if (document.activeElement !== search.input) search.input.value = text;
    },
  };
}

/** Searches when Enter is pressed or nothing more is typed. */
function createSearchBox(state: ListState, onSearch: (text: string) => void) {
  const input = h('input', {
    type: 'search',
    id: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Search all: reference, email, text',
    'aria-label': 'Search all inquiries by reference, email and text',
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const search = (): void => {
    clearTimeout(timer);
    const text = input.value.trim();
    if (text !== state.query().text) onSearch(text);
  };
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(search, TYPING_PAUSE);
  });
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') search();
  });
  return { element: h('div', { role: 'search', class: 'ib-search' }, input), input };
}
