/** The list of inquiries: loads it, keeps it up to date, and draws it. */
import { button, div, h, notice } from '../../web/ui/dom.ts';
import { formatCount } from '../../web/ui/format.ts';
import { isFailure, type Api, type Closed, type Failure, type Listing } from './client.ts';
import type { Drafts } from './drafts.ts';
import { markHits } from './hits.ts';
import { createListHead } from './list-head.ts';
import { createListState } from './list-state.ts';
import type { Outbox } from './outbox.ts';
import { createRow } from './row.ts';

export type List = ReturnType<typeof createList>;

/** @param onCount - Gets how many are unanswered, such as `12` or `2000+`, whenever the list was drawn. */
export function createList(
  api: Api,
  drafts: Drafts,
  outbox: Outbox,
  onCount: (count: string) => void,
) {
  const state = createListState((id) => outbox.get(id) !== undefined);
  let loading: AbortController | undefined;
  /** Index of the open inquiry when it left the list. */
  let place = 0;

  const announcement = h('p', { class: 'sr', role: 'status' });
  const alert = h('div', { class: 'ib-live', role: 'alert' });
  const items = h('ul', { class: 'ib-rows', role: 'list' });
  const note = h('p', { class: 'ib-none' });
  const more = button('Show more', { class: 'ib-link ib-more', hidden: true }, async () =>
    load(state.next()),
  );
  const scroller = div('ib-scroller', alert, items, note, more);
  const head = createListHead(state, load);
  const name = { class: 'ib-list', 'aria-labelledby': head.heading.id };
  const element = h('section', name, head.element, announcement, scroller);

  const links = (): HTMLAnchorElement[] => [...items.querySelectorAll('a')];
  const linkOf = (id?: string): HTMLAnchorElement | undefined => links().find(isLinkOf(id));

  /**
   * Loads the first ones, or goes on from a place. An earlier request is aborted.
   *
   * @param requested - The response, where the request was made before.
   */
  async function load(from?: string, requested?: Promise<Listing | Failure>): Promise<void> {
    loading?.abort();
    const { signal } = (loading = new AbortController());
    alert.replaceChildren();
    head.render();
    head.say(state.query().text === '' ? 'Loading…' : 'Searching all inquiries…');
    if (from === undefined) {
      items.ariaBusy = 'true';
      more.hidden = true;
    }
    const result = await (requested ?? api.list(state.query(), from, signal));
    if (signal.aborted) return;
    items.ariaBusy = null;
    if (isFailure(result)) {
      if (from === undefined) state.receive({ inquiries: [] }, false);
      render();
      note.textContent = '';
      const again = button('Try again', {}, async () => load(from));
      const failed = { title: 'The inquiries could not be loaded', text: result.message };
      alert.replaceChildren(notice('bad', failed, again));
      return;
    }
    state.receive(result, from !== undefined);
    render();
    if (from === undefined) scroller.scrollTop = 0;
    // The button may be gone, so the focus moves to the first of the others.
    else (linkOf(result.inquiries[0]?.id) ?? (more.hidden ? head.heading : more)).focus();
  }

  /** Looks for new inquiries, and for those that a colleague has answered. */
  async function poll(): Promise<void> {
    const result = await api.unanswered();
    if (isFailure(result)) return;
    const idsOf = (): string =>
      state
        .shown()
        .map(({ id }) => id)
        .join();
    const before = idsOf();
    const { fresh, missing } = state.see(result);
    if (alert.hasChildNodes() && before === '') return load();
    const found = await Promise.all(missing.map(async (id) => api.get(id)));
    if (found.length > 0) state.insert(found.flatMap((each) => (isFailure(each) ? [] : [each])));
    if (fresh.length > 0) {
      announcement.textContent = formatCount(fresh.length, 'new inquiry', 'new inquiries');
    }
    if (idsOf() === before) renderHead();
    else render();
  }

  /** Draws the list; what is read stays where it is. */
  function render(): void {
    const restore = keepPlace(scroller, items);
    const rows = state.shown().map((inquiry) => {
      const { id } = inquiry;
      const draft = outbox.get(id) ? 'Being sent' : drafts.get(id) && 'Draft';
      return h('li', {}, createRow(inquiry, id === state.opened(), draft));
    });
    items.replaceChildren(...rows);
    restore();
    more.textContent = state.more();
    more.hidden = state.next() === undefined;
    note.textContent = state.none();
    head.say(state.status());
    renderHead();
    markHits(state.query().text);
  }

  function renderHead(): void {
    head.render();
    onCount(state.count());
  }

  return {
    element,
    search: head.search,
    show: head.choose,
    find: head.find,
    load,
    poll,
    /** Marks the inquiry that is open; undefined: none is. */
    open(id: string | undefined): void {
      linkOf(state.opened())?.removeAttribute('aria-current');
      state.open(id);
      const link = linkOf(id);
      link?.setAttribute('aria-current', 'true');
      link?.scrollIntoView({ block: 'nearest' });
    },
    /** Shows an inquiry's draft or answer; one that is closed leaves the list of unanswered ones. */
    update(id: string, answer?: Closed): void {
      if (answer !== undefined) state.close(id, answer);
      const index = links().findIndex(isLinkOf(id));
      if (index !== -1) place = index;
      render();
    },
    /** The link `step` places from one of an id; without an id the first. */
    neighbour(id: string | undefined, step: 1 | -1): HTMLAnchorElement | undefined {
      const all = links();
      if (id === undefined) return all[0];
      const index = all.findIndex(isLinkOf(id));
      // The next one has taken the place of one that has just left the list.
      return all[index === -1 ? place + Math.min(step, 0) : index + step];
    },
    /** Focuses the row of an inquiry, or the heading when it is not in the list. */
    focus: (id: string) => (linkOf(id) ?? head.heading).focus(),
  };
}

const isLinkOf = (id?: string) => (link: HTMLAnchorElement) => link.hash === `#${id}`;

/** Remembers what has the focus and what is seen. @returns Restores both after the rows were replaced. */
function keepPlace(scroller: HTMLElement, items: HTMLElement): () => void {
  // The first paint waits for no layout.
  if (!items.hasChildNodes()) return () => undefined;
  const find = (link: HTMLAnchorElement | undefined): HTMLAnchorElement | undefined =>
    [...items.querySelectorAll('a')].find(({ hash }) => hash === link?.hash);
  const links = [...items.querySelectorAll('a')];
  const focused = links.find((link) => link === document.activeElement);
  const area = scroller.scrollHeight > scroller.clientHeight ? scroller : document.documentElement;
  const edge = Math.max(scroller.getBoundingClientRect().top, 0);
  const isInUse = area.scrollTop > 0 || items.matches(':hover, :focus-within');
  const anchor = links.find((link) => isInUse && link.getBoundingClientRect().bottom > edge);
  const before = anchor?.getBoundingClientRect().top ?? 0;
  return () => {
    find(focused)?.focus({ preventScroll: true });
    const link = find(anchor);
    if (link !== undefined) area.scrollTop += link.getBoundingClientRect().top - before;
  };
}
