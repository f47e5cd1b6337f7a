/**
 * The parts that mails are made of, each as plain text and as HTML. The HTML is what all mail programs show
 * (tests/mailer/html.test.ts): styles are inline, lines end with `<br>`, and borders belong to cells of tables, since Outlook
 * for Windows knows neither `white-space` nor borders of other elements. Nothing but lines has a colour, so that each
 * program uses its own for the rest, light or dark.
 */
import { directionOf, type Direction, type Language } from '../text/languages.ts';
import type { Mail } from './send-mail.ts';
import { escapeHtml } from '../text/visible.ts';

export interface Part {
  text: string;
  html: string;
}

export type Parts = (Part | undefined)[];

/** Names and values; the values may be those of users. */
export type Pairs = [name: string, value: string][];

/** Long words end where the line does. */
const BREAK = 'word-break:break-word';
/** Each cell names its font: Outlook's cells do not take that of the table. */
const FONT = 'font:16px/1.5 Helvetica,Arial,sans-serif';
const NEUTRAL = '#888888';

/** Addresses of pages, without the punctuation that ends a sentence. */
const LINK = /((?<!\w)https?:\/\/[^\s<>"]*[\w/#=&-])/;

/** Whether an address leads where it says: in normal form, without a name of a user before the host. */
function isPlain(address: string): boolean {
  const { href = '', username = '' } = URL.parse(address) ?? {};
  return username === '' && [address, `${address}/`].includes(href);
}

/** Lines as HTML; spaces that HTML would merge are kept. */
const formatLines = (text: string): string =>
  escapeHtml(text)
    .replaceAll('\t', '    ')
    .replaceAll(/^ | (?= )/gm, '&#160;')
    .replaceAll('\n', '<br>\n');

/** The same, in which the addresses of pages are links. */
export const formatLinkedLines = (text: string): string =>
  text
    .split(LINK)
    .map((part, index) => {
      const isLink = index % 2 === 1 && isPlain(part);
      return isLink ? `<a href="${escapeHtml(part)}">${escapeHtml(part)}</a>` : formatLines(part);
    })
    .join('');

/** The direction of the first letter. */
const findDirection = (text: string): Direction =>
  /^\P{L}*[\p{scx=Arabic}\p{scx=Hebrew}\p{scx=Syriac}\p{scx=Thaana}\p{scx=Nko}]/u.test(text)
    ? 'rtl'
    : 'ltr';

const sideOf = (direction: Direction) => (direction === 'rtl' ? 'right' : 'left');

/**
 * The text of a person. Each line is read in the direction of its first letter, and all begin at the side of the first line:
 * so a Latin signature below an Arabic text stays at its side.
 *
 * @param format - How its lines become HTML.
 */
export function formatMessage(text: string, format = formatLines): Part {
  const direction = findDirection(text);
  const style = `text-align:${sideOf(direction)};${BREAK};unicode-bidi:plaintext`;
  return { text, html: `<div dir="${direction}" style="${style}">${format(text)}</div>` };
}

export const formatHeading = (text: string): Part => ({
  text,
  html: `<p dir="auto" style="margin:0 0 12px;font-weight:bold;${BREAK}">${escapeHtml(text)}</p>`,
});

export const formatParagraph = (text: string): Part => ({
  text,
  html: `<p style="margin:16px 0">${escapeHtml(text)}</p>`,
});

const formatQuiet = (html: string): string =>
  `<p style="margin:16px 0 0;font-size:13px;line-height:1.5;${BREAK}">${html}</p>`;

/** Names and values in one small line. @param format - Makes HTML of both, escaped. */
const formatPairs = (pairs: Pairs, format: (name: string, value: string) => string): Part => ({
  text: pairs.map((pair) => pair.join(' ')).join('\n'),
  html: formatQuiet(
    pairs.map(([name, value]) => format(escapeHtml(name), escapeHtml(value))).join(' · '),
  ),
});

/** Facts in one small line. No value's direction reaches what is beside it; Gmail and Outlook have no `<bdi>`. */
export const formatFacts = (facts: Pairs): Part =>
  formatPairs(facts, (name, value) => `${name} <span dir="auto">${value}</span>`);

/** A sentence, and the command that it announces. */
export const formatNote = (text: string, command: string): Part => ({
  text: `${text}\n  ${command}`,
  html: formatQuiet(`${escapeHtml(text)}<br><code>${escapeHtml(command)}</code>`),
});

/** Labels and addresses, of which some may be empty, in one small line; each has a direction of its own. */
export function formatLinks(pages: Pairs): Part | undefined {
  const links = pages.filter(([, url]) => url !== '');
  return links.length === 0
    ? undefined
    : formatPairs(links, (label, url) => `<a href="${url}" dir="auto">${label}</a>`);
}

/** A text of which every line has a mark, also those that a mail program would break: 72 characters, or one URL. */
const markLines = (text: string, mark: string): string =>
  text
    .split('\n')
    .flatMap((line) =>
      (line.match(/\s?[!-~]{73,}|.{1,72}(?!\S)|.{1,72}/gu) ?? ['']).map((part, index) =>
        `${mark}${index === 0 ? part : part.trimStart()}`.trimEnd(),
      ),
    )
    .join('\n');

export const joinParts = (parts: Parts): Part => {
  const shown = parts.flatMap((part) => (part === undefined ? [] : [part]));
  return {
    text: shown.map(({ text }) => text).join('\n\n'),
    html: shown.map(({ html }) => html).join('\n'),
  };
};

/** A table of one cell, which has the borders. */
const formatTable = (style: string, html: string, margin = '0'): string =>
  `<table role="none" style="width:100%;margin:${margin};table-layout:fixed;border-collapse:collapse"><tbody><tr><td style="${style};${FONT}">${html}</td></tr></tbody></table>`;

/** What a user has written, behind a mark or border that it cannot leave. Logical sides are too new. */
export function formatQuote(parts: Parts, mark = '| ', direction: Direction = 'ltr'): Part {
  const { text, html } = joinParts(parts);
  const side = sideOf(direction);
  return {
    text: markLines(text, mark),
    html: formatTable(`padding-${side}:16px;border-${side}:3px solid ${NEUTRAL}`, html, '16px 0 0'),
  };
}

export interface Envelope extends Pick<Mail, 'to' | 'from' | 'replyTo' | 'subject'> {
  kind: string;
  /** Of the inquiry, if the mail is about one. */
  id: string | undefined;
  /** Keeps automatic replies away (RFC 3834). Absent when a person has written the mail. */
  automatic?: 'auto-generated' | 'auto-replied';
}

/**
 * Builds a mail. All those about an inquiry refer to the same message, which makes them one thread: SES gives each mail
 * its own Message-ID.
 */
export function createMail(
  { kind, id, automatic, ...envelope }: Envelope,
  parts: Parts,
  language: Language = 'en',
  accent = NEUTRAL,
): Mail {
  const { from, subject } = envelope;
  const { text, html } = joinParts(parts);
  return {
    ...envelope,
    headers: {
      References: `<${id ?? kind}${/@[^>]*/.exec(from)?.[0]}>`,
      ...(automatic && { 'Auto-Submitted': automatic }),
    },
    tags: { ...(id !== undefined && { inquiry: id }), mail: kind },
    text,
    html: `<!DOCTYPE html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0">
${formatTable(`padding:20px 16px;border-top:4px solid ${escapeHtml(accent)}`, `<div style="max-width:44em">\n${html}\n</div>`)}
</body>
</html>
`,
  };
}
