/** The items of the list: creates those that match a search, and shows which of their texts are cut off. */
import type { Inquiry } from '../../src/contract.ts';
import { createItem, measure, type Item, type ItemParts } from './item.ts';
import { showHits } from './marks.ts';
import { createMatcher } from './search.ts';

/** Milliseconds of work after which the browser gets its turn. */
const SLICE = 50;

export function createItems(parts: ItemParts) {
  const items = new Map<string, Item>();
  let selections = 0;

  // Whether a text is cut off depends on its width, and is known only of items that are laid out: those near the window.
  const itemOf = new WeakMap<Element, Item>();
  const widths = new ResizeObserver((entries) => {
    const seen = entries.filter(({ contentRect }) => contentRect.width > 0);
    // All reads come before all writes, so that there is one layout.
    const changes = seen.flatMap(({ target }) => itemOf.get(target) ?? []).map(measure);
    for (const change of changes) change();
  });

  const add = (inquiry: Inquiry): void => {
    const item = createItem(inquiry, parts);
    items.set(inquiry.id, item);
    itemOf.set(item.foot, item);
    widths.observe(item.foot);
  };

  return {
    get: (id: string): Item | undefined => items.get(id),
    /**
     * Finds the inquiries that match, and marks in their items what was found. With few new ones, it takes one turn.
     *
     * @returns undefined when another selection has begun.
     */
    async select(
      all: readonly Inquiry[],
      query: string,
      since: string,
    ): Promise<readonly Inquiry[] | undefined> {
      const run = ++selections;
      const matches = createMatcher(query, since);
      const visible = new Set<string>();
      let end = performance.now() + SLICE;
      for (const inquiry of all) {
        if (matches(inquiry)) {
          visible.add(inquiry.id);
          if (!items.has(inquiry.id)) add(inquiry);
        }
        if (performance.now() < end) continue;
        await new Promise((resolve) => setTimeout(resolve));
        if (run !== selections) return undefined;
        end = performance.now() + SLICE;
      }
      const isOnly = visible.size === 1 && query.trim() !== '';
      for (const [id, item] of items) {
        const isVisible = visible.has(id);
        showHits(item, isVisible ? query : '', isVisible && isOnly);
      }
      return all.filter(({ id }) => visible.has(id));
    },
  };
}
