import { findHits } from '../../text/search-text.ts';
import { highlight } from '../../ui/highlight.ts';

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
