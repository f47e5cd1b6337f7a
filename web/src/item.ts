/** One inquiry in the list. */
import type { Inquiry } from '../../src/contract.ts';
import { button, div, h } from '../ui/dom.ts';
import { beginningOf, directionOf } from '../ui/format.ts';
import type { Locale } from './locale.ts';
import { referenceOf } from './sent.ts';

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
/** Milliseconds. */
const SAY_COPIED_FOR = 2_000;

export function createItem({ id, subject, body, created_at }: Inquiry, { locale, linkTo, say }: ItemParts) {
  const { list: strings, sent } = locale.strings;
  const time = locale.formatTime(created_at);
  const title = h(
    'h4',
    { id: `subject-${id}`, dir: 'auto', tabindex: '-1' },
    ...textNodes(subject, FOLDED_SUBJECT, strings.noSubject),
  );
  const text = h('div', { class: 'text', dir: 'auto' }, ...textNodes(body, FOLDED_BODY, strings.noMessage));
  title.classList.toggle('absent', subject === '');
  text.classList.toggle('absent', body === '');
  const showAll =
    subject.length + body.length > 10_000
      ? strings.showAllOf(locale.formatBytes(new Blob([subject, body]).size))
      : strings.showAll;
  const small = (label: string, hidden: boolean, action: () => Promise<void> | void) =>
    button(label, { class: 'small', 'aria-describedby': title.id, hidden }, action);
  const toggle = small('', true, () => {
    fold(toggle.ariaExpanded === 'true');
    toggle.scrollIntoView({ block: 'nearest' });
  });
  const copyButton = (label: string, content: string) => {
    const control = small(label, false, async () => {
      // Rejects, or is absent, where the browser does not allow it.
      const copied = await (async () => navigator.clipboard.writeText(content))().then(
        () => strings.copied,
        () => strings.notCopied,
      );
      say(copied);
      control.textContent = copied;
      setTimeout(() => (control.textContent = label), SAY_COPIED_FOR);
    });
    return control;
  };
  const foot = div(
    'foot',
    h('span', {}, sent.reference, ' ', h('code', { dir: 'ltr' }, referenceOf({ id }))),
    div(
      'copy',
      copyButton(strings.copyText, [subject, body].filter((part) => part !== '').join('\n\n')),
      linkTo === undefined ? undefined : copyButton(strings.copyLink, linkTo(id)),
    ),
  );
  const element = h(
    'li',
    { class: 'item' },
    h(
      'article',
      { 'aria-labelledby': title.id },
      h(
        'div',
        { class: 'item-head', dir: directionOf(subject) },
        title,
        h('time', { datetime: time.machine, title: time.exact, dir: 'auto' }, clockOf(created_at, locale)),
      ),
      text,
      toggle,
      foot,
    ),
  );

  const fold = (folded: boolean): void => {
    for (const rest of element.querySelectorAll('.rest')) {
      if (folded) rest.setAttribute('hidden', 'until-found');
      else rest.removeAttribute('hidden');
    }
    element.classList.toggle('folded', folded);
    toggle.ariaExpanded = String(!folded);
    toggle.textContent = folded ? showAll : strings.showLess;
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
function textNodes(content: string, length: number, absence: string): (HTMLElement | string | undefined)[] {
  if (content === '') return [absence];
  const beginning = beginningOf(content, length);
  const rest = content.slice(beginning.length);
  return [beginning, rest === '' ? undefined : h('span', { class: 'rest' }, rest)];
}

/** Whether at least two lines would be hidden: a button instead of one line would save nothing. */
function isTooLong(element: HTMLElement, lines: number): boolean {
  const { lineHeight } = getComputedStyle(element);
  return (
    element.childElementCount > 0 || element.scrollHeight > (lines + 1.5) * Number.parseFloat(lineHeight)
  );
}

/** The time of day; the heading says the day. */
function clockOf(timestamp: string, { formatClock, formatTime }: Locale): string {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? formatTime(timestamp).short : formatClock(time - (time % 60_000));
}
