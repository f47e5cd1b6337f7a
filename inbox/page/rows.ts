/** The list of inquiries, with its search. */
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
  const rows = new Map<string, HTMLAnchorElement>();

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
  const filter = h('div', { class: 'filter', hidden: true });
  const shows = SHOWS.map(([show, label]) => ({
    show,
    element: button(label, { 'aria-pressed': String(show === query.show) }, async () => {
      choose({ show });
      await load();
    }),
  }));
  const searchForm = h(
    'form',
    { role: 'search', class: 'search' },
    h('label', { for: 'search', class: 'sr' }, 'Search the loaded inquiries by subject or email'),
    search,
    findEmail,
  );
  const element = h(
    'section',
    { class: 'list', 'aria-labelledby': 'list-title' },
    h(
      'div',
      { class: 'list-head' },
      h('h2', { id: 'list-title', tabindex: '-1' }, 'Inquiries'),
      button('Refresh', { class: 'quiet' }, async () => load()),
    ),
    h(
      'div',
      { class: 'shows', role: 'group', 'aria-label': 'Which inquiries' },
      ...shows.map((each) => each.element),
    ),
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
      filter.replaceChildren(
        h('p', {}, 'Only those of ', h('bdi', {}, email)),
        button('Show everybody', { class: 'quiet' }, async () => {
          search.focus();
          await filterBy(undefined);
        }),
      );
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
      alert.replaceChildren(
        notice(
          'bad',
          { title: 'The inquiries could not be loaded', text: result.message },
          button('Try again', {}, async () => load(before)),
        ),
      );
      return;
    }
    // The index may not know yet what was closed in this tab.
    for (const inquiry of result.inquiries) Object.assign(inquiry, closed.get(inquiry.id));
    loaded = [...(before === undefined ? [] : loaded), ...result.inquiries];
    ({ next } = result);
    rows.clear();
    render();
    const [first] = result.inquiries;
    // The button may be gone, so the focus moves to the first of the older ones.
    if (before !== undefined && first !== undefined) rows.get(first.id)?.focus();
  }

  const current = (): Summary[] =>
    loaded.filter(({ reply_at }) => query.show !== 'unanswered' || reply_at === undefined);

  const visible = (): HTMLAnchorElement[] => [...items.querySelectorAll('a')];

  function render(): void {
    const focused = document.activeElement instanceof HTMLAnchorElement ? document.activeElement.hash : '';
    const text = search.value.trim().toLowerCase();
    const all = current();
    const found = all.filter(({ subject, email }) => `${subject}\n${email}`.toLowerCase().includes(text));
    items.replaceChildren(...found.map((inquiry) => h('li', {}, rowOf(inquiry))));
    if (focused !== '')
      visible()
        .find(({ hash }) => hash === focused)
        ?.focus({ preventScroll: true });
    more.hidden = next === undefined;
    findEmail.hidden = !text.includes('@');
    const count = formatCount(all.length, 'inquiry', 'inquiries');
    status.textContent = [
      text === '' ? count : `${found.length} of ${count}`,
      next === undefined ? '' : ', and there are older ones',
    ].join('');
    note.hidden = found.length > 0;
    note.textContent =
      text === ''
        ? {
            unanswered: 'No unanswered inquiries.',
            answered: 'No closed inquiries.',
            all: 'No inquiries.',
          }[query.show]
        : 'No loaded inquiry matches.';
  }

  function rowOf(inquiry: Summary): HTMLAnchorElement {
    const { id, email, subject, created_at, respondent, reply_at, expires_at } = inquiry;
    const row = rows.get(id);
    if (row !== undefined) return row;
    const expiry = expires_at === undefined ? undefined : new Date(expires_at * 1_000).toISOString();
    const isNear = expiry !== undefined && Date.parse(expiry) - Date.now() < NEAR_EXPIRY;
    const created = h(
      'a',
      { class: 'row', href: `#${id}`, 'aria-current': id === opened && 'true' },
      h('span', { class: 'row-head' }, h('bdi', { class: 'row-from' }, email), age(created_at)),
      h(
        'span',
        { class: subject === '' ? 'row-subject absent' : 'row-subject', dir: 'auto' },
        subject || 'No subject',
      ),
      h(
        'span',
        { class: 'tags' },
        drafts.get(id) === '' ? undefined : h('span', { class: 'tag' }, 'Draft'),
        reply_at === undefined
          ? undefined
          : h('span', { class: 'tag' }, 'Closed by ', h('bdi', {}, respondent ?? '')),
        reply_at === undefined && isNear
          ? h('span', { class: 'tag bad' }, 'Expires ', age(expiry))
          : undefined,
      ),
    );
    rows.set(id, created);
    return created;
  }

  return {
    element,
    search,
    load: async () => load(),
    /** Marks the inquiry that is open; undefined: none is. */
    open(id: string | undefined): void {
      rows.get(opened ?? '')?.removeAttribute('aria-current');
      opened = id;
      rows.get(opened ?? '')?.setAttribute('aria-current', 'true');
      rows.get(opened ?? '')?.scrollIntoView({ block: 'nearest' });
    },
    /** Shows an inquiry's draft or answer; one that is closed leaves the list of unanswered ones. */
    update(id: string, answer?: Closed): void {
      if (answer !== undefined) {
        const { respondent, reply_at } = answer;
        closed.set(id, { respondent, reply_at } as Closed);
        Object.assign(loaded.find((inquiry) => inquiry.id === id) ?? {}, closed.get(id));
      }
      place = visible().findIndex(({ hash }) => hash === `#${id}`);
      rows.delete(id);
      render();
    },
    /** The link `step` places from one of an id; without an id the first. */
    neighbour(id: string | undefined, step: 1 | -1): HTMLAnchorElement | undefined {
      const links = visible();
      const index = links.findIndex(({ hash }) => hash === `#${id}`);
      if (id === undefined) return links.at(0);
      // The one that has just left the list: the next has taken its place.
      if (index === -1) return links[step === 1 ? Math.max(place, 0) : Math.max(place, 0) - 1];
      return links[index + step];
    },
    /** Focuses the row of an inquiry, or the heading when it is not in the list. */
    focus(id: string | undefined): void {
      const row = visible().find(({ hash }) => hash === `#${id}`) ?? element.querySelector('h2');
      row?.focus();
    },
  };
}
