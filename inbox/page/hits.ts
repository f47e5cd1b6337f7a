import { findHits } from '../../src/text/search-text.ts';

/** Named in style.css. Firefox before 140 has none. */
const highlight = typeof Highlight === 'undefined' ? undefined : new Highlight();

if (highlight !== undefined) CSS.highlights.set('hits', highlight);

const TEXTS = '.ib-from, .ib-subject, .ib-beginning, .ib-sender, .ib-heading, .ib-text';

let searched = '';

export function markHits(query = searched): void {
  searched = query;
  highlight?.clear();
  if (query === '') return;
  for (const { firstChild: node } of document.querySelectorAll(TEXTS)) {
    if (!(node instanceof Text)) continue;
    for (const [start, end] of findHits(query, node.data).flat()) {
      const range = new Range();
      range.setStart(node, start);
      range.setEnd(node, Math.min(end, node.length));
      highlight?.add(range);
    }
  }
}
