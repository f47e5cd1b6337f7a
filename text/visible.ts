import { escapeInvisible, toEscape } from './invisible.ts';

const LINE_END = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** The text is well formed, with `\n` as line end. Copied texts bring embeddings, isolates and direction marks. */
const toLines = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(LINE_END, '\n')
    .replaceAll(/\p{Bidi_Control}/gu, '');

/** For authors, in the form and in mails to owners. Removes control characters. */
export const toVisible = (text: string): string => toLines(text).replaceAll(CONTROL, '');

/** For operators, in mails, page and command. Escapes characters that show nothing. */
export const escapeText = (text: string): string =>
  escapeInvisible(toLines(text).replaceAll(CONTROL, toEscape));

export const isBlank = (text: string): boolean =>
  /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u.test(text);

/** Because spaces are merged, this many times the limit is looked at. */
const SPARE = 4;
/** UTF-16 units after the limit that influence those before it. */
const AFTER = 100;

/**
 * One line of at most `limit` UTF-16 units, with `…` where it is cut, and without encoded words (RFC 2047), which mail
 * programs decode.
 *
 * @param show - It also gets U+FEFF, which JavaScript counts as white space.
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

/** The first `limit` UTF-16 units, without half a surrogate pair or a joiner at the end. */
export const cut = (text: string, limit: number): string =>
  text.length <= limit ? text : text.slice(0, limit).replace(/[\u200D\uD800-\uDBFF]$/, '');

export const cutLines = (text: string, limit: number, show = toVisible): string =>
  show(cut(text, limit)) + (text.length > limit ? '\n[…]' : '');

/** The result also fits into quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
