/** Users' texts as they are shown: in the order of their letters, and without characters that act on others. */
import { escapeInvisible, toEscape } from './invisible.ts';

const LINE_END = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** Well formed, with `\n` for each line end. Copied names and numbers bring embeddings, isolates and marks of direction. */
const toLines = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(LINE_END, '\n')
    .replaceAll(/\p{Bidi_Control}/gu, '');

/** A text as its author sees it, in the form and in mails to owners: without control characters. */
export const toVisible = (text: string): string => toLines(text).replaceAll(CONTROL, '');

/** A text as operators see it, in mails, page and command: with an escape for each character that shows nothing. */
export const escapeText = (text: string): string =>
  escapeInvisible(toLines(text).replaceAll(CONTROL, toEscape));

/** Whether a text shows nothing. */
export const isBlank = (text: string): boolean =>
  /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u.test(text);

/** How many times longer than what is shown the part of a text is that is looked at: spaces are merged. */
const SPARE = 4;
/** UTF-16 units beyond the limit that decide how what is before it is shown. */
const AFTER = 100;

/**
 * A text in one line of at most `limit` UTF-16 units, with `…` where it was cut. It holds no encoded word (RFC 2047),
 * which a mail program would decode. Of a long text only the beginning is looked at.
 *
 * @param show - Applied to U+FEFF, too, which JavaScript counts as white space.
 */
export function toOneLine(text: string, limit: number, show = toVisible): string {
  const start = text.replace(/^[^\S\uFEFF]+/, '');
  const beginning = start.slice(0, SPARE * limit);
  const merged = beginning.replaceAll(/[^\S\uFEFF]+/g, ' ');
  const part = merged.slice(0, limit + AFTER);
  const shown = show(part).slice(0, SPARE * limit);
  const line = shown.replaceAll(/\s+/g, ' ').replaceAll('=?', '= ?').trim();
  const isWhole =
    beginning.length === start.length && part.length === merged.length && line.length <= limit;
  return isWhole ? line : `${cut(line, limit - 1)}…`;
}

/** The beginning of a text, at most `limit` UTF-16 units, that ends neither in a surrogate pair nor with a joiner. */
export const cut = (text: string, limit: number): string =>
  text.length <= limit ? text : text.slice(0, limit).replace(/[\u200D\uD800-\uDBFF]$/, '');

/** The beginning of a text of several lines, with `[…]` where it was cut. */
export const cutLines = (text: string, limit: number, show = toVisible): string =>
  show(cut(text, limit)) + (text.length > limit ? '\n[…]' : '');

/** Escapes a text for HTML, also in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
