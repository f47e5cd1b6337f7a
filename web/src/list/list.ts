import { isFailure, type Failure, type Page } from '../api.ts';
import type { Inquiry } from '../../../src/contract.ts';
import { INQUIRY_ID } from '../../../src/limits.ts';
import {
  allOf,
  describeCount,
  isFiltered,
  isSearching,
  NOTHING,
  reduce,
  toQueryFor,
  type Action,
  type ListState,
} from './list-state.ts';
import { createListView } from './list-view.ts';
import type { ViewParts } from '../parts.ts';

interface ListParts extends ViewParts {
  /** Aborted when the list is removed. */
  signal: AbortSignal;
}

interface List {
  parts: ListParts;
  view: ReturnType<typeof createListView>;
  /** Changed by `dispatch` only. */
  state: ListState;
  dispatch: (action: Action) => void;
  say: (text: string) => void;
  loading?: Promise<void> | undefined;
}

export function createList(parts: ListParts) {
  const say = (text: string): void => list.dispatch({ type: 'said', text });
  const view = createListView(parts, {
    say,
    search(query, since) {
      list.dispatch({ type: 'searched', query, since });
      say('');
      continueSearch(list);
    },
    refresh: async () => refresh(list, true),
    more: async () => more(list),
    nearEnd() {
      const { page, trouble } = list.state;
      if (page?.next !== undefined && !isFiltered(list.state) && !trouble) void more(list);
    },
    retry: async () => retry(list),
    signIn: async () => parts.signIn().catch(() => undefined),
  });
  const list: List = {
    parts,
    view,
    state: NOTHING,
    dispatch(action) {
      list.state = reduce(list.state, action);
      view.render(list.state);
    },
    say,
  };
  const whenOnline = (): void => {
    const { failure, trouble } = list.state;
    const kind = (failure ?? trouble)?.kind;
    if (kind === 'offline' || kind === 'unreachable') void retry(list);
  };
  addEventListener('online', whenOnline, { signal: parts.signal });
  return {
    element: view.element,
    refresh: async () => refresh(list),
    show: async (id: string) => show(list, id),
    add: (inquiry: Inquiry) => list.dispatch({ type: 'sent', inquiry }),
  };
}

async function retry(list: List): Promise<void> {
  const { failure, wanted } = list.state;
  if (failure === undefined) return more(list);
  return wanted === undefined ? refresh(list, true) : show(list, wanted);
}

/** @param wanted - The id of an inquiry to show then. */
async function refresh(list: List, isAsked = false, wanted?: string): Promise<void> {
  const { page, list: strings } = list.parts.locale.strings;
  list.dispatch({ type: 'asked', wanted });
  if (list.state.page === undefined) list.say(page.wait);
  const result = await loadNewest(list);
  const hasFailed = isFailure(result);
  list.dispatch(hasFailed ? { type: 'failed', failure: result } : { type: 'loaded', page: result });
  list.say(isAsked && !hasFailed ? strings.updated : '');
}

async function loadNewest(list: List): Promise<Page | Failure> {
  const { page } = list.state;
  const result = await list.parts.api.list();
  // The answer may lack an inquiry that was sent while it was on its way.
  return isFailure(result) || page === list.state.page ? result : loadNewest(list);
}

async function more(list: List): Promise<void> {
  list.loading ??= loadOlder(list).finally(() => {
    list.loading = undefined;
    continueSearch(list);
  });
  return list.loading;
}

async function loadOlder(list: List): Promise<void> {
  const { parts, view, dispatch, say } = list;
  const after = list.state.page?.next;
  if (after === undefined) return;
  dispatch({ type: 'asked-older' });
  const page = await parts.api.list(after);
  if (isFailure(page)) return dispatch({ type: 'failed-older', failure: page });
  // The next step may hide the button.
  const hadFocus = view.moreButton.matches(':focus');
  dispatch({ type: 'loaded-older', after, page });
  say(parts.locale.strings.list.updated);
  const [first] = page.inquiries;
  if (hadFocus && first !== undefined) view.focus(first.id);
}

function continueSearch(list: List): void {
  const { state, parts, say } = list;
  if (!isFiltered(state)) return;
  say(
    isSearching(state) ? parts.locale.strings.list.searching : describeCount(state, parts.locale),
  );
  if (isSearching(state)) void more(list);
}

/** @param fragment - May be no id. */
async function show(list: List, fragment: string): Promise<void> {
  const { parts, view, dispatch } = list;
  const id = fragment.toLowerCase();
  const wanted = INQUIRY_ID.test(id) ? id : undefined;
  if (list.state.page === undefined) await refresh(list, false, wanted);
  if (list.state.page === undefined || wanted === undefined) return;
  if (isFiltered(list.state)) view.search.clear();
  dispatch({ type: 'asked', wanted });
  const isWanted = (inquiry: Inquiry): boolean => inquiry.id === id;
  let { linked } = list.state;
  if (!allOf(list.state).some(isWanted)) {
    const found = await parts.api.list(toQueryFor(id));
    if (isFailure(found)) return dispatch({ type: 'failed', failure: found });
    linked = found.inquiries.find(isWanted);
  }
  dispatch({ type: 'shown', id, linked });
  if (list.state.isNotFound) return view.scrollToNotice();
  view.unfold(id);
  view.focus(id);
}
