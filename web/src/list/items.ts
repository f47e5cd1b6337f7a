import type { Inquiry } from '../../../src/contract.ts';
import { NO_SUBJECT } from '../../../text/languages.ts';
import { findHits } from '../../../text/search-text.ts';
import { isBlank, toVisible } from '../../../text/visible.ts';
import { toReference } from '../../../src/limits.ts';
import { button, copyButton, div, h } from '../dom.ts';
import { beginningOf } from '../../../ui/format.ts';
import { fieldNames, textsOf } from '../form/fields.ts';
import type { ViewParts } from '../parts.ts';

interface ItemParts extends Pick<ViewParts, 'locale' | 'linkTo'> {
  say: (text: string) => void;
}

type Item = ReturnType<typeof createItem>;

/** Marks what a search has found. Firefox before 140 has no Highlight. */
const highlight = typeof Highlight === 'undefined' ? undefined : new Highlight();
if (highlight !== undefined) CSS.highlights.set('inquiries-found', highlight);

/** UTF-16 units rendered of a folded text. */
const FOLDED_SUBJECT = 1_000;
const FOLDED_BODY = 2_000;
/** The same numbers are in list.css. */
const SUBJECT_LINES = 2;
const BODY_LINES = 6;
/** UTF-16 units that a folded inquiry shows. */
const SEEN = 100;

export function createItems(parts: ItemParts) {
  const items = new Map<string, Item>();

  // Only items near the window are laid out and can be measured.
  const itemOf = new WeakMap<Element, Item>();
  const widths = new ResizeObserver((entries) => {
    const seen = entries.filter(({ contentRect }) => contentRect.width > 0);
    // All items are measured before one is changed, so the browser lays them out once.
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

function createItem(inquiry: Inquiry, parts: ItemParts) {
  const { id, created_at } = inquiry;
  const [subject, body] = [toVisible(inquiry.subject), toVisible(inquiry.body)];
  const { strings, language, formatClock, formatExact } = parts.locale;
  const title = h('h4', { id: `subject-${id}`, dir: 'auto', tabindex: '-1' });
  fill(title, subject, FOLDED_SUBJECT, NO_SUBJECT[language]);
  const text = h('div', { class: 'text', dir: 'auto' });
  fill(text, body, FOLDED_BODY, strings.list.noMessage);
  const flip = () => fold(item, !isFolded(item));
  const toggle = button('', { class: 'small', 'aria-describedby': title.id, hidden: true }, () => {
    flip();
    // Otherwise the window would show what follows the folded text.
    if (isFolded(item)) toggle.scrollIntoView({ block: 'nearest' });
  });
  const opener = button('', { class: 'opener', 'aria-labelledby': title.id }, flip);
  const sentAt = Date.parse(created_at);
  const time = { datetime: created_at, title: formatExact(sentAt) };
  const clock = h('time', time, formatClock(sentAt));
  const foot = div('foot');
  const element = h(
    'li',
    { class: 'item', 'data-reference': `${strings.sent.reference} ${toReference(id)}` },
    h(
      'article',
      { 'aria-labelledby': title.id },
      div('item-head', title, clock, opener),
      text,
      toggle,
      foot,
    ),
  );
  const item = {
    inquiry,
    subject,
    body,
    parts,
    element,
    title,
    text,
    toggle,
    opener,
    foot,
    marks: [] as StaticRange[],
    wasOpened: false,
  };
  // The browser's own search has found folded text.
  element.addEventListener('beforematch', () => fold(item, false));
  fold(item, true);
  return item;
}

const isFolded = ({ element }: Item): boolean => element.classList.contains('folded');

export function fold(item: Item, folded: boolean): void {
  const { element, opener, toggle, foot } = item;
  const { list } = item.parts.locale.strings;
  for (const rest of element.querySelectorAll('.rest')) {
    if (folded) rest.setAttribute('hidden', 'until-found');
    else rest.removeAttribute('hidden');
  }
  element.classList.toggle('folded', folded);
  for (const control of [opener, toggle]) control.ariaExpanded = String(!folded);
  toggle.textContent = folded ? list.showAll : list.showLess;
  item.wasOpened = false;
  if (!folded && !foot.hasChildNodes()) foot.append(...footOf(item));
}

/** Measures which texts are cut. @returns What renders it. */
function measure({ title, text, toggle }: Item): () => void {
  const isTitleCut = isTooLong(title, SUBJECT_LINES);
  const isTextCut = isTooLong(text, BODY_LINES);
  return () => {
    title.classList.toggle('cut', isTitleCut);
    text.classList.toggle('cut', isTextCut);
    toggle.hidden = !isTitleCut && !isTextCut;
  };
}

function footOf({ inquiry, title, parts: { locale, linkTo, say } }: Item): HTMLElement[] {
  const { form, list, sent } = locale.strings;
  const copy = (label: string, content: string) =>
    copyButton(label, content, { class: 'small', 'aria-describedby': title.id }, list, say);
  const further = fieldNames
    .filter((name) => name !== 'subject' && name !== 'body' && inquiry[name])
    .map((name) => `${form.fields[name]}${locale.colon}${toVisible(inquiry[name] ?? '')}`);
  return [
    ...further.map((line) => h('p', { class: 'text', dir: 'auto' }, line)),
    h('span', {}, sent.reference, ' ', h('code', { dir: 'ltr' }, toReference(inquiry.id))),
    div(
      'copy',
      copy(list.copyText, textsOf(inquiry).join('\n\n')),
      linkTo && copy(list.copyLink, linkTo(inquiry.id)),
    ),
  ];
}

/** A long text's rest costs nothing while folded, but the page's search finds it. */
function fill(element: HTMLElement, content: string, length: number, absence: string): void {
  const isAbsent = isBlank(content);
  const beginning = beginningOf(content, length);
  const rest = content.slice(beginning.length);
  element.classList.toggle('absent', isAbsent);
  element.append(isAbsent ? absence : beginning);
  if (!isAbsent && rest !== '') element.append(h('span', { class: 'rest' }, rest));
}

/** Whether at least two lines would be hidden. */
function isTooLong(element: HTMLElement, lines: number): boolean {
  const { lineHeight } = getComputedStyle(element);
  return (
    element.childElementCount > 0 ||
    element.scrollHeight > (lines + 1.5) * Number.parseFloat(lineHeight)
  );
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
