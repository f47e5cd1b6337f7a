/** The list of the user's inquiries: its elements, and what they do. */
import { isFailure, type Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { INQUIRY_ID } from '../../src/limits.ts';
import { button, div, h, live, notice, p } from '../../ui/dom.ts';
import { arrange, createDays } from './days.ts';
import { fold } from './item.ts';
import { createItems } from './items.ts';
import { describeCount, isFiltered, isSearching, NOTHING, type ListState } from './list-state.ts';
import { describeAnswer, describeListFailure } from './messages.ts';
import { createPages } from './pages.ts';
import { createSearchBar } from './search-bar.ts';
import type { ViewParts } from './view-parts.ts';

interface ListParts extends ViewParts {
  /** Aborted when the list is removed. */
  signal: AbortSignal;
}

interface List extends ListParts, ReturnType<typeof createElements> {
  pages: ReturnType<typeof createPages>;
  items: ReturnType<typeof createItems>;
  groupByDay: ReturnType<typeof createDays>;
  /** What is shown. */
  state: ListState;
  /** The request for older inquiries. */
  loading?: Promise<void> | undefined;
  /** The inquiry that was sent or looked for last. */
  marked?: HTMLElement | undefined;
}

/** The number of inquiries from which the list has a search. */
const SEARCH_FROM = 6;
/** Distance to the end of the list at which the next page is loaded. */
const NEAR = '1500px';

export function createList(parts: ListParts) {
  const elements = createElements(parts, () => list);
  const items = createItems({ ...parts, say: elements.say });
  const list: List = {
    ...parts,
    ...elements,
    pages: createPages(parts.api),
    items,
    groupByDay: createDays(parts.locale, ({ id }) => items.get(id)?.element),
    state: NOTHING,
  };
  return {
    element: list.element,
    refresh: async () => refresh(list),
    show: async (id: string) => show(list, id),
    /** Shows an inquiry that has just been sent. */
    add(inquiry: Inquiry): void {
      list.pages.add(inquiry);
      update(list);
      mark(list, inquiry.id);
    },
  };
}

/** @param get - What the elements act on. */
function createElements({ user, locale, branding }: ListParts, get: () => List) {
  const { list: strings } = locale.strings;
  const status = h('p', { class: 'sr', role: 'status' });
  const count = p('count');
  const search = createSearchBar(locale, () => {
    update(get());
    get().say('');
    goOn(get());
  });
  const alert = live('alert');
  const place = div('place');
  const note = p('note');
  const trouble = live('alert');
  const moreButton = button(strings.more, { class: 'more', hidden: true }, async () => more(get()));
  const observe = (entries: IntersectionObserverEntry[]): void => {
    const isLoadable = !moreButton.hidden && !get().state.isCut;
    if (isLoadable && entries.at(-1)?.isIntersecting === true) void more(get());
  };
  const clear = button(strings.clear, {}, () => {
    search.clear();
    search.focus();
  });
  const noMatch = h('p');
  const title = div('list-title', h('h2', { id: 'list-title' }, strings.title), count);
  const renew = button(strings.refresh, { class: 'quiet' }, async () => refresh(get(), true));
  // The form says when no mail can go to the address.
  const answers = describeAnswer(user, branding, locale);
  const hint = p('hint', answers && locale.join(strings.answers, answers));
  const element = h('section', { class: 'list', 'aria-labelledby': 'list-title' });
  element.append(div('list-head', title, renew), hint, search.element, status, alert);
  element.append(place, note, trouble, moreButton);
  return {
    element,
    count,
    search,
    /** Announces what happened. */
    say: (text: string): void => void (status.textContent = text),
    alert,
    place,
    note,
    /** Says why older inquiries could not be loaded. */
    trouble,
    moreButton,
    nearEnd: new IntersectionObserver(observe, { rootMargin: NEAR }),
    noMatch,
    empty: div('empty', noMatch, clear),
  };
}

function render(list: List): void {
  const { state, locale, count, search, alert, place, note, moreButton, nearEnd } = list;
  const isEmpty = state.visible.length === 0;
  const isWhole = state.page?.next === undefined;
  const hasNone = isEmpty && isFiltered(state) && !isSearching(state);
  const text = describeCount(state, locale);
  count.textContent = hasNone ? '' : text;
  list.noMatch.textContent = text;
  note.textContent = isSearching(state) ? locale.strings.list.searching : '';
  search.element.hidden = !isFiltered(state) && isWhole && state.visible.length < SEARCH_FROM;
  // Before the first inquiry there is only the form.
  list.element.hidden = isEmpty && !isFiltered(state) && !alert.hasChildNodes();
  const days = list.groupByDay(state.visible, state.linked);
  arrange(place, hasNone ? [list.empty] : days);
  moreButton.hidden = isWhole || isFiltered(state);
  // Observed again, it reports whether the end is still near.
  nearEnd.unobserve(moreButton);
  nearEnd.observe(moreButton);
}

/** Shows the inquiries that are loaded and match. */
function update(list: List): void {
  const { pages, items, search, trouble } = list;
  const { page, linked } = pages.state;
  const { query, since } = search.read();
  if (page === undefined) return;
  const visible = items.select(pages.all(), query, since);
  list.state = { page, linked, query, since, visible, isCut: trouble.hasChildNodes() };
  render(list);
}

/** Loads something and shows it, or says in a region why that failed. Never rejects. */
async function load<Result extends object>(
  list: List,
  region: HTMLElement,
  request: () => Promise<Result | Failure | undefined>,
  again: () => Promise<void>,
): Promise<Result | undefined> {
  region.replaceChildren();
  const result = await request();
  region.replaceChildren();
  const hasFailed = result !== undefined && isFailure(result);
  if (hasFailed) {
    region.append(explain(list, result, again));
    list.element.hidden = false;
    if (list.pages.state.page === undefined) list.place.replaceChildren();
  }
  update(list);
  return hasFailed ? undefined : result;
}

/** The message about a failure, with a way to go on. Tries again when the browser is online again. */
function explain(
  { locale, signIn, signal }: List,
  failure: Failure,
  again: () => Promise<unknown>,
): HTMLElement {
  const { session, form } = locale.strings;
  const action =
    failure.kind === 'signed-out'
      ? button(session.signInAgain, {}, async () => signIn().catch(() => undefined))
      : button(form.tryAgain, {}, async () => void (await again()));
  const message = notice('bad', describeListFailure(locale, failure), action);
  if (failure.kind === 'offline' || failure.kind === 'unreachable') {
    const retry = () => void (message.isConnected && again());
    addEventListener('online', retry, { once: true, signal });
  }
  return message;
}

/** Loads the newest page. */
async function refresh(
  list: List,
  isAsked = false,
  again = async () => refresh(list, true),
): Promise<void> {
  const { place, say, pages, alert } = list;
  const { page, list: strings } = list.locale.strings;
  if (pages.state.page === undefined) {
    place.replaceChildren(p('note', page.wait));
    say(page.wait);
  }
  const loaded = await load(list, alert, async () => pages.reload(), again);
  say(loaded !== undefined && isAsked ? strings.updated : '');
}

/** Loads older inquiries. */
async function more(list: List): Promise<void> {
  list.loading ??= loadOlder(list).finally(() => {
    list.loading = undefined;
    goOn(list);
  });
  return list.loading;
}

async function loadOlder(list: List): Promise<void> {
  const { pages, moreButton, trouble, items } = list;
  let hadFocus = false;
  const request = async () =>
    pages.loadOlder().finally(() => {
      // The button may be gone afterwards.
      hadFocus = moreButton.matches(':focus');
    });
  const older = await load(list, trouble, request, async () => more(list));
  if (older === undefined) return;
  list.say(list.locale.strings.list.updated);
  const [first] = older.inquiries;
  if (hadFocus && first !== undefined) items.get(first.id)?.title.focus();
}

/** Says what a search has found, and goes on with it until all inquiries that can match are loaded. */
function goOn(list: List): void {
  const { state, locale, say } = list;
  if (!isFiltered(state)) return;
  say(isSearching(state) ? locale.strings.list.searching : describeCount(state, locale));
  if (isSearching(state)) void more(list);
}

/** Unfolds an inquiry and moves the focus there; loads it when needed. Ignores what is not an id. */
async function show(list: List, fragment: string): Promise<void> {
  const { pages, items, search, alert } = list;
  const id = fragment.toLowerCase();
  const again = async () => show(list, fragment);
  if (pages.state.page === undefined) await refresh(list, false, again);
  if (pages.state.page === undefined || !INQUIRY_ID.test(id)) return;
  if (isFiltered(list.state)) search.clear();
  if ((await load(list, alert, async () => pages.include(id), again)) === undefined) return;
  mark(list, id);
  const item = items.get(id);
  if (item === undefined) {
    alert.append(notice('plain', { title: list.locale.strings.list.notFound }));
    list.element.hidden = false;
  } else {
    fold(item, false);
    item.title.focus();
  }
}

function mark(list: List, id: string): void {
  list.marked?.classList.remove('new');
  list.marked = list.items.get(id)?.element;
  list.marked?.classList.add('new');
}
