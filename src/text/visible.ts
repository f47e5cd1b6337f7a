/** Users' texts in mails, without characters that are invisible or change the order of others. */
import { showInvisible } from './invisible.ts';

/** How many times longer than what is shown the part of a text is that is looked at: spaces are merged. */
const SPARE = 4;
/** UTF-16 units beyond the limit that decide how what is before it is shown. */
const AFTER = 100;

/**
 * Makes a text safe to print: line breaks of all kinds become `\n`; other control characters become their symbols
 * (U+2400 to U+2421), those of C1, bidirectional embeddings, overrides and isolates, and lone surrogates U+FFFD.
 * Bidirectional marks, which are part of ordinary texts, have no effect beyond their neighbours and are left out.
 */
export function toVisible(text: string): string {
  return (
    text
      .toWellFormed()
      .replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
      // oxlint-disable-next-line no-control-regex -- these are meant
      .replaceAll(/[\0-\x08\x0B-\x1F]/g, (character) =>
        String.fromCodePoint(0x2400 + (character.codePointAt(0) ?? 0)),
      )
      .replaceAll('\x7F', '\u2421')
      .replaceAll(/[\x80-\x9F\u202A-\u202E\u2066-\u2069]/g, '\uFFFD')
      .replaceAll(/[\u200E\u200F\u061C]/g, '')
  );
}

/**
 * A text in one visible line of at most `limit` UTF-16 units, with `…` where it was cut. It holds no encoded word
 * (RFC 2047): a mail program would decode it in a header. Of a long text only the beginning is looked at.
 *
 * @param show - Applied to U+FEFF, too, which JavaScript counts as white space although it shows nothing.
 */
export function toOneLine(text: string, limit: number, show = (part: string) => part): string {
  const start = text.replace(/^[^\S\uFEFF]+/, '');
  const beginning = start.slice(0, SPARE * limit);
  const merged = toVisible(beginning).replaceAll(/[^\S\uFEFF]+/g, ' ');
  const part = merged.slice(0, limit + AFTER);
  const line = show(part).replaceAll(/\s+/g, ' ').replaceAll('=?', '= ?').trim();
  const isWhole =
    beginning.length === start.length && part.length === merged.length && line.length <= limit;
  return isWhole ? line : `${cut(line, limit - 1)}…`;
}

/** The same, with escapes for invisible characters: for operators. */
export const toPlainLine = (text: string, limit: number): string =>
  toOneLine(text, limit, showInvisible);

/** The beginning of a text, at most `limit` UTF-16 units, that ends neither in a surrogate pair nor with a joiner. */
export const cut = (text: string, limit: number): string =>
  text.length <= limit ? text : text.slice(0, limit).replace(/[\u200D\uD800-\uDBFF]$/, '');

/** The visible beginning of a text of several lines, with `[…]` where it was cut. */
export const cutLines = (text: string, limit: number): string =>
  toVisible(cut(text, limit)) + (text.length > limit ? '\n[…]' : '');

/** Escapes a text for HTML, also in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
