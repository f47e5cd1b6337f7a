/** One inquiry in the list. */
import type { Inquiry } from '../../src/contract.ts';
import { toReference } from '../../src/limits.ts';
import { copyButton } from '../ui/copy.ts';
import { button, div, h } from '../ui/dom.ts';
import { beginningOf } from '../ui/format.ts';
import { fieldNames, textsOf } from './fields.ts';
import type { Locale } from './locale.ts';
import type { Hit } from './search.ts';

interface ItemParts {
  readonly locale: Locale;
  /** The address that leads to an inquiry, where there is one. */
  readonly linkTo: ((id: string) => string) | undefined;
  /** Announces what happened. */
  readonly say: (text: string) => void;
}

export type Item = ReturnType<typeof createItem>;

/** UTF-16 units of a folded text that are rendered: more than fit into its lines in list.css. */
const FOLDED_SUBJECT = 1_000;
const FOLDED_BODY = 2_000;
/** The lines of a folded text that is cut off, as in list.css. */
const SUBJECT_LINES = 2;
const BODY_LINES = 6;
/** UTF-16 units of subject and body whose end a folded inquiry shows. */
const SEEN = 100;
/** All marks of the page, with one name, as in list.css. Firefox before 140 shows none. */
const highlight = typeof Highlight === 'undefined' ? undefined : new Highlight();
if (highlight !== undefined) CSS.highlights.set('inquiries-found', highlight);

export function createItem(inquiry: Inquiry, { locale, linkTo, say }: ItemParts) {
  const { id, subject, body, created_at } = inquiry;
  const { list: strings, sent } = locale.strings;
  const time = locale.formatTime(created_at);
  const title = h(
    'h4',
    { id: `subject-${id}`, dir: 'auto', tabindex: '-1' },
    ...textNodes(subject, FOLDED_SUBJECT, strings.noSubject),
  );
  const text = h(
    'div',
    { class: 'text', dir: 'auto' },
    ...textNodes(body, FOLDED_BODY, strings.noMessage),
  );
  title.classList.toggle('absent', subject.trim() === '');
  text.classList.toggle('absent', body.trim() === '');
  const small = { class: 'small', 'aria-describedby': title.id };
  const toggle = button('', { ...small, hidden: true }, () => {
    const isOpen = toggle.ariaExpanded === 'true';
    fold(isOpen);
    // The end of a long text was in view, and is gone.
    if (isOpen) toggle.scrollIntoView({ block: 'nearest' });
  });
  const opener = button('', { class: 'opener', 'aria-labelledby': title.id }, () =>
    fold(opener.ariaExpanded === 'true'),
  );
  const foot = div('foot');
  /** Only in an inquiry that was opened. */
  const fillFoot = (): void => {
    const copy = (label: string, content: string) =>
      copyButton(label, content, small, strings, say);
    // The title and the text have the other two.
    const further = fieldNames
      .filter((name) => name !== 'subject' && name !== 'body' && inquiry[name])
      .map((name) => `${locale.strings.form.fields[name]}: ${inquiry[name]}`);
    foot.append(
      ...further.map((line) => h('p', { class: 'text', dir: 'auto' }, line)),
      h('span', {}, sent.reference, ' ', h('code', { dir: 'ltr' }, toReference(id))),
      div(
        'copy',
        copy(strings.copyText, textsOf(inquiry).join('\n\n')),
        ...(linkTo === undefined ? [] : [copy(strings.copyLink, linkTo(id))]),
      ),
    );
  };
  const clock = h(
    'time',
    { datetime: time.machine, title: time.exact },
    clockOf(created_at, locale),
  );
  const head = div('item-head', title, clock, opener);
  const article = h('article', { 'aria-labelledby': title.id }, head, text, toggle, foot);
  const element = h('li', { class: 'item' }, article);

  let marks: Range[] = [];
  /** Whether a search has unfolded it. */
  let wasOpened = false;

  const fold = (folded: boolean): void => {
    for (const rest of element.querySelectorAll('.rest')) {
      if (folded) rest.setAttribute('hidden', 'until-found');
      else rest.removeAttribute('hidden');
    }
    element.classList.toggle('folded', folded);
    for (const control of [opener, toggle]) control.ariaExpanded = String(!folded);
    toggle.textContent = folded ? strings.showAll : strings.showLess;
    wasOpened = false;
    if (!folded && foot.childElementCount === 0) fillFoot();
  };
  // The browser has found something that is folded.
  element.addEventListener('beforematch', () => fold(false));
  fold(true);

  return {
    element,
    title,
    /** Has a size only while the item is laid out; it depends on the width of the item alone. */
    foot,
    unfold: () => fold(false),
    /** Marks what a search has found, or nothing, and unfolds the inquiry while it hides that or is the only one. */
    showHits(hits: readonly (readonly Hit[])[], isOnly: boolean): void {
      for (const range of marks) highlight?.delete(range);
      marks = hits.flat().map(([start, end]) => {
        const range = new Range();
        const isInTitle = end <= subject.length;
        const [place, offset] = isInTitle ? [title, 0] : [text, subject.length + 1];
        range.setStart(...pointIn(place, start - offset));
        range.setEnd(...pointIn(place, end - offset));
        highlight?.add(range);
        return range;
      });
      const isSeen = hits.every(([first]) => first === undefined || first[1] <= SEEN);
      if (isSeen && !isOnly) {
        if (wasOpened) fold(true);
      } else if (element.classList.contains('folded')) {
        fold(false);
        wasOpened = true;
      }
    },
    /** Reads which texts are cut off; returns a function that shows it. */
    measure(): () => void {
      const isTitleCut = isTooLong(title, SUBJECT_LINES);
      const isTextCut = isTooLong(text, BODY_LINES);
      return () => {
        title.classList.toggle('cut', isTitleCut);
        text.classList.toggle('cut', isTextCut);
        toggle.hidden = !isTitleCut && !isTextCut;
      };
    },
  };
}

/** The text, in two parts when it is long: the second one costs nothing while it is folded, but is found in the page. */
function textNodes(
  content: string,
  length: number,
  absence: string,
): (HTMLElement | string | undefined)[] {
  if (content.trim() === '') return [absence];
  const beginning = beginningOf(content, length);
  const rest = content.slice(beginning.length);
  return [beginning, rest === '' ? undefined : h('span', { class: 'rest' }, rest)];
}

/** The place of a UTF-16 unit in the parts that `textNodes` has made of a text. */
function pointIn(place: HTMLElement, offset: number): [Node, number] {
  const beginning = place.firstChild ?? place;
  const rest = place.lastElementChild?.firstChild ?? undefined;
  const length = beginning.textContent?.length ?? 0;
  return offset <= length || rest === undefined ? [beginning, offset] : [rest, offset - length];
}

/** Whether at least two lines would be hidden: a button instead of one line would save nothing. */
function isTooLong(element: HTMLElement, lines: number): boolean {
  const { lineHeight } = getComputedStyle(element);
  return (
    element.childElementCount > 0 ||
    element.scrollHeight > (lines + 1.5) * Number.parseFloat(lineHeight)
  );
}

/** The time of day; the heading says the day. */
function clockOf(timestamp: string, { formatClock, formatTime }: Locale): string {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? formatTime(timestamp).short : formatClock(time - (time % 60_000));
}
