/** The list of the user's inquiries. */
import { isFailure, type Failure, type Page } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { INQUIRY_ID } from '../../src/limits.ts';
import { button, div, h, notice } from '../ui/dom.ts';
import { arrange, createDays } from './days.ts';
import type { Item } from './item.ts';
import { createItems } from './items.ts';
import { describeAnswer, describeListFailure } from './messages.ts';
import { createPages } from './pages.ts';
import { createSearchBar } from './search-bar.ts';
import type { ViewParts } from './view-parts.ts';

interface ListParts extends ViewParts {
  /** Aborted when the list is removed. */
  readonly signal: AbortSignal;
}

/** The number of inquiries from which the list has a search. */
const SEARCH_FROM = 6;
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
  const pages = createPages(api);
  let toView = linked;
  let marked: HTMLElement | undefined;
  let loading: Promise<Inquiry | undefined> | undefined;
  const items = createItems({ locale, linkTo, say: (text) => say(text) });
  const groupByDay = createDays(locale, ({ id }) => items.get(id)?.element);

  const status = h('p', { class: 'sr', role: 'status' });
  const say = (text: string): void => void (status.textContent = text);
  const count = h('p', { class: 'count' });
  const alert = h('div', { class: 'live', role: 'alert' });
  const place = div('place');
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
  const isSearching = (): boolean => {
    const { page } = pages.state;
    const oldest = page?.inquiries.at(-1)?.created_at ?? '';
    const isThereMore = page?.next !== undefined && !trouble.hasChildNodes();
    return search.isActive() && isThereMore && oldest >= search.since();
  };

  /** How many inquiries are listed, once all are loaded, or match. Below is said when none does. */
  const describeCount = (visible: number, isWhole: boolean): string => {
    if (!search.isActive()) return isWhole ? locale.count(strings.count, visible) : '';
    if (visible > 0) return locale.count(strings.matches, visible);
    return isSearching() ? strings.noMatchYet : '';
  };

  const render = ({ inquiries, next }: Page, visible: readonly Inquiry[]): void => {
    const filtering = search.isActive();
    count.textContent = describeCount(visible.length, next === undefined);
    search.element.hidden = !filtering && next === undefined && inquiries.length < SEARCH_FROM;
    const unsearched = filtering && trouble.hasChildNodes() ? strings.notSearched : '';
    note.textContent = isSearching() ? strings.searching : unsearched;
    const content = groupByDay(visible, pages.state.linked);
    const isEmpty = content.length === 0;
    // Before the first inquiry there is only the form.
    element.hidden = isEmpty && !filtering && !alert.hasChildNodes();
    if (isEmpty && !isSearching()) {
      content.push(div('empty', h('p', {}, strings.noMatch), clearButton));
    }
    arrange(place, content);
    moreButton.hidden = next === undefined || filtering;
    // Observed again, it reports whether the end is still near.
    nearEnd.unobserve(moreButton);
    nearEnd.observe(moreButton);
  };

  /** Shows the inquiries that are loaded and match. */
  const update = async (): Promise<void> => {
    const { page, linked: first } = pages.state;
    if (page === undefined) return;
    const all = first === undefined ? page.inquiries : [first, ...page.inquiries];
    await items.select(all, search.query(), search.since(), (visible) => render(page, visible));
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
    if (pages.state.page === undefined) place.replaceChildren();
    if (failure.kind !== 'offline' && failure.kind !== 'unreachable') return;
    const retry = () => void (message.isConnected && again());
    addEventListener('online', retry, { once: true, signal });
  };

  /** Loads the newest page and shows an error when that fails; never rejects. */
  const refresh = async (isAsked = false): Promise<void> => {
    alert.replaceChildren();
    if (pages.state.page === undefined) {
      place.replaceChildren(h('p', { class: 'note' }, strings.loading));
      say(strings.loading);
    }
    const result = await pages.reload();
    say('');
    if (isFailure(result)) return fail(alert, result, async () => refresh(true));
    alert.replaceChildren();
    await update();
    if (isAsked) say(strings.updated);
    if (toView === undefined) return;
    const id = toView;
    toView = undefined;
    await view(id);
  };

  /** Resolves to the first of the inquiries that were loaded. */
  const loadOlder = async (): Promise<Inquiry | undefined> => {
    trouble.replaceChildren();
    const result = await pages.loadOlder();
    if (result === undefined) return undefined;
    const isLost = isFailure(result);
    if (isLost) fail(trouble, result, more);
    const hasFocus = moreButton.matches(':focus');
    await update();
    if (isLost) return undefined;
    const [first] = result.inquiries;
    if (hasFocus && moreButton.hidden) focusOn(first);
    if (!search.isActive()) say(strings.updated);
    return first;
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
    if (pages.state.page === undefined) {
      toView = id;
      return refresh();
    }
    alert.replaceChildren();
    clearSearch();
    const found = await pages.include(id);
    if (typeof found === 'object') return fail(alert, found, async () => view(id));
    if (!found) {
      alert.replaceChildren(notice('plain', { title: strings.notFound, text: '' }));
      element.hidden = false;
      return;
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
      pages.add(inquiry);
      void update();
      mark(items.get(inquiry.id));
    },
    view,
  };
}
