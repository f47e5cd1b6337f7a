/** The list of the user's inquiries. */
import { isFailure } from './api.ts';
import type { Api, Failure, Page } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { isolate } from './bidi.ts';
import type { Branding } from './config.ts';
import { button, h, notice } from './dom.ts';
import { beginningOf, directionOf } from './format.ts';
import { addSent, appendOlder, mergeNewest } from './inquiries.ts';
import type { Strings } from './languages/strings.ts';
import type { Locale } from './locale.ts';
import { describeListFailure } from './messages.ts';
import type { User } from './user.ts';

interface ListParts {
  readonly api: Api;
  readonly user: User;
  readonly locale: Locale;
  readonly branding: Branding;
  /** Leads to the sign-in. */
  readonly signIn: () => Promise<void>;
}

export interface List {
  readonly element: HTMLElement;
  /** Loads the newest page and shows an error when that fails; never rejects. */
  readonly refresh: () => Promise<void>;
  /** Shows an inquiry that has just been sent. */
  readonly add: (inquiry: Inquiry) => void;
  /** Unfolds an inquiry and moves the focus there. */
  readonly view: (id: string) => void;
}

/** UTF-16 units of a collapsed text that are rendered; CSS limits its height further. */
const FOLDED_SUBJECT = 300;
const FOLDED_BODY = 2_000;

export function createList({ api, user, locale, branding, signIn }: ListParts): List {
  const { list: strings, form, session } = locale.strings;
  let page: Page | undefined;
  const items = new Map<string, Item>();

  const status = h('p', { class: 'sr', role: 'status' });
  const count = h('p', { class: 'count' });
  const list = h('ul', { class: 'items', role: 'list' });
  // Whether a text is cut off depends on the width of the page.
  new ResizeObserver(() => updateToggles([...items.values()])).observe(list);
  const alert = h('div', { class: 'live', role: 'alert' });
  const place = h('div', { class: 'place' }, skeleton());
  const refreshButton = button(strings.refresh, { class: 'quiet' }, async () => refresh(true));
  const moreButton = button(strings.more, { class: 'more' }, async () => more());
  const element = h(
    'section',
    { class: 'list', 'aria-labelledby': 'list-title' },
    h(
      'div',
      { class: 'list-head' },
      h('div', { class: 'list-title' }, h('h2', { id: 'list-title' }, strings.title), count),
      refreshButton,
    ),
    h('p', { class: 'hint' }, answersText(user, branding, strings)),
    status,
    alert,
    place,
  );

  const render = (): void => {
    if (page === undefined) return;
    const { inquiries, next } = page;
    count.textContent =
      next === undefined
        ? locale.count(strings.count, inquiries.length)
        : locale.count(strings.newest, inquiries.length);
    if (inquiries.length === 0) {
      place.replaceChildren(empty(locale));
      return;
    }
    const fresh = inquiries.filter(({ id }) => !items.has(id)).map((inquiry) => createItem(inquiry, locale));
    for (const item of fresh) items.set(item.id, item);
    const wanted = new Set(inquiries.map(({ id }) => id));
    for (const item of items.values()) {
      if (wanted.has(item.id)) continue;
      item.element.remove();
      items.delete(item.id);
    }
    // Elements that stay are not moved, so that they keep the focus and expanded texts stay expanded.
    inquiries.forEach(({ id }, index) => {
      const item = items.get(id)?.element;
      if (item !== undefined && list.children[index] !== item) {
        list.insertBefore(item, list.children[index] ?? null);
      }
    });
    const content = next === undefined ? [list] : [list, moreButton];
    if (content.length !== place.children.length || place.firstElementChild !== list) {
      place.replaceChildren(...content);
    }
    // Before the first paint, so that the layout does not shift.
    updateToggles(fresh);
  };

  const fail = (failure: Failure, again: () => Promise<void>): void => {
    const action =
      failure.kind === 'signed-out'
        ? button(session.signInAgain, {}, async () => signIn().catch(() => undefined))
        : button(form.tryAgain, {}, again);
    alert.replaceChildren(notice('bad', describeListFailure(locale, failure), action));
    if (page === undefined) place.replaceChildren();
  };

  const reload = async (): Promise<Page | Failure> => {
    const shown = page;
    const result = await api.list();
    if (isFailure(result)) return result;
    // The response may be older than an inquiry that was added in the meantime.
    if (page !== shown) return reload();
    alert.replaceChildren();
    page = page === undefined ? result : mergeNewest(page, result);
    render();
    return page;
  };

  const refresh = async (isAsked = false): Promise<void> => {
    alert.replaceChildren();
    if (page === undefined) {
      place.replaceChildren(skeleton());
      status.textContent = strings.loading;
    }
    const before = page?.inquiries[0]?.id;
    const result = await reload();
    status.textContent = '';
    if (isFailure(result)) return fail(result, async () => refresh(true));
    if (isAsked) {
      status.textContent = result.inquiries[0]?.id === before ? strings.upToDate : strings.updated;
    }
  };

  const more = async (): Promise<void> => {
    const next = page?.next;
    if (next === undefined) return;
    alert.replaceChildren();
    const result = await api.list(next);
    if (isFailure(result)) return fail(result, more);
    // A refresh in the meantime may have replaced the list.
    if (page?.next !== next) return;
    const first = result.inquiries[0];
    page = appendOlder(page, result);
    render();
    status.textContent = locale.count(strings.moreShown, result.inquiries.length);
    // The button may be gone, so the focus moves to the first new inquiry.
    if (first !== undefined) items.get(first.id)?.element.querySelector('h3')?.focus();
  };

  return {
    element,
    refresh,
    add(inquiry) {
      for (const { element: other } of items.values()) other.classList.remove('new');
      page = addSent(page ?? { inquiries: [], next: undefined }, inquiry);
      render();
      items.get(inquiry.id)?.element.classList.add('new');
    },
    view(id) {
      items.get(id)?.element.querySelector('h3')?.focus();
    },
  };
}

