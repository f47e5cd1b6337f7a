/** What a search has found. Named in style.css. Firefox before 140 has none. */
export const highlight = typeof Highlight === 'undefined' ? undefined : new Highlight();
if (highlight !== undefined) CSS.highlights.set('inquiries-found', highlight);
