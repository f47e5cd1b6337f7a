/** The list of the user's inquiries. */
import { isFailure, type Failure, type Page } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { INQUIRY_ID } from '../../src/limits.ts';
import { button, div, h, notice } from '../ui/dom.ts';
import { arrange, createDays } from './days.ts';
import { addSent, appendOlder, mergeNewest, toInclude } from './inquiries.ts';
import { createItem, type Item } from './item.ts';
import { describeAnswer, describeListFailure } from './messages.ts';
import { createMatcher, findHits } from './search.ts';
import { createSearchBar } from './search-bar.ts';
import type { ViewParts } from './view-parts.ts';

interface ListParts extends ViewParts {
  /** Aborted when the list is removed. */
  readonly signal: AbortSignal;
}

/** The number of inquiries from which the list has a search. */
const SEARCH_FROM = 6;
/** Milliseconds of work after which the list yields to the browser. */
const SLICE = 50;
/** More inquiries than a window shows at first. */
const SEEN_FIRST = 20;
/** Distance to the end of the list at which the next page is loaded. */
const NEAR = '1500px';

export function createList({
  api,
  user,
  locale,
  branding,
  signIn,
  linkTo,
  linked,
  signal,
}: ListParts) {
  const { list: strings, form, session } = locale.strings;
  let page: Page | undefined;
  /** The inquiry that the address names, when it is older than the page. */
  let linkedInquiry: Inquiry | undefined;
  let toView = linked;
  let marked: HTMLElement | undefined;
  let updates = 0;
  let loading: Promise<Inquiry | undefined> | undefined;
  const items = new Map<string, Item>();
  const groupByDay = createDays(locale, ({ id }) => items.get(id)?.element);

  const status = h('p', { class: 'sr', role: 'status' });
  const say = (text: string): void => void (status.textContent = text);
  const count = h('p', { class: 'count' });
  const alert = h('div', { class: 'live', role: 'alert' });
  const place = div('place', skeleton());
  const refreshButton = button(strings.refresh, { class: 'quiet' }, async () => refresh(true));
  const search = createSearchBar(locale, (isCleared) => {
    if (isCleared) say('');
    void (isCleared ? update() : searchAgain());
  });
  const clearButton = button(strings.clear, {}, () => {
    clearSearch();
    say('');
    search.focus();
  });
  const note = h('p', { class: 'note' });
  const trouble = h('div', { class: 'live', role: 'alert' });
  const moreButton = button(strings.more, { class: 'more', hidden: true }, async () => {
    focusOn(await more());
  });
  const titled = div('list-title', h('h2', { id: 'list-title' }, strings.title), count);
  const head = div('list-head', titled, refreshButton);
  // The form says when no mail can go to the address.
  const answers = describeAnswer(user, branding, locale);
  const hint = h('p', { class: 'hint' }, answers && locale.join(strings.answers, answers));
  const parts = [head, hint, search.element, status, alert, place, note, trouble, moreButton];
  const element = h('section', { class: 'list', 'aria-labelledby': 'list-title' }, ...parts);

  // Whether a text is cut off depends on its width, and is known only of items that are laid out: those near the window.
  const itemOf = new WeakMap<Element, Item>();
  const widths = new ResizeObserver((entries) => {
    const seen = entries.filter(({ contentRect }) => contentRect.width > 0);
    showCuts(seen.flatMap(({ target }) => itemOf.get(target) ?? []));
  });
  const nearEnd = new IntersectionObserver(
    (entries) => {
      if (
        entries.at(-1)?.isIntersecting === true &&
        !search.isActive() &&
        !trouble.hasChildNodes()
      ) {
        void more();
      }
    },
    { rootMargin: NEAR },
  );

  /** Whether older inquiries that can match are being loaded. */
  const isSearching = (): boolean =>
    search.isActive() &&
    page?.next !== undefined &&
    !trouble.hasChildNodes() &&
    (page.inquiries.at(-1)?.created_at ?? '') >= search.since();

  /** How many inquiries are listed, once all are loaded, or match. Below is said when none does. */
  const describeCount = (visible: number): string => {
    if (visible === 0 && search.isActive()) return isSearching() ? strings.noMatchYet : '';
    if (search.isActive()) return locale.count(strings.matches, visible);
    return page?.next === undefined ? locale.count(strings.count, visible) : '';
  };

  const render = (shown: Page, visible: readonly Inquiry[]): void => {
    const { inquiries, next } = shown;
    const filtering = search.isActive();
    count.textContent = describeCount(visible.length);
    search.element.hidden = !filtering && next === undefined && inquiries.length < SEARCH_FROM;
    note.textContent = isSearching()
      ? strings.searching
      : filtering && trouble.hasChildNodes()
        ? strings.notSearched
        : '';
    const content = groupByDay(visible, linkedInquiry);
    // Before the first inquiry there is only the form.
    element.hidden = content.length === 0 && !filtering && !alert.hasChildNodes();
    if (content.length === 0) {
      content.push(
        isSearching() ? skeleton() : div('empty', h('p', {}, strings.noMatch), clearButton),
      );
    }
    arrange(place, content);
    moreButton.hidden = next === undefined || filtering;
    // Observed again, it reports whether the end is still near.
    nearEnd.unobserve(moreButton);
    nearEnd.observe(moreButton);
  };

  /** Shows the inquiries of the page that match. Without a search, and with few new ones, before it returns. */
  const update = async (): Promise<void> => {
    if (page === undefined) return;
    const run = ++updates;
    const shown = page;
    if (shown.inquiries.some(({ id }) => id === linkedInquiry?.id)) linkedInquiry = undefined;
    const all = linkedInquiry === undefined ? shown.inquiries : [linkedInquiry, ...shown.inquiries];
    const query = search.query();
    const matches = createMatcher(query, search.since());
    const visible: Inquiry[] = [];
    const fresh: Item[] = [];
    let end = performance.now() + SLICE;
    for (const inquiry of all) {
      if (matches(inquiry)) {
        visible.push(inquiry);
        if (!items.has(inquiry.id)) fresh.push(addItem(inquiry));
      }
      if (performance.now() < end) continue;
      await new Promise((resolve) => setTimeout(resolve));
      if (run !== updates) return;
      end = performance.now() + SLICE;
    }
    const ids = new Set(all.map(({ id }) => id));
    const found = new Map(visible.map((inquiry) => [inquiry.id, inquiry]));
    const isOnly = visible.length === 1 && query.trim() !== '';
    for (const [id, item] of items) {
      const { subject = '', body = '' } = found.get(id) ?? {};
      item.showHits(findHits(query, `${subject}\n${body}`), isOnly && found.has(id));
      if (!ids.has(id)) items.delete(id);
    }
    render(shown, visible);
    // Before the first paint, so that the layout does not shift. Those further down are not seen yet.
    showCuts(fresh.slice(0, SEEN_FIRST));
  };

  const addItem = (inquiry: Inquiry): Item => {
    const item = createItem(inquiry, { locale, linkTo, say });
    items.set(inquiry.id, item);
    itemOf.set(item.foot, item);
    widths.observe(item.foot);
    return item;
  };

  const clearSearch = (): void => {
    if (!search.isActive()) return;
    search.clear();
    void update();
  };
  const sayResult = (): void => {
    if (!search.isActive()) say('');
    else say(isSearching() ? strings.searching : count.textContent || strings.noMatch);
  };
  const searchAgain = async (): Promise<void> => {
    await update();
    sayResult();
    goOn();
  };
  const mark = (item: Item | undefined): void => {
    marked?.classList.remove('new');
    marked = item?.element;
    marked?.classList.add('new');
  };

  const fail = (region: HTMLElement, failure: Failure, again: () => Promise<unknown>): void => {
    const action =
      failure.kind === 'signed-out'
        ? button(session.signInAgain, {}, async () => signIn().catch(() => undefined))
        : button(form.tryAgain, {}, async () => void (await again()));
    const message = notice('bad', describeListFailure(locale, failure), action);
    region.replaceChildren(message);
    element.hidden = false;
    if (page === undefined) place.replaceChildren();
    if (failure.kind !== 'offline' && failure.kind !== 'unreachable') return;
    const retry = () => void (message.isConnected && again());
    addEventListener('online', retry, { once: true, signal });
  };

  const reload = async (): Promise<Page | Failure> => {
    const shown = page;
    const result = await api.list();
    if (isFailure(result)) return result;
    // The response may be older than an inquiry that was added in the meantime.
    if (page !== shown) return reload();
    alert.replaceChildren();
    page = page === undefined ? result : mergeNewest(page, result);
    await update();
    return page;
  };

  /** Loads the newest page and shows an error when that fails; never rejects. */
  const refresh = async (isAsked = false): Promise<void> => {
    alert.replaceChildren();
    if (page === undefined) {
      place.replaceChildren(skeleton());
      say(strings.loading);
    }
    const result = await reload();
    say('');
    if (isFailure(result)) return fail(alert, result, async () => refresh(true));
    if (isAsked) say(strings.updated);
    if (toView === undefined) return;
    const id = toView;
    toView = undefined;
    await view(id);
  };

  /** Resolves to the first of the inquiries that were loaded. */
  const loadOlder = async (): Promise<Inquiry | undefined> => {
    const next = page?.next;
    if (next === undefined) return undefined;
    trouble.replaceChildren();
    const result = await api.list(next);
    if (isFailure(result)) {
      fail(trouble, result, more);
      await update();
      return undefined;
    }
    // A refresh in the meantime may have replaced the list.
    if (page?.next !== next) return undefined;
    page = appendOlder(page, result);
    const hasFocus = moreButton.matches(':focus');
    await update();
    if (hasFocus && moreButton.hidden) focusOn(result.inquiries[0]);
    if (!search.isActive()) say(strings.updated);
    return result.inquiries[0];
  };
  /** Moves the focus from the button for more, which may be gone, to the first new inquiry. */
  const focusOn = (first: Inquiry | undefined): void => {
    const item = first === undefined ? undefined : items.get(first.id);
    if (item?.element.isConnected === true) item.title.focus();
    else if (moreButton.hidden) search.focus();
  };
  const more = async (): Promise<Inquiry | undefined> =>
    (loading ??= loadOlder().finally(() => {
      loading = undefined;
      if (search.isActive()) sayResult();
      goOn();
    }));
  /** Goes on with a search until all inquiries that can match are loaded. */
  const goOn = (): void => {
    if (isSearching()) void more();
  };

  /** Unfolds an inquiry and moves the focus there; loads it when needed. Ignores what is not an id. Never rejects. */
  const view = async (fragment: string): Promise<void> => {
    const id = fragment.toLowerCase();
    if (!INQUIRY_ID.test(id)) return;
    if (page === undefined) {
      toView = id;
      return refresh();
    }
    alert.replaceChildren();
    clearSearch();
    if (!page.inquiries.some((inquiry) => inquiry.id === id) && linkedInquiry?.id !== id) {
      const found = await api.list(toInclude(id));
      if (isFailure(found)) return fail(alert, found, async () => view(id));
      if (found.inquiries[0]?.id !== id) {
        alert.replaceChildren(notice('plain', { title: strings.notFound, text: '' }));
        element.hidden = false;
        return;
      }
      linkedInquiry = found.inquiries[0];
    }
    await update();
    const item = items.get(id);
    mark(item);
    item?.unfold();
    item?.title.focus();
  };

  return {
    element,
    refresh,
    /** Shows an inquiry that has just been sent. */
    add(inquiry: Inquiry): void {
      page = addSent(page ?? { inquiries: [], next: undefined }, inquiry);
      void update();
      mark(items.get(inquiry.id));
    },
    view,
  };
}

/** Shows which texts are cut off. All reads come before all writes, so that there is one layout. */
function showCuts(items: readonly Item[]): void {
  const changes = items.map(({ measure }) => measure());
  for (const change of changes) change();
}

function skeleton(): HTMLElement {
  const items = [1, 2, 3].map(() =>
    div('item', ...[1, 2, 3].map(() => h('span', { class: 'bone' }))),
  );
  return h('div', { class: 'skeleton', 'aria-hidden': 'true' }, ...items);
}
