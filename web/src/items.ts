import type { Inquiry } from '../../src/contract.ts';
import { findHits } from '../../src/text/search-text.ts';
import { highlight } from '../../ui/highlight.ts';
import { createItem, fold, isFolded, measure, type Item, type ItemParts } from './item.ts';

/** UTF-16 units that a folded inquiry shows. */
const SEEN = 100;

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

/** Marks hits, and unfolds what hides them. @param isOnly - Whether nothing else matches. */
function showHits(item: Item, query: string, isOnly: boolean): void {
  const { title, text, subject, body } = item;
  const hits = findHits(query, `${subject}\n${body}`);
  for (const range of item.marks) highlight?.delete(range);
  item.marks = hits.flat().map(([start, end]) => {
    const [place, offset] = end <= subject.length ? [title, 0] : [text, subject.length + 1];
    const [startContainer, startOffset] = pointIn(place, start - offset);
    const [endContainer, endOffset] = pointIn(place, end - offset);
    // Live Ranges are adjusted for each removed item: thousands took 40 s.
    const range = new StaticRange({ startContainer, startOffset, endContainer, endOffset });
    highlight?.add(range);
    return range;
  });
  const isSeen =
    hits.length === 0 ||
    (!isOnly && hits.every(([first]) => first === undefined || first[1] <= SEEN));
  if (isSeen && item.wasOpened) fold(item, true);
  if (isSeen || !isFolded(item)) return;
  fold(item, false);
  item.wasOpened = true;
}

function pointIn(place: HTMLElement, offset: number): [Node, number] {
  const [beginning = place, rest] = place.childNodes;
  const length = beginning.textContent?.length ?? 0;
  if (offset <= length || rest === undefined) return [beginning, offset];
  return [rest.firstChild ?? rest, offset - length];
}