/** Says that answers come by mail: the API never returns them. */
function answersText({ email }: User, { answersFrom }: Branding, list: Strings['list']): string {
  const owner = isolate(email);
  return answersFrom === undefined ? list.answers(owner) : list.answersFrom(isolate(answersFrom), owner);
}

interface Item {
  readonly id: string;
  readonly element: HTMLLIElement;
  /** Whether the collapsed text is cut off. */
  readonly isCut: () => boolean;
  /** Shows or hides the button that expands the text. */
  readonly showToggle: (isCut: boolean) => void;
}

/** Shows the buttons of texts that are cut off. All reads come before all writes, so that there is one layout. */
function updateToggles(items: readonly Item[]): void {
  const cut = items.map(({ isCut }) => isCut());
  items.forEach(({ showToggle }, index) => showToggle(cut[index] ?? false));
}

function createItem({ id, subject, body, created_at }: Inquiry, locale: Locale): Item {
  const { list: strings } = locale.strings;
  const time = locale.formatTime(created_at);
  const title = h('h3', { id: `subject-${id}`, dir: 'auto', tabindex: '-1' });
  const text = h('div', { class: 'text', dir: 'auto' });
  const isLong = subject.length > FOLDED_SUBJECT || body.length > FOLDED_BODY;
  const showAll =
    subject.length + body.length > 10_000
      ? strings.showAllOf(locale.formatBytes(new Blob([subject, body]).size))
      : strings.showAll;
  const toggle = button('', { class: 'fold', 'aria-describedby': `subject-${id}`, hidden: true }, () =>
    fold(toggle.ariaExpanded === 'true'),
  );
  const item = h(
    'li',
    { class: 'item' },
    h(
      'article',
      { 'aria-labelledby': `subject-${id}` },
      h(
        'div',
        { class: 'item-head', dir: directionOf(subject) },
        title,
        h('time', { datetime: time.machine, title: time.exact, dir: 'auto' }, time.short),
      ),
      text,
      toggle,
    ),
  );

  const fold = (folded: boolean): void => {
    setText(title, folded ? beginningOf(subject, FOLDED_SUBJECT) : subject, strings.noSubject);
    setText(text, folded ? beginningOf(body, FOLDED_BODY) : body, strings.noMessage);
    item.classList.toggle('folded', folded);
    toggle.ariaExpanded = String(!folded);
    toggle.textContent = folded ? showAll : strings.showLess;
  };
  fold(true);

  return {
    id,
    element: item,
    isCut: () =>
      toggle.ariaExpanded === 'true' ||
      isLong ||
      [title, text].some(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1),
    showToggle(isCut) {
      toggle.hidden = !isCut;
      item.classList.toggle('cut', isCut);
    },
  };
}

function setText(target: HTMLElement, content: string, absence: string): void {
  target.textContent = content === '' ? absence : content;
  target.classList.toggle('absent', content === '');
}

function empty({ strings: { list } }: Locale): HTMLElement {
  return h(
    'div',
    { class: 'empty' },
    h('p', { class: 'empty-title' }, list.emptyTitle),
    h('p', {}, list.empty),
  );
}

function skeleton(): HTMLElement {
  return h(
    'div',
    { class: 'skeleton', 'aria-hidden': 'true' },
    ...[1, 2, 3].map(() =>
      h(
        'div',
        { class: 'item' },
        ...['short', 'long', 'medium'].map((size) => h('span', { class: `bone ${size}` })),
      ),
    ),
  );
}
