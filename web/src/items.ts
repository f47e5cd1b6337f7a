import type { Inquiry } from '../../src/contract.ts';
import { createItem, measure, type Item, type ItemParts } from './item.ts';
import { showHits } from './marks.ts';

export function createItems(parts: ItemParts) {
  const items = new Map<string, Item>();

  // Only items near the window are laid out and can be measured.
  const itemOf = new WeakMap<Element, Item>();
  const widths = new ResizeObserver((entries) => {
    const seen = entries.filter(({ contentRect }) => contentRect.width > 0);
    // All reads first: one layout.
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
    show(visible: readonly Inquiry[], query: string): void {
      const ids = new Set(visible.map(({ id }) => id));
      for (const inquiry of visible) if (!items.has(inquiry.id)) add(inquiry);
      for (const [id, item] of items) {
        showHits(item, ids.has(id) ? query : '', ids.size === 1);
      }
    },
  };
}
