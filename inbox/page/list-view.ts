import { button, div, h, isComposing, live, notice, p } from '../../ui/dom.ts';
import { isFailure, type Failure, type Listing, type Query } from './client.ts';
import type { Drafts } from './drafts.ts';
import { markHits } from './hits.ts';
import { createRow } from './inquiry-view.ts';
import {
  CHOICES,
  countOf,
  describeNone,
  describeStatus,
  FIRST_QUERY,
  headingOf,
  ORDERS,
  queryOf,
  searchFor,
  shownOf,
  turned,
  type ListState,
} from './list-state.ts';
import { focusGently } from './typing.ts';

/** Milliseconds from the last key to the search. */
const TYPING_PAUSE = 400;

export function createListView(
  stage: string,
  drafts: Drafts,
  ask: (query: Query) => Promise<void>,
  onMore: () => Promise<void>,
) {
  const head = createListHead(stage, ask);
  const announcement = h('p', { class: 'sr', role: 'status' });
  const alert = live('alert');
  const items = h('ul', { class: 'ib-rows', role: 'list' });
  const note = p('ib-none');
  const more = button('', { class: 'ib-link ib-more', hidden: true }, onMore);
  const scroller = div('ib-scroller', alert, items, note, more);
  const name = { class: 'ib-list', 'aria-labelledby': head.heading.id };
  const linkOf = (id = '') => linkIn(items, `#${id}`);

  return {
    element: h('section', name, head.element, announcement, scroller),
    search: head.search,
    renderHead: head.render,
    ids: (): string[] => linksIn(items).map(({ hash }) => hash.slice(1)),
    announce: (text: string) => void (announcement.textContent = text),
    /** Without a row, the heading. */
    focus: (id: string) => (linkOf(id) ?? head.heading).focus(),
    mark(id?: string): void {
      items.querySelector('[aria-current]')?.removeAttribute('aria-current');
      const link = linkOf(id);
      link?.setAttribute('aria-current', 'true');
      link?.scrollIntoView({ block: 'nearest' });
    },
    wait(state: ListState, isMore: boolean): void {
      alert.replaceChildren();
      head.render(state);
      if (isMore) return;
      items.ariaBusy = 'true';
      more.hidden = true;
    },
    draw(state: ListState): void {
      const restore = keepPlace(scroller, items);
      const rows = shownOf(state).map((inquiry) => {
        const { id } = inquiry;
        const draft = state.given.has(id) ? 'Being sent' : drafts.get(id) && 'Draft';
        return h('li', {}, createRow(inquiry, id === state.opened, draft));
      });
      items.replaceChildren(...rows);
      restore();
      more.textContent = state.query.text === '' ? 'Show more' : 'Search older ones';
      more.hidden = state.next === undefined;
      note.textContent = describeNone(state);
      head.render(state);
      markHits(state.query.text);
    },
    settle(result: Listing | Failure, isMore: boolean, onAgain: () => Promise<void>): void {
      items.ariaBusy = null;
      if (isFailure(result)) {
        const failed = { title: 'The inquiries could not be loaded', text: result.message };
        alert.replaceChildren(notice('bad', failed, button('Try again', {}, onAgain)));
      } else if (isMore) {
        // The button may be gone.
        focusGently(linkOf(result.inquiries[0]?.id) ?? (more.hidden ? head.heading : more));
      } else {
        scroller.scrollTop = 0;
      }
    },
  };
}

const linksIn = (items: HTMLElement) => [...items.querySelectorAll('a')];
const linkIn = (items: HTMLElement, hash?: string) =>
  linksIn(items).find((link) => link.hash === hash);

/** Restores focus and scroll position after the rows were replaced. */
function keepPlace(scroller: HTMLElement, items: HTMLElement): () => void {
  // The first paint waits for no layout.
  if (!items.hasChildNodes()) return () => undefined;
  const links = linksIn(items);
  const focused = links.find((link) => link === document.activeElement);
  const area = scroller.scrollHeight > scroller.clientHeight ? scroller : document.documentElement;
  const edge = Math.max(scroller.getBoundingClientRect().top, 0);
  const isInUse = area.scrollTop > 0 || items.matches(':hover, :focus-within');
  const anchor = links.find((link) => isInUse && link.getBoundingClientRect().bottom > edge);
  const before = anchor?.getBoundingClientRect().top ?? 0;
  return () => {
    linkIn(items, focused?.hash)?.focus({ preventScroll: true });
    const link = linkIn(items, anchor?.hash);
    if (link !== undefined) area.scrollTop += link.getBoundingClientRect().top - before;
  };
}

function createListHead(stage: string, ask: (query: Query) => Promise<void>) {
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
