/** The list of inquiries, with its search. */
import { showAddress, showInvisible } from '../../src/invisible.ts';
import { button, h, notice } from '../../web/ui/dom.ts';
import { formatCount } from '../../web/ui/format.ts';
import { isFailure } from './client.ts';
import type { Api, Query, Summary } from './client.ts';
import type { Drafts } from './drafts.ts';
import { age } from './times.ts';

/** Milliseconds before the end of an unanswered inquiry from which the list says so. */
const NEAR_EXPIRY = 7 * 86_400_000;

const SHOWS = [
  ['unanswered', 'Unanswered'],
  ['answered', 'Closed'],
  ['all', 'All'],
] as const;

const NONE = {
  unanswered: 'No unanswered inquiries.',
  answered: 'No closed inquiries.',
  all: 'No inquiries.',
};

/** Who closed an inquiry. */
export type Closed = Pick<Summary, 'respondent' | 'reply_at'>;

export type List = ReturnType<typeof createList>;

export function createList(api: Api, drafts: Drafts) {
  let query: Query = { show: 'unanswered' };
  let loaded: Summary[] = [];
  let next: string | undefined;
  let opened: string | undefined;
  let loading: AbortController | undefined;
  /** Index of the open inquiry when it left the list. */
  let place = -1;
  const closed = new Map<string, Closed>();

  const status = h('p', { class: 'count', role: 'status' });
  const alert = h('div', { class: 'live', role: 'alert' });
  const items = h('ul', { class: 'rows', role: 'list' });
  const note = h('p', { class: 'empty', hidden: true });
  const more = button('Show older ones', { class: 'more', hidden: true }, async () => load(next));
  const search = h('input', {
    type: 'search',
    id: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Subject or email',
  });
  const findEmail = h('button', { type: 'submit', class: 'find', hidden: true }, 'Find all of this email');
  const filter = h('div', { class: 'filter notice', hidden: true });
  const shows = SHOWS.map(([show, label]) => ({
    show,
    element: button(label, { 'aria-pressed': String(show === query.show) }, async () => {
      choose({ show });
      await load();
    }),
  }));
  const label = h('label', { for: 'search', class: 'sr' }, 'Search the loaded inquiries by subject or email');
  const searchForm = h('form', { role: 'search', class: 'search' }, label, search, findEmail);
  const heading = h('h2', { id: 'list-title', tabindex: '-1' }, 'Inquiries');
  const refresh = button('Refresh', { class: 'quiet' }, async () => load());
  const which = { class: 'shows', role: 'group', 'aria-label': 'Which inquiries' };
  const element = h(
    'section',
    { class: 'list', 'aria-labelledby': 'list-title' },
    h('div', { class: 'list-head' }, heading, refresh),
    h('div', which, ...shows.map((each) => each.element)),
    searchForm,
    filter,
    status,
    alert,
    items,
    note,
    more,
  );

  search.addEventListener('input', () => render());
  searchForm.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = search.value.trim();
    if (text.includes('@')) void filterBy(text);
    else visible().at(0)?.focus();
  });

  function choose(changed: Partial<Query>): void {
    query = { ...query, ...changed };
    for (const each of shows) each.element.ariaPressed = String(each.show === query.show);
  }

  /** Shows all inquiries of one email in the table; undefined: the unanswered ones of all users. */
  async function filterBy(email: string | undefined): Promise<void> {
    choose({ email, show: email === undefined ? 'unanswered' : 'all' });
    search.value = '';
    filter.hidden = email === undefined;
    if (email !== undefined) {
      const reset = button('Show everybody', {}, async () => {
        search.focus();
        await filterBy(undefined);
      });
      filter.replaceChildren(h('p', {}, 'Only those of ', h('bdi', {}, showAddress(email))), reset);
    }
    await load();
  }

  /** Loads the newest ones, or the ones before an id. An earlier request is aborted. */
  async function load(before?: string): Promise<void> {
    loading?.abort();
    const { signal } = (loading = new AbortController());
    alert.replaceChildren();
    status.textContent = query.email === undefined ? 'Loading…' : 'Searching the whole table…';
    const result = await api.list({ ...query, before }, signal);
    if (signal.aborted) return;
    if (isFailure(result)) {
      status.textContent = '';
      const again = button('Try again', {}, async () => load(before));
      const failed = { title: 'The inquiries could not be loaded', text: result.message };
      alert.replaceChildren(notice('bad', failed, again));
      return;
    }
    // The index may not know yet what was closed in this tab.
    for (const inquiry of result.inquiries) Object.assign(inquiry, closed.get(inquiry.id));
    loaded = [...(before === undefined ? [] : loaded), ...result.inquiries];
    ({ next } = result);
    render();
    // The button may be gone, so the focus moves to the first of the older ones.
    if (before !== undefined) linkOf(result.inquiries[0]?.id)?.focus();
  }

  const visible = (): HTMLAnchorElement[] => [...items.querySelectorAll('a')];
  const linkOf = (id?: string): HTMLAnchorElement | undefined => visible().find(isLinkOf(id));

  function render(): void {
    const focused = visible()
      .find((link) => link === document.activeElement)
      ?.hash.slice(1);
    const text = search.value.trim().toLowerCase();
    const all = loaded.filter(({ reply_at }) => query.show !== 'unanswered' || reply_at === undefined);
    const found = all.filter(({ subject, email }) => `${subject}\n${email}`.toLowerCase().includes(text));
    items.replaceChildren(...found.map((inquiry) => h('li', {}, rowOf(inquiry))));
    linkOf(focused)?.focus({ preventScroll: true });
    more.hidden = next === undefined;
    findEmail.hidden = !text.includes('@');
    const count = formatCount(all.length, 'inquiry', 'inquiries');
    const older = next === undefined ? '' : ', and there are older ones';
    status.textContent = `${text === '' ? '' : `${found.length} of `}${count}${older}`;
    note.hidden = found.length > 0;
    note.textContent = text === '' ? NONE[query.show] : 'No loaded inquiry matches.';
  }

  function rowOf(inquiry: Summary): HTMLAnchorElement {
    const { id, email, subject, created_at, respondent, reply_at, expires_at } = inquiry;
    const expiry = (expires_at ?? Infinity) * 1_000;
    const title = { class: subject === '' ? 'row-subject absent' : 'row-subject', dir: 'auto' };
    return h(
      'a',
      { class: 'row', href: `#${id}`, 'aria-current': id === opened && 'true' },
      h('span', { class: 'row-head' }, h('bdi', { class: 'row-from' }, showAddress(email)), age(created_at)),
      h('span', title, showInvisible(subject) || 'No subject'),
      h(
        'span',
        { class: 'tags' },
        drafts.get(id) === '' ? undefined : tag('Draft'),
        reply_at === undefined ? undefined : tag('Closed by ', h('bdi', {}, respondent ?? '')),
        reply_at === undefined && expiry - Date.now() < NEAR_EXPIRY
          ? h('span', { class: 'tag bad' }, 'Expires ', age(new Date(expiry).toISOString()))
          : undefined,
      ),
    );
  }

  return {
    element,
    search,
    load: async () => load(),
    /** Marks the inquiry that is open; undefined: none is. */
    open(id: string | undefined): void {
      linkOf(opened)?.removeAttribute('aria-current');
      opened = id;
      linkOf(opened)?.setAttribute('aria-current', 'true');
      linkOf(opened)?.scrollIntoView({ block: 'nearest' });
    },
    /** Shows an inquiry's draft or answer; one that is closed leaves the list of unanswered ones. */
    update(id: string, answer?: Closed): void {
      if (answer !== undefined) {
        const { respondent, reply_at } = answer;
        closed.set(id, { respondent, reply_at } as Closed);
        Object.assign(loaded.find((inquiry) => inquiry.id === id) ?? {}, closed.get(id));
      }
      place = visible().findIndex(isLinkOf(id));
      render();
    },
    /** The link `step` places from one of an id; without an id the first. */
    neighbour(id: string | undefined, step: 1 | -1): HTMLAnchorElement | undefined {
      const links = visible();
      const index = links.findIndex(isLinkOf(id));
      if (id === undefined) return links.at(0);
      // The one that has just left the list: the next has taken its place.
      if (index === -1) return links[step === 1 ? Math.max(place, 0) : Math.max(place, 0) - 1];
      return links[index + step];
    },
    /** Focuses the row of an inquiry, or the heading when it is not in the list. */
    focus(id: string | undefined): void {
      (linkOf(id) ?? heading).focus();
    },
  };
}

const isLinkOf = (id?: string) => (link: HTMLAnchorElement) => link.hash === `#${id}`;

const tag = (...content: (Node | string)[]): HTMLElement => h('span', { class: 'tag' }, ...content);
