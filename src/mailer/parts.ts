/**
 * The parts that mails are made of. The HTML is what all mail programs show (tests/mailer/html.test.ts): styles are
 * inline, lines end with `<br>`, and borders belong to cells of tables, since Outlook for Windows knows neither
 * `white-space` nor borders of other elements. Nothing but lines has a colour, so that each program uses its own for the
 * rest, light or dark.
 */
import type { Direction, Language } from '../languages.ts';
import { escapeHtml } from './text.ts';

type Facts = Readonly<Record<string, string>>;

/** Long words end where the line does. */
const BREAK = 'word-break:break-word;overflow-wrap:anywhere';
/** Each cell names its font: Outlook's cells do not take that of the table. */
const FONT =
  "font-family:'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5";
const QUIET = 'margin:16px 0 0;font-size:13px;line-height:1.5';
const NEUTRAL = '#888888';

/** Addresses of pages, without the punctuation that ends a sentence. */
const LINK = /(?<!\w)https?:\/\/[^\s<>"]*[\w/#=&-]/g;

/** Makes links of addresses that lead where they say: in normal form, without a name of a user before the host. */
const addLinks = (html: (text: string) => string, text: string): string => {
  let end = 0;
  let linked = '';
  for (const { 0: address, index } of text.matchAll(LINK)) {
    const url = URL.parse(address);
    const isNormal = url !== null && [address, `${address}/`].includes(url.href);
    if (!isNormal || url.username !== '') continue;
    const shown = escapeHtml(address);
    linked += `${html(text.slice(end, index))}<a href="${shown}">${shown}</a>`;
    end = index + address.length;
  }
  return linked + html(text.slice(end));
};

/** Lines as HTML; spaces that HTML would merge are kept. */
const formatLines = (text: string): string =>
  escapeHtml(text)
    .replaceAll('\t', '    ')
    .replaceAll(/^ | (?= )/gm, '&#160;')
    .replaceAll('\n', '<br>\n');

/** The direction of the first letter. */
const findDirection = (text: string): Direction =>
  /^\P{L}*[\p{scx=Arabic}\p{scx=Hebrew}\p{scx=Syriac}\p{scx=Thaana}\p{scx=Nko}]/u.test(text)
    ? 'rtl'
    : 'ltr';

/**
 * The text of a person. Each line is read in the direction of its first letter, and all begin at the side of the first line:
 * so a Latin signature below an Arabic text stays at its side.
 */
export function formatBlock(text: string, { withLinks = false } = {}): string {
  const direction = findDirection(text);
  const side = direction === 'rtl' ? 'right' : 'left';
  const lines = withLinks ? addLinks(formatLines, text) : formatLines(text);
  return `<div dir="${direction}" style="text-align:${side};${BREAK};unicode-bidi:plaintext">${lines}</div>`;
}

/** A border beside what a user has written, so that it cannot pass for our words. Logical sides are too new. */
export const formatQuote = (content: string, direction: Direction = 'ltr'): string => {
  const side = direction === 'rtl' ? 'right' : 'left';
  return `<table role="none" style="width:100%;table-layout:fixed;border-collapse:collapse"><tbody><tr><td style="padding-${side}:16px;border-${side}:3px solid ${NEUTRAL};${FONT}">${content}</td></tr></tbody></table>`;
};

export const formatHeading = (text: string): string =>
  `<p dir="auto" style="margin:0 0 12px;font-weight:bold;${BREAK}">${escapeHtml(text)}</p>`;

/** A value of a user, whose direction does not reach what is beside it. Gmail and Outlook have no `<bdi>`. */
const formatIsolated = (text: string): string => `<span dir="auto">${escapeHtml(text)}</span>`;

export const formatFacts = (facts: Facts, formatValue = (value: string): string => value): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name} ${formatValue(value)}`)
    .join(' · ');

/** Facts in one small line. Their values may be those of users. */
export const formatQuietLine = (facts: Facts): string =>
  `<p style="${QUIET};${BREAK}">${formatFacts(facts, formatIsolated)}</p>`;

export const formatParagraph = (text: string): string =>
  `<p style="margin:16px 0">${escapeHtml(text)}</p>`;

/** A sentence, and the command that it announces. */
export type Note = readonly [text: string, command: string];

export const formatNote = ([note, command]: Note): string =>
  `<p style="${QUIET}">${escapeHtml(note)}<br><code style="${BREAK};font-family:Menlo,Consolas,monospace">${escapeHtml(command)}</code></p>`;

export const formatNoteText = ([note, command]: Note): string => `${note}\n  ${command}\n`;

/** Links in one small line; each has a direction of its own. */
export function formatLinks(links: readonly (readonly [label: string, url: string])[]): string {
  const line = links
    .map(([label, url]) => `<a href="${escapeHtml(url)}" dir="auto">${escapeHtml(label)}</a>`)
    .join(' · ');
  return line === '' ? '' : `<p style="${QUIET}">${line}</p>`;
}

/** A text of which every line has a mark, also those that a mail program would break: 72 characters, or one URL. */
export const formatMarkedLines = (text: string, mark: string): string =>
  text
    .split('\n')
    .flatMap((line) =>
      (line.match(/\s?[!-~]{73,}|.{1,72}(?!\S)|.{1,72}/gu) ?? ['']).map((part, index) =>
        `${mark}${index === 0 ? part : part.trimStart()}`.trimEnd(),
      ),
    )
    .join('\n');

/** All mails of an inquiry refer to the same message, which makes them one thread: SES gives each mail its own Message-ID. */
export const threadHeaders = (id: string, from: string) => ({
  References: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
});

export const createPage = (
  title: string,
  content: string,
  {
    language = 'en',
    direction = 'ltr',
    accent = NEUTRAL,
  }: { language?: Language; direction?: Direction; accent?: string | undefined } = {},
): string => `<!DOCTYPE html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
<title>${escapeHtml(title)}</title>
</head>
<body style="margin:0">
<table role="none" dir="${direction}" style="width:100%;table-layout:fixed;border-collapse:collapse"><tbody><tr><td style="padding:20px 16px;border-top:4px solid ${escapeHtml(accent)};${FONT}">
<div style="max-width:44em">
${content}
</div>
</td></tr></tbody></table>
</body>
</html>
`;
