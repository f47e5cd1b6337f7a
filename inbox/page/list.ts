import { formatCount } from '../../ui/format.ts';
import {
  isFailure,
  type Api,
  type Closed,
  type Failure,
  type Listing,
  type Query,
} from './client.ts';
import type { Drafts } from './drafts.ts';
import {
  addAnswer,
  insert,
  neighbourOf,
  NOTHING,
  receive,
  see,
  shownOf,
  startLoading,
} from './list-state.ts';
import { createListView } from './list-view.ts';
import type { Outbox } from './outbox.ts';

export type List = ReturnType<typeof createList>;

export function createList(api: Api, drafts: Drafts, outbox: Outbox, stage: string) {
  let state = NOTHING;
  let loading: AbortController | undefined;
  /** The open inquiry's index when it left the list. */
  let place = 0;
  const view = createListView(stage, drafts, ask, loadMore);

  async function ask(query: Query): Promise<void> {
    await load({ query });
  }
  async function loadMore(): Promise<void> {
    await load({ from: state.next });
  }

  /** @param options.requested - The response to a request already made. */
  async function load({
    query,
    from,
    requested,
  }: {
    query?: Query;
    from?: string | undefined;
    requested?: Promise<Listing | Failure>;
  } = {}): Promise<void> {
    const isMore = from !== undefined;
    loading?.abort();
    const { signal } = (loading = new AbortController());
    state = startLoading(state, isMore, query);
    view.wait(state, isMore);
    const result = await (requested ?? api.list(state.query, from, signal));
    if (signal.aborted) return;
    state = receive(state, result, isMore);
    view.draw(state);
    view.settle(result, isMore, isMore ? loadMore : load);
  }

  async function poll(): Promise<void> {
    const result = await api.unanswered();
    if (isFailure(result)) return;
    const seen = see(state, result);
    ({ state } = seen);
    if (state.hasFailed && view.ids().length === 0) return load();
    const { query } = state;
    const found = await Promise.all(seen.missing.map(async (id) => api.get(id)));
    if (state.query === query) state = insert(state, found);
    const { length } = seen.fresh;
    if (length > 0) view.announce(formatCount(length, 'new inquiry', 'new inquiries'));
    const shown = shownOf(state).map(({ id }) => id);
    if (state.isLoading || shown.join() === view.ids().join()) view.renderHead(state);
    else view.draw(state);
  }

  return {
    element: view.element,
    search: view.search,
    ask,
    load,
    poll,
    mark(id: string | undefined): void {
      state = { ...state, opened: id };
      view.mark(id);
    },
    update(id: string, answer?: Closed): void {
      if (answer !== undefined) state = addAnswer(state, id, answer);
      state = { ...state, given: outbox.ids() };
      const index = view.ids().indexOf(id);
      if (index !== -1) place = index;
      view.draw(state);
    },
    /** The id `step` rows away; without an id, the first. */
    neighbour: (step: 1 | -1, id?: string) => neighbourOf(view.ids(), place, step, id),
    focus: view.focus,
  };
}
