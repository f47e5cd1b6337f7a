/** The list of the user's inquiries. */
import { isFailure, type Failure, type Page } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { INQUIRY_ID } from '../../src/limits.ts';
import { toMailbox } from '../../src/mailbox.ts';
import { isolate } from './bidi.ts';
import type { Branding } from './config.ts';
import { button, div, h, notice } from '../ui/dom.ts';
import { addSent, appendOlder, mergeNewest, toInclude } from './inquiries.ts';
import { createItem, type Item } from './item.ts';
import type { Strings } from './languages/en.ts';
import { describeListFailure } from './messages.ts';
import { createMatcher, dayOf, findHits, timeBefore, titleOf } from './search.ts';
import type { User } from './user.ts';
import type { ViewParts } from './view-parts.ts';

interface ListParts extends ViewParts {
  /** Aborted when the list is removed. */
  readonly signal: AbortSignal;
}

interface Day {
  readonly element: HTMLElement;
  readonly heading: HTMLElement;
  readonly list: HTMLElement;
}

/** The number of inquiries from which the list has a search. */
const SEARCH_FROM = 6;
/** The periods to choose from, in days and months. */
const PERIODS = [
  [7, 0],
  [30, 0],
  [0, 12],
] as const;
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
  const days = new Map<string, Day>();

  const status = h('p', { class: 'sr', role: 'status' });
  const say = (text: string): void => void (status.textContent = text);
  const count = h('p', { class: 'count' });
  const alert = h('div', { class: 'live', role: 'alert' });
  const place = div('place', skeleton());
  const refreshButton = button(strings.refresh, { class: 'quiet' }, async () => refresh(true));
  const input = h('input', {
    type: 'search',
    autocomplete: 'off',
    'aria-label': strings.search,
    placeholder: strings.search,
  });
  const periods = PERIODS.map(([inDays, inMonths]) =>
    inDays === 0
      ? locale.count(strings.lastMonths, inMonths)
      : locale.count(strings.lastDays, inDays),
  );
  const options = periods.map((text, index) => h('option', { value: String(index) }, text));
  const period = h(
    'select',
    { 'aria-label': strings.period },
    h('option', { value: '' }, strings.anyTime),
    ...options,
  );
  const search = h('search', { class: 'search', hidden: true }, input, period);
  const clearButton = button(strings.clear, {}, () => {
    clearSearch();
    say('');
    input.focus();
  });
  const note = h('p', { class: 'note' });
  const trouble = h('div', { class: 'live', role: 'alert' });
  const moreButton = button(strings.more, { class: 'more', hidden: true }, async () => {
    focusOn(await more());
  });
  const titled = div('list-title', h('h2', { id: 'list-title' }, strings.title), count);
  const head = div('list-head', titled, refreshButton);
  const hint = h('p', { class: 'hint' }, answersText(user, branding, strings));
  const parts = [head, hint, search, status, alert, place, note, trouble, moreButton];
  const element = h('section', { class: 'list', 'aria-labelledby': 'list-title' }, ...parts);

  // Whether a text is cut off depends on its width, and is known only of items that are laid out: those near the window.
  const itemOf = new WeakMap<Element, Item>();
  const widths = new ResizeObserver((entries) => {
    const seen = entries.filter(({ contentRect }) => contentRect.width > 0);
    showCuts(seen.flatMap(({ target }) => itemOf.get(target) ?? []));
  });
  const nearEnd = new IntersectionObserver(
    (entries) => {
      if (entries.at(-1)?.isIntersecting === true && !isFiltering() && !trouble.hasChildNodes()) {
        void more();
      }
    },
    { rootMargin: NEAR },
  );

  const isFiltering = (): boolean => input.value.trim() !== '' || period.value !== '';

  /** Whether older inquiries that can match are being loaded. */
  const isSearching = (): boolean =>
    isFiltering() &&
    page?.next !== undefined &&
    !trouble.hasChildNodes() &&
    (page.inquiries.at(-1)?.created_at ?? '') >= sinceWhen();

  const sinceWhen = (): string => {
    const [inDays, inMonths] = PERIODS[Number(period.value)] ?? [0, 0];
    return period.value === '' ? '' : timeBefore(new Date(), inDays, inMonths);
  };

  const groupFor = (day: string): Day => {
    const known = days.get(day);
    if (known !== undefined) return known;
    const heading = h('h3');
    const list = h('ul', { class: 'items', role: 'list' });
    const group = { element: div('day', heading, list), heading, list };
    days.set(day, group);
    return group;
  };

  const render = (shown: Page, visible: readonly Inquiry[]): void => {
    const { inquiries, next } = shown;
    const filtering = isFiltering();
    const plural = filtering
      ? strings.matches
      : next === undefined
        ? strings.count
        : strings.newest;
    count.textContent =
      visible.length === 0 && isSearching()
        ? strings.noMatchYet
        : locale.count(plural, filtering ? visible.length : inquiries.length);
    search.hidden = !filtering && next === undefined && inquiries.length < SEARCH_FROM;
    note.textContent = isSearching()
      ? strings.searching
      : filtering && trouble.hasChildNodes()
        ? strings.notSearched
        : '';
    const now = new Date();
    const groups = Map.groupBy(visible, (inquiry) =>
      inquiry === linkedInquiry ? '' : dayOf(inquiry),
    );
    for (const day of days.keys()) if (!groups.has(day)) days.delete(day);
    const content = [...groups].map(([day, members]) => {
      const group = groupFor(day);
      const date = day === '' && linkedInquiry !== undefined ? dayOf(linkedInquiry) : day;
      const title = titleOf(date, now, locale);
      // On paper, no day is today.
      group.heading.dataset['date'] = titleOf(date, new Date(0), locale);
      if (group.heading.textContent !== title) group.heading.textContent = title;
      arrange(
        group.list,
        members.flatMap(({ id }) => items.get(id)?.element ?? []),
      );
      return group.element;
    });
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
    const query = input.value;
    const matches = createMatcher(query, sinceWhen());
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
    if (!isFiltering()) return;
    input.value = '';
    period.value = '';
    void update();
  };
  const sayResult = (): void => {
    if (isSearching()) {
      say(strings.searching);
    } else {
      say(
        !isFiltering()
          ? ''
          : place.contains(clearButton)
            ? strings.noMatch
            : (count.textContent ?? ''),
      );
    }
  };
  const searchAgain = async (): Promise<void> => {
    await update();
    sayResult();
    goOn();
  };
  search.addEventListener('input', () => void searchAgain());
  search.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    clearSearch();
    say('');
  });

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
    const before = page?.inquiries[0]?.id;
    const result = await reload();
    say('');
    if (isFailure(result)) return fail(alert, result, async () => refresh(true));
    if (isAsked) say(result.inquiries[0]?.id === before ? strings.upToDate : strings.updated);
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
    if (!isFiltering()) say(strings.updated);
    return result.inquiries[0];
  };
  /** Moves the focus from the button for more, which may be gone, to the first new inquiry. */
  const focusOn = (first: Inquiry | undefined): void => {
    const item = first === undefined ? undefined : items.get(first.id);
    if (item?.element.isConnected === true) item.title.focus();
    else if (moreButton.hidden) input.focus();
  };
  const more = async (): Promise<Inquiry | undefined> =>
    (loading ??= loadOlder().finally(() => {
      loading = undefined;
      if (isFiltering()) sayResult();
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

/** Gives an element these children. Those that stay are not moved, so that they keep the focus. */
function arrange(parent: Element, wanted: readonly Element[]): void {
  const kept = new Set(wanted);
  for (const child of Array.from(parent.children).filter((one) => !kept.has(one))) child.remove();
  let at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}

/** Says that answers come by mail: the API never returns them. The form says when no mail can go to the address. */
function answersText({ email }: User, { answersFrom }: Branding, list: Strings['list']): string {
  if (toMailbox(email) === undefined) return '';
  const owner = isolate(email);
  return answersFrom === undefined
    ? list.answers(owner)
    : list.answersFrom(isolate(answersFrom), owner);
}

function skeleton(): HTMLElement {
  const items = [1, 2, 3].map(() =>
    div('item', ...[1, 2, 3].map(() => h('span', { class: 'bone' }))),
  );
  return h('div', { class: 'skeleton', 'aria-hidden': 'true' }, ...items);
}
