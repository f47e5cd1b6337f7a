/** The items of the list: creates those that match a search, and shows which of their texts are cut off. */
import type { Inquiry } from '../../src/contract.ts';
import { createItem, type Item } from './item.ts';
import { createMatcher, findHits } from './search.ts';

/** Milliseconds of work after which the browser gets its turn. */
const SLICE = 50;
/** More inquiries than a window shows at first. */
const SEEN_FIRST = 20;

export function createItems(parts: Parameters<typeof createItem>[1]) {
  const items = new Map<string, Item>();
  let selections = 0;

  // Whether a text is cut off depends on its width, and is known only of items that are laid out: those near the window.
  const itemOf = new WeakMap<Element, Item>();
  const widths = new ResizeObserver((entries) => {
    const seen = entries.filter(({ contentRect }) => contentRect.width > 0);
    showCuts(seen.flatMap(({ target }) => itemOf.get(target) ?? []));
  });

  const add = (inquiry: Inquiry): Item => {
    const item = createItem(inquiry, parts);
    items.set(inquiry.id, item);
    itemOf.set(item.foot, item);
    widths.observe(item.foot);
    return item;
  };

  return {
    get: (id: string): Item | undefined => items.get(id),
    /**
     * Finds the inquiries that match, and marks in their items what was found. With few new ones, the items are there
     * before it returns.
     *
     * @param show - Called with those that match, unless another selection has begun.
     */
    async select(
      all: readonly Inquiry[],
      query: string,
      since: string,
      show: (visible: readonly Inquiry[]) => void,
    ): Promise<void> {
      const run = ++selections;
      const matches = createMatcher(query, since);
      const visible = new Map<string, Inquiry>();
      const fresh: Item[] = [];
      let end = performance.now() + SLICE;
      for (const inquiry of all) {
        if (matches(inquiry)) {
          visible.set(inquiry.id, inquiry);
          if (!items.has(inquiry.id)) fresh.push(add(inquiry));
        }
        if (performance.now() < end) continue;
        await new Promise((resolve) => setTimeout(resolve));
        if (run !== selections) return;
        end = performance.now() + SLICE;
      }
      const ids = new Set(all.map(({ id }) => id));
      const isOnly = visible.size === 1 && query.trim() !== '';
      for (const [id, item] of items) {
        const { subject = '', body = '' } = visible.get(id) ?? {};
        item.showHits(findHits(query, `${subject}\n${body}`), isOnly && visible.has(id));
        if (!ids.has(id)) items.delete(id);
      }
      show([...visible.values()]);
      // Before the first paint, so that the layout does not shift. Those further down are not seen yet.
      showCuts(fresh.slice(0, SEEN_FIRST));
    },
  };
}

/** Shows which texts are cut off. All reads come before all writes, so that there is one layout. */
function showCuts(items: readonly Item[]): void {
  const changes = items.map(({ measure }) => measure());
  for (const change of changes) change();
}
