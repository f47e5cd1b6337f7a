/** The head of the list: which inquiries, in which order, and the search in all of them. */
import { button, div, h } from '../../web/ui/dom.ts';
import type { Query } from './client.ts';
import { CHOICES, type ListState } from './list-state.ts';

/** Milliseconds without a key after which what has been typed is searched for. */
const TYPING_PAUSE = 400;

/** @param load - Loads what the state now says. */
export function createListHead(state: ListState, load: () => Promise<void>) {
  const status = h('p', { class: 'ib-status', role: 'status' });
  const heading = h('h2', { id: 'list-title', tabindex: '-1' }, 'Inquiries');
  const choices = (['unanswered', 'answered', 'all'] as const).map((show) => ({
    show,
    element: button(CHOICES[show].title, {}, async () => choose(show)),
  }));
  const order = button('', { class: 'ib-link' }, async () => {
    state.turn();
    await load();
  });
  const search = h('input', {
    type: 'search',
    id: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Search all: reference, email, text',
    'aria-label': 'Search all inquiries by reference, email and text',
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(searchTyped, TYPING_PAUSE);
  });
  // Enter was pressed.
  search.addEventListener('change', searchTyped);

  function searchTyped(): void {
    clearTimeout(timer);
    const text = search.value.trim();
    if (text !== state.query().text) void find(text);
  }

  async function choose(show: Query['show']): Promise<void> {
    state.show(show);
    await load();
  }

  /** Searches all inquiries; an empty text ends the search. */
  async function find(text: string): Promise<void> {
    state.search(text);
    await load();
  }

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
    choose,
    find,
    say: (text: string) => void (status.textContent = text),
    /** Shows what the list shows. */
    render(): void {
      const { show, text } = state.query();
      heading.textContent = state.heading();
      for (const choice of choices) choice.element.ariaPressed = String(choice.show === show);
      order.textContent = state.order();
      order.hidden = order.textContent === '';
      order.ariaLabel = `${order.textContent}, change the order`;
      if (document.activeElement !== search) search.value = text;
    },
  };
}
