/** The list of inquiries: loads it, keeps it up to date, and draws it. */
import { button, div, h, notice } from '../../web/ui/dom.ts';
import { formatCount } from '../../web/ui/format.ts';
import {
  isFailure,
  type Api,
  type Closed,
  type Failure,
  type Listing,
  type Query,
} from './client.ts';
import type { Drafts } from './drafts.ts';
import { createListHead } from './list-head.ts';
import { createListState } from './list-state.ts';
import type { Outbox } from './outbox.ts';
import { createRow } from './row.ts';

export type List = ReturnType<typeof createList>;

interface ListParts {
  readonly api: Api;
  readonly drafts: Drafts;
  readonly outbox: Outbox;
  /** The list was drawn. @param count - How many are unanswered, such as `12` or `2000+`. */
  readonly onRender: (count: string) => void;
}

export function createList({ api, drafts, outbox, onRender }: ListParts) {
  const state = createListState((id) => outbox.get(id) !== undefined);
  let loading: AbortController | undefined;
  /** Index of the open inquiry when it left the list. */
  let place = -1;

  const announcement = h('p', { class: 'sr', role: 'status' });
  const alert = h('div', { class: 'ib-live', role: 'alert' });
  const items = h('ul', { class: 'ib-rows', role: 'list' });
  const note = h('p', { class: 'ib-none', hidden: true });
  const more = button('Show more', { class: 'ib-link ib-more', hidden: true }, async () =>
    load(state.next()),
  );
  const scroller = div('ib-scroller', alert, items, note, more);
  const head = createListHead(state, {
    onShow: show,
    async onTurn() {
      state.turn();
      await load();
    },
    onSearch: (text) => void find(text),
  });
  const element = h(
    'section',
    { class: 'ib-list', 'aria-labelledby': head.heading.id },
    head.element,
    announcement,
    scroller,
  );

  async function show(which: Query['show']): Promise<void> {
    state.show(which);
    await load();
  }

  /** Searches all inquiries; an empty text ends the search. */
  async function find(text: string): Promise<void> {
    state.search(text);
    head.search.value = text;
    await load();
  }

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
    if (from === undefined) items.ariaBusy = 'true';
    const result = await (requested ?? api.list({ ...state.query(), from }, signal));
    if (signal.aborted) return;
    items.ariaBusy = null;
    if (isFailure(result)) return showFailure(result, from);
    const hadRows = items.hasChildNodes();
    state.receive(result, from !== undefined);
    render();
    // The button may be gone, so the focus moves to the first of the others.
    if (from !== undefined) {
      (linkOf(result.inquiries[0]?.id) ?? (more.hidden ? head.heading : more)).focus();
    } else if (hadRows) {
      scroller.scrollTop = 0;
    }
  }

  function showFailure({ message }: Failure, from: string | undefined): void {
    if (from === undefined) state.clear();
    render();
    note.hidden = true;
    const again = button('Try again', {}, async () => load(from));
    const failed = { title: 'The inquiries could not be loaded', text: message };
    alert.replaceChildren(notice('bad', failed, again));
  }

  /** Looks for new inquiries, and for those that a colleague has answered. */
  async function poll(): Promise<void> {
    const result = await api.unanswered();
    if (isFailure(result)) return;
    const before = state.shown();
    const { fresh, missing } = state.see(result);
    if (alert.hasChildNodes() && !items.hasChildNodes()) return load();
    const found = await Promise.all(missing.map(async (id) => api.get(id)));
    if (found.length > 0) {
      state.insert(found.flatMap((each) => (isFailure(each) ? [] : [each])));
    }
    if (fresh.length > 0) {
      announcement.textContent = formatCount(fresh.length, 'new inquiry', 'new inquiries');
    }
    const after = state.shown();
    const isSame = after.length === before.length && after.every((row, n) => row === before[n]);
    if (isSame) renderHead();
    else render();
  }

  const links = (): HTMLAnchorElement[] => [...items.querySelectorAll('a')];
  const linkOf = (id?: string): HTMLAnchorElement | undefined => links().find(isLinkOf(id));

  /** Draws the list; what is read stays where it is. */
  function render(): void {
    const restore = keepPlace();
    const rows = state.shown().map((inquiry) => {
      const { id } = inquiry;
      const isOpened = id === state.opened();
      const draft = outbox.get(id) ? 'Being sent' : drafts.get(id) && 'Draft';
      return h('li', {}, createRow(inquiry, { isOpened, draft }));
    });
    items.replaceChildren(...rows);
    restore();
    const label = state.more();
    more.hidden = label === undefined;
    if (label !== undefined) more.textContent = label;
    note.textContent = state.none();
    note.hidden = note.textContent === '';
    renderHead();
    head.say(state.status());
  }

  function renderHead(): void {
    head.render();
    onRender(state.count());
  }

  /** Remembers what has the focus and what is seen. @returns Restores both after the rows were replaced. */
  function keepPlace(): () => void {
    const focused = links().find((link) => link === document.activeElement);
    // The first paint waits for no layout.
    if (!items.hasChildNodes()) return () => undefined;
    const isScroller = scroller.scrollHeight > scroller.clientHeight;
    const area = isScroller ? scroller : document.documentElement;
    const edge = Math.max(scroller.getBoundingClientRect().top, 0);
    const isInUse = area.scrollTop > 0 || items.matches(':hover, :focus-within');
    const anchor = isInUse
      ? links().find((link) => link.getBoundingClientRect().bottom > edge)
      : undefined;
    const before = anchor?.getBoundingClientRect().top ?? 0;
    return () => {
      linkOf(focused?.hash.slice(1))?.focus({ preventScroll: true });
      // Without something to keep, no layout is forced.
      const link = anchor && linkOf(anchor.hash.slice(1));
      if (link !== undefined) area.scrollTop += link.getBoundingClientRect().top - before;
    };
  }

  return {
    element,
    search: head.search,
    /** What is searched for; empty without a search. */
    text: () => state.query().text,
    load: async (requested: Promise<Listing | Failure>) => load(undefined, requested),
    poll,
    show,
    find,
    /** Marks the inquiry that is open; undefined: none is. */
    open(id: string | undefined): void {
      linkOf(state.opened())?.removeAttribute('aria-current');
      state.open(id);
      linkOf(id)?.setAttribute('aria-current', 'true');
      linkOf(id)?.scrollIntoView({ block: 'nearest' });
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
      const index = all.findIndex(isLinkOf(id));
      if (id === undefined) return all.at(0);
      // The one that has just left the list: the next has taken its place.
      if (index === -1) return all[step === 1 ? Math.max(place, 0) : Math.max(place, 0) - 1];
      return all[index + step];
    },
    /** Focuses the row of an inquiry, or the heading when it is not in the list. */
    focus(id: string | undefined): void {
      (linkOf(id) ?? head.heading).focus();
    },
  };
}

const isLinkOf = (id?: string) => (link: HTMLAnchorElement) => link.hash === `#${id}`;
