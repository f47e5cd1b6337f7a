/**
 * The parts that mails are made of. The HTML is what all mail programs show (tests/mailer/html.test.ts): styles are
 * inline, lines end with `<br>`, and borders belong to cells of tables, since Outlook for Windows knows neither
 * `white-space` nor borders of other elements. Nothing but lines has a colour, so that each program uses its own for the
 * rest, light or dark.
 */
import type { Language } from '../languages.ts';
import { escapeHtml } from './text.ts';

type Direction = 'ltr' | 'rtl';

/** Long words end where the line does. */
export const BREAK = 'word-break:break-word;overflow-wrap:anywhere';
/** Each cell names its font: Outlook's cells do not take that of the table. */
const FONT =
  "font-family:'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5";
const QUIET = 'margin:16px 0 0;font-size:13px;line-height:1.5';
const NEUTRAL = '#888888';

/** Lines as HTML; spaces that HTML would merge are kept. */
const toHtmlLines = (text: string): string =>
  escapeHtml(text)
    .replaceAll('\t', '    ')
    .replaceAll(/^ | (?= )/gm, '&#160;')
    .replaceAll('\n', '<br>\n');

/** The text of a person, each line in the direction of its first letter. */
export const toBlock = (text: string): string =>
  `<div dir="auto" style="${BREAK};unicode-bidi:plaintext">${toHtmlLines(text)}</div>`;

/** A border beside what somebody else has written, so that it cannot pass for our words. Logical sides are too new. */
export const toQuote = (content: string, direction: Direction = 'ltr'): string => {
  const side = direction === 'rtl' ? 'right' : 'left';
  return `<table role="none" style="width:100%;table-layout:fixed;border-collapse:collapse"><tbody><tr><td style="padding-${side}:16px;border-${side}:3px solid ${NEUTRAL};${FONT}">${content}</td></tr></tbody></table>`;
};

export const toHeading = (text: string): string =>
  `<p dir="auto" style="margin:0 0 12px;font-weight:bold;${BREAK}">${escapeHtml(text)}</p>`;

/** A value of a user, whose direction does not reach what is beside it. Gmail and Outlook have no `<bdi>`. */
export const toIsolated = (text: string): string => `<span dir="auto">${escapeHtml(text)}</span>`;

/** Facts in one small line. Their values may be those of users. */
export const toQuietLine = (facts: Readonly<Record<string, string>>): string =>
  `<p style="${QUIET};${BREAK}">${Object.entries(facts)
    .map(([name, value]) => `${name} ${toIsolated(value)}`)
    .join(' · ')}</p>`;

export const toParagraph = (text: string): string =>
  `<p style="margin:16px 0">${escapeHtml(text)}</p>`;

/** A sentence, and the command that it announces. */
export type Note = readonly [text: string, command: string];

export const toNote = ([note, command]: Note): string =>
  `<p style="${QUIET}">${escapeHtml(note)}<br><code style="${BREAK};font-family:Menlo,Consolas,monospace">${escapeHtml(command)}</code></p>`;

export const toNoteText = ([note, command]: Note): string => `${note}\n  ${command}\n`;

/** The company's name and links, in one small line; each has a direction of its own. */
export function toLinks(
  name: string,
  links: readonly (readonly [label: string, url: string])[],
): string {
  const urls = links.map(([label, url]) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`);
  const items = [...(name === '' ? [] : [`<b>${escapeHtml(name)}</b>`]), ...urls];
  const line = items.map((item) => `<span dir="auto">${item}</span>`).join(' · ');
  return line === '' ? '' : `<p style="${QUIET}">${line}</p>`;
}

/** A text of which every line has a mark, also those that a mail program would break: 72 characters, or one URL. */
export const toMarkedLines = (text: string, mark: string): string =>
  text
    .split('\n')
    .flatMap((line) =>
      (line.match(/\s?[!-~]{73,}|.{1,72}(?!\S)|.{1,72}/gu) ?? ['']).map((part, index) =>
        `${mark}${index === 0 ? part : part.trimStart()}`.trimEnd(),
      ),
    )
    .join('\n');

export const toPage = (
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
