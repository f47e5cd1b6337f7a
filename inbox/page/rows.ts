/** The list of inquiries: which ones, in which order, and the search in all of them. */
import { showAddress, showInvisible } from '../../src/invisible.ts';
import { button, div, h, notice } from '../../web/ui/dom.ts';
import { formatCount } from '../../web/ui/format.ts';
import { isFailure, type Api, type Closed, type Inquiry, type Query } from './client.ts';
import { UNDELIVERED } from './detail.ts';
import type { Drafts } from './drafts.ts';
import type { Outbox } from './outbox.ts';
import { age } from './times.ts';

/** Milliseconds before the end of an unanswered inquiry from which the list says so. */
const NEAR_EXPIRY = 7 * 86_400_000;
/** New inquiries that one look at the table loads; the rest waits for the next one. */
const NEW_ONES = 20;

const SHOWS = [
  ['unanswered', 'Unanswered'],
  ['answered', 'Closed'],
  ['all', 'All'],
] as const;

const NONE = {
  unanswered: 'Nothing to answer. New inquiries appear here by themselves.',
  answered: 'No closed inquiries.',
  all: 'No inquiries.',
};

export type List = ReturnType<typeof createList>;

/** @param onCount - How many are unanswered, such as `12` or `2,000+`. */
export function createList(
  { api, drafts, outbox }: { readonly api: Api; readonly drafts: Drafts; readonly outbox: Outbox },
  onCount: (count: string) => void,
) {
  let query: Query = { show: 'unanswered', order: 'oldest', text: '' };
  let loaded: Inquiry[] = [];
  let next: string | undefined;
  let searched = 0;
  let opened: string | undefined;
  let loading: AbortController | undefined;
  /** Index of the open inquiry when it left the list. */
  let place = -1;
  /** Answers that the index may not know yet. */
  const closed = new Map<string, Closed>();
  /** Unanswered ones as of the last look, and all that any look has seen. */
  let unanswered: ReadonlySet<string> | undefined;
  let isCounted = false;
  const seen = new Set<string>();

  const status = h('p', { class: 'ib-status', role: 'status' });
  const announcement = h('p', { class: 'sr', role: 'status' });
  const alert = h('div', { class: 'ib-live', role: 'alert' });
  const items = h('ul', { class: 'ib-rows', role: 'list' });
  const note = h('p', { class: 'ib-none', hidden: true });
  const more = button('', { class: 'ib-link ib-more', hidden: true }, async () => load(next));
  const scroller = div('ib-scroller', alert, items, note, more);
  const search = h('input', {
    type: 'search',
    id: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Search all: reference, email, text',
  });
  const shows = SHOWS.map(([show, label]) => ({
    show,
    element: button(label, { 'aria-pressed': 'false' }, async () => {
      choose({ show, order: show === 'unanswered' ? 'oldest' : 'newest' });
      await load();
    }),
  }));
  const order = button('', { class: 'ib-link' }, async () => {
    choose({ order: query.order === 'newest' ? 'oldest' : 'newest' });
    await load();
  });
  const label = h(
    'label',
    { for: 'search', class: 'sr' },
    'Search all inquiries by reference, email and text',
  );
  const submit = h('button', { type: 'submit' }, 'Search');
  const form = h('form', { role: 'search', class: 'ib-line ib-search' }, label, search, submit);
  const heading = h('h2', { id: 'list-title', tabindex: '-1' }, 'Inquiries');
  const which = { class: 'ib-shows', role: 'group', 'aria-label': 'Which inquiries' };
  const group = h('div', which, ...shows.map((each) => each.element));
  const head = div(
    'ib-list-head',
    div('ib-line ib-title', heading, order),
    group,
    form,
    status,
    announcement,
  );
  const element = h(
    'section',
    { class: 'ib-list', 'aria-labelledby': 'list-title' },
    head,
    scroller,
  );

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void find(search.value.trim());
  });
  search.addEventListener('input', () => {
    if (search.value === '' && query.text !== '') void find('');
  });

  function choose(changed: Partial<Query>): void {
    query = { ...query, ...changed };
    for (const each of shows) each.element.ariaPressed = String(each.show === query.show);
    order.textContent = query.order === 'newest' ? 'Newest first' : 'Oldest first';
    order.ariaLabel = `${order.textContent}, change the order`;
  }
  choose({});

  /** Searches all inquiries, the newest first; an empty text ends the search. */
  async function find(text: string): Promise<void> {
    search.value = text;
    choose(
      text === ''
        ? { text, show: 'unanswered', order: 'oldest' }
        : { text, show: 'all', order: 'newest' },
    );
    await load();
  }

  /** Loads the first ones, or goes on from a place. An earlier request is aborted. */
  async function load(from?: string): Promise<void> {
    loading?.abort();
    const { signal } = (loading = new AbortController());
    alert.replaceChildren();
    status.textContent = query.text === '' ? 'Loading…' : 'Searching all inquiries…';
    if (from === undefined) items.ariaBusy = 'true';
    const result = await api.list({ ...query, from }, signal);
    if (signal.aborted) return;
    items.ariaBusy = null;
    if (isFailure(result)) {
      status.textContent = '';
      const again = button('Try again', {}, async () => load(from));
      const failed = { title: 'The inquiries could not be loaded', text: result.message };
      alert.replaceChildren(notice('bad', failed, again));
      if (from === undefined) items.replaceChildren();
      return;
    }
    for (const inquiry of result.inquiries) Object.assign(inquiry, closed.get(inquiry.id));
    loaded = [...(from === undefined ? [] : loaded), ...result.inquiries];
    searched = result.searched + (from === undefined ? 0 : searched);
    ({ next } = result);
    render();
    if (from === undefined) scroller.scrollTop = 0;
    // The button may be gone, so the focus moves to the first of the others.
    else (linkOf(result.inquiries[0]?.id) ?? (next === undefined ? heading : more)).focus();
  }

  /** Looks for new inquiries, and for those that a colleague has answered. */
  async function poll(): Promise<void> {
    const result = await api.unanswered();
    if (isFailure(result)) return;
    const { ids, isAll } = result;
    const isFirst = unanswered === undefined;
    const fresh = ids.filter((id) => !seen.has(id)).slice(-NEW_ONES);
    for (const id of isFirst ? ids : fresh) seen.add(id);
    unanswered = new Set(ids);
    isCounted = isAll;
    if (alert.hasChildNodes() && !items.hasChildNodes()) return load();
    if (isFirst || fresh.length === 0) return render();
    const known = new Set(loaded.map(({ id }) => id));
    // Those that belong behind what is loaded come with the rest.
    const isInList =
      query.text === '' &&
      query.show !== 'answered' &&
      (next === undefined || query.order === 'newest');
    const wanted = isInList ? fresh.filter((id) => !known.has(id)) : [];
    const found = await Promise.all(wanted.map(async (id) => api.get(id)));
    const direction = query.order === 'newest' ? -1 : 1;
    loaded = [...loaded, ...found.flatMap((each) => (isFailure(each) ? [] : [each]))].toSorted(
      (a, b) => direction * (a.id < b.id ? -1 : 1),
    );
    announcement.textContent = formatCount(fresh.length, 'new inquiry', 'new inquiries');
    render();
  }

  const links = (): HTMLAnchorElement[] => [...items.querySelectorAll('a')];
  const linkOf = (id?: string): HTMLAnchorElement | undefined => links().find(isLinkOf(id));

  /** Whether this page knows of no answer to an inquiry. */
  const isOpen = (id: string): boolean => !closed.has(id) && outbox.get(id) === undefined;

  /** Draws the rows; what is read stays where it is. */
  function render(): void {
    const focused = links().find((link) => link === document.activeElement);
    const area =
      scroller.scrollHeight > scroller.clientHeight ? scroller : document.documentElement;
    const edge = Math.max(scroller.getBoundingClientRect().top, 0);
    const anchor =
      area.scrollTop > 0 || items.matches(':hover, :focus-within')
        ? links().find((link) => link.getBoundingClientRect().bottom > edge)
        : undefined;
    const before = anchor?.getBoundingClientRect().top ?? 0;
    const isGone = (id: string): boolean =>
      isCounted && id !== opened && seen.has(id) && unanswered?.has(id) === false;
    const shown = loaded.filter(
      ({ id, reply_at }) =>
        query.show !== 'unanswered' || (reply_at === undefined && isOpen(id) && !isGone(id)),
    );
    items.replaceChildren(...shown.map((inquiry) => h('li', {}, rowOf(inquiry))));
    linkOf(focused?.hash.slice(1))?.focus({ preventScroll: true });
    const after = linkOf(anchor?.hash.slice(1))?.getBoundingClientRect().top ?? before;
    area.scrollTop += after - before;

    const isSearch = query.text !== '';
    more.hidden = next === undefined;
    more.textContent = isSearch
      ? 'Search older ones'
      : query.order === 'newest'
        ? 'Show older ones'
        : 'Show newer ones';
    const all = formatCount(searched, 'inquiry', 'inquiries');
    const rest = next === undefined ? '' : ', and there are older ones';
    status.textContent = isSearch
      ? `Searched ${all}: ${formatCount(shown.length, 'hit')}${rest}.`
      : '';
    note.hidden = shown.length > 0;
    note.textContent = isSearch ? 'No inquiry that was searched has this.' : NONE[query.show];
    const open = [...(unanswered ?? [])].filter(isOpen).length;
    const count =
      unanswered === undefined ? '' : `${open.toLocaleString('en')}${isCounted ? '' : '+'}`;
    const titles = { unanswered: `${count} unanswered`, answered: 'Closed', all: 'All inquiries' };
    heading.textContent = isSearch ? 'Search' : titles[query.show].trim();
    onCount(count);
  }

  function rowOf(inquiry: Inquiry): HTMLAnchorElement {
    const { id, email, subject, body, created_at, respondent, reply, reply_at, expires_at } =
      inquiry;
    const expiry = (expires_at ?? Infinity) * 1_000;
    const isNear = reply_at === undefined && expiry - Date.now() < NEAR_EXPIRY;
    const title = { class: subject === '' ? 'ib-subject ib-absent' : 'ib-subject', dir: 'auto' };
    const done = reply === undefined ? 'Dismissed by ' : 'Answered by ';
    const tags = [
      outbox.get(id) === undefined ? undefined : tag('Being sent'),
      drafts.get(id) === '' || outbox.get(id) !== undefined ? undefined : tag('Draft'),
      reply_at === undefined ? undefined : tag(done, h('bdi', {}, respondent ?? '')),
      isNear ? bad('Expires ', age(new Date(expiry).toISOString())) : undefined,
      ...problemOf(inquiry),
    ];
    return h(
      'a',
      { class: 'ib-row', href: `./#${id}`, 'aria-current': id === opened && 'true' },
      h(
        'span',
        { class: 'ib-line ib-row-head' },
        h('bdi', { class: 'ib-from' }, showAddress(email)),
        age(created_at),
      ),
      h('span', title, showInvisible(subject) || 'No subject'),
      h(
        'span',
        { class: 'ib-beginning', dir: 'auto' },
        showInvisible(body.trim().replaceAll(/\s+/g, ' ')),
      ),
      h('span', { class: 'ib-tags' }, ...tags),
    );
  }

  return {
    element,
    search,
    load: async () => load(),
    poll,
    find,
    /** Marks the inquiry that is open; undefined: none is. */
    open(id: string | undefined): void {
      linkOf(opened)?.removeAttribute('aria-current');
      opened = id;
      linkOf(opened)?.setAttribute('aria-current', 'true');
      linkOf(opened)?.scrollIntoView({ block: 'nearest' });
    },
    /** Shows an inquiry's draft or answer; one that is closed leaves the list of unanswered ones. */
    update(id: string, answer?: Closed): void {
      if (answer !== undefined) closed.set(id, answer);
      Object.assign(loaded.find((inquiry) => inquiry.id === id) ?? {}, answer);
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
      (linkOf(id) ?? heading).focus();
    },
  };
}

const isLinkOf = (id?: string) => (link: HTMLAnchorElement) => link.hash === `#${id}`;

const tag = (...content: (Node | string)[]): HTMLElement => h('span', {}, ...content);
const bad = (...content: (Node | string)[]): HTMLElement =>
  h('span', { class: 'ib-bad' }, ...content);

/** Why the owner does not, or will not, get an answer by mail. */
function problemOf({
  canMail,
  reply,
  reply_at,
  undelivered,
  undelivered_at = '',
}: Inquiry): HTMLElement[] {
  if (undelivered !== undefined) {
    return [bad(`Could not be delivered: ${UNDELIVERED[undelivered]}, `, age(undelivered_at))];
  }
  const concerns = !canMail && (reply_at === undefined || reply !== undefined);
  return concerns ? [bad('No mail can be sent')] : [];
}
