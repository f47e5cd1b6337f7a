import { button, div, h, live, notice, p } from '../../ui/dom.ts';
import { isFailure, type Failure, type Listing } from './client.ts';
import type { Drafts } from './drafts.ts';
import { markHits } from './hits.ts';
import { createRow } from './inquiry-view.ts';
import type { ListHead } from './list-head.ts';
import { describeNone, shownOf, type ListState } from './list-state.ts';
import { focusGently } from './typing.ts';

export function createListView(head: ListHead, drafts: Drafts, onMore: () => Promise<void>) {
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
    /** Keeps what is read in its place. */
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
