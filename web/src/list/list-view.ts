import type { Failure } from '../api.ts';
import { button, div, h, isComposing, live, notice, p } from '../dom.ts';
import { arrange, createDays } from './days.ts';
import { createItems, fold } from './items.ts';
import { describeCount, isFiltered, isSearching, NOTHING, type ListState } from './list-state.ts';
import type { Locale } from '../languages/locale.ts';
import { describeAnswer, describeListFailure, isolate } from '../languages/messages.ts';
import type { ViewParts } from '../parts.ts';

interface Handlers {
  search: (query: string, since: string) => void;
  refresh: () => Promise<void>;
  more: () => Promise<void>;
  nearEnd: () => void;
  retry: () => Promise<void>;
  signIn: () => Promise<void>;
  say: (text: string) => void;
}

const SEARCH_FROM = 6;
/** Milliseconds of the periods that the languages name. */
const PERIODS = [7, 30, 365].map((days) => days * 86_400_000);
const NEAR = '1500px';

export function createListView(parts: ViewParts, handlers: Handlers) {
  const { user, locale, branding } = parts;
  const { list: strings, page, session, form } = locale.strings;
  const items = createItems({ ...parts, say: handlers.say });
  const groupByDay = createDays(locale, ({ id }) => items.get(id)?.element);
  const search = createSearchBar(locale, handlers.search);
  const status = h('p', { class: 'sr', role: 'status' });
  const count = p('count');
  const alert = live('alert');
  const place = div('place');
  const note = p('note');
  const trouble = live('alert');
  const moreButton = button(strings.more, { class: 'more', hidden: true }, handlers.more);
  const end = new IntersectionObserver(
    (entries) => void (entries.at(-1)?.isIntersecting === true && handlers.nearEnd()),
    { rootMargin: NEAR },
  );
  const noMatch = h('p');
  const clear = button(strings.clear, {}, () => {
    search.clear();
    search.focus();
  });
  const empty = div('empty', noMatch, clear);
  // The form says when no mail can go to the address.
  const answers = describeAnswer(user, branding, locale);
  const element = h(
    'section',
    { class: 'list', 'aria-labelledby': 'list-title' },
    div(
      'list-head',
      div('list-title', h('h2', { id: 'list-title' }, strings.title), count),
      button(strings.refresh, { class: 'quiet' }, handlers.refresh),
    ),
    p('hint', answers && locale.join(answers, strings.answers)),
    search.element,
    status,
    alert,
    place,
    note,
    trouble,
    moreButton,
  );

  const explain = (failure: Failure): HTMLElement => {
    const [label, action] =
      failure.kind === 'signed-out'
        ? [session.signInAgain, handlers.signIn]
        : [form.tryAgain, handlers.retry];
    return notice('bad', describeListFailure(locale, failure), button(label, {}, action));
  };
  let shown = NOTHING;

  return {
    element,
    moreButton,
    search,
    focus: (id: string) => items.get(id)?.title.focus(),
    /** On a phone, the notice is below the form. */
    scrollToNotice: () => alert.scrollIntoView({ block: 'nearest' }),
    unfold(id: string): void {
      const item = items.get(id);
      if (item !== undefined) fold(item, false);
    },
    render(state: ListState): void {
      const { visible, failure, isNotFound, marked } = state;
      const isLoaded = state.page !== undefined;
      const isWhole = state.page?.next === undefined;
      const isEmpty = visible.length === 0;
      const hasNone = isEmpty && isFiltered(state) && !isSearching(state);
      const text = isLoaded ? describeCount(state, locale) : '';
      count.textContent = hasNone ? '' : text;
      noMatch.textContent = text;
      note.textContent = isLoaded && isSearching(state) ? strings.searching : '';
      search.element.hidden = !isFiltered(state) && isWhole && visible.length < SEARCH_FROM;
      // Before the first inquiry there is only the form.
      element.hidden = isLoaded && isEmpty && !isFiltered(state) && !failure && !isNotFound;
      // The first inquiry appears below the form, which stays where it is.
      if (element.hidden) element.classList.add('below');
      moreButton.hidden = isWhole || isFiltered(state);
      if (state.said !== shown.said) status.textContent = state.said.text;
      if (failure !== shown.failure || isNotFound !== shown.isNotFound) {
        const said = failure
          ? explain(failure)
          : isNotFound &&
            notice('plain', {
              title: strings.notFound,
              text: strings.otherAccount(isolate(user.email)),
            });
        alert.replaceChildren(...(said ? [said] : []));
      }
      if (state.trouble !== shown.trouble) {
        trouble.replaceChildren(...(state.trouble ? [explain(state.trouble)] : []));
      }
      if (!isLoaded) {
        place.replaceChildren(...(failure ? [] : [p('note', page.wait)]));
      } else {
        if (visible !== shown.visible) items.show(visible, state.query);
        arrange(place, hasNone ? [empty] : groupByDay(visible, state.linked));
        // Observed anew, it says whether the end is still near.
        end.unobserve(moreButton);
        end.observe(moreButton);
      }
      if (shown.marked !== undefined) items.get(shown.marked)?.element.classList.remove('new');
      if (marked !== undefined) items.get(marked)?.element.classList.add('new');
      shown = state;
    },
  };
}

/** @param onChange - `since`: in the form of `created_at`; both may be empty. */
function createSearchBar(
  { strings: { list } }: Locale,
  onChange: (query: string, since: string) => void,
) {
  const terms = h('input', {
    type: 'search',
    autocomplete: 'off',
    'aria-label': list.search,
    placeholder: list.search,
  });
  const period = h(
    'select',
    { 'aria-label': list.period },
    h('option', {}, list.anyTime),
    ...list.periods.map((text) => h('option', {}, text)),
  );
  const element = h('search', { class: 'search', hidden: true }, terms, period);
  const change = (): void => {
    const length = PERIODS[period.selectedIndex - 1];
    const since = length === undefined ? '' : new Date(Date.now() - length).toISOString();
    onChange(terms.value.trim(), since);
  };
  const clear = (): void => {
    terms.value = '';
    period.selectedIndex = 0;
    change();
  };
  element.addEventListener('input', change);
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    // Chromium would empty the box.
    if (isComposing(event)) event.preventDefault();
    else clear();
  });
  return { element, clear, focus: () => terms.focus() };
}
