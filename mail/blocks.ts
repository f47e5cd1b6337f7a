/**
 * Makes plain text and HTML that all mail programs show (tests/mail/mails.test.ts). Outlook for Windows knows neither
 * `white-space` nor borders of elements other than table cells.
 */
import { directionOf, type Direction, type Language } from '../text/languages.ts';
import type { Mail } from './send-mail.ts';
import { textsIn } from './texts.ts';
import { escapeHtml, escapeText, toOneLine } from '../text/visible.ts';

export interface Block {
  text: string;
  html: string;
}

export type Blocks = (Block | undefined)[];

export type Pairs = [name: string, value: string][];

const BREAK = 'word-break:break-word';
/** Stands on each cell, because Outlook's cells do not inherit it. */
const FONT = 'font:16px/1.5 Helvetica,Arial,sans-serif';
export const SMALL = 'font-size:13px;line-height:1.5';
export const NEUTRAL = '#888888';

const HAIRLINE = '#bbbbbb';
const GAP = 24;
const INNER_GAP = 12;

/** An address ends before a space, a quotation mark or punctuation that addresses encode. */
const ADDRESS =
  /(?<![A-Za-z0-9_])(https?:\/\/[^\s<>"“”„«»‹›「」『』【】《》〈〉（）［］、。，；：！？،؛؟…｜]+)/i;
/** Addresses of more UTF-16 units are no links. */
const LONGEST_ADDRESS = 2_000;
const BRACKETS = ['()', '[]', '{}'] as const;
/** An address may end anywhere in scripts without spaces. */
const UNCLEAR_END =
  /[!-~]\p{sc=Hiragana}|[A-Za-z0-9][\p{sc=Han}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u;

function trimAddress(address: string): string {
  const trimmed = address.replace(/[.,:;!?'’‘*`|\\^]+$/, '');
  const isOdd = BRACKETS.some(
    ([open = '', close = '']) =>
      trimmed.endsWith(close) && trimmed.split(close).length > trimmed.split(open).length,
  );
  if (isOdd) return trimAddress(trimmed.slice(0, -1));
  return trimmed;
}

/** @returns The encoded target, or undefined if the address shows another one or contains a user's name. */
function toHref(address: string): string | undefined {
  if (UNCLEAR_END.test(address) || /\p{Default_Ignorable_Code_Point}/u.test(address)) return;
  const { href = '', username = '' } = URL.parse(address) ?? {};
  const encoded = address.replaceAll(/\P{ASCII}+/gu, encodeURIComponent);
  return username === '' && [encoded, `${encoded}/`].includes(href) ? href : undefined;
}

const formatInline = (text: string): string =>
  escapeHtml(text)
    .replaceAll('\t', '    ')
    .replaceAll(/(?<=\n) | (?= )/g, '&#160;')
    .replaceAll('\n', '<br>\n');

const formatLines = (text: string): string => formatInline(text).replace(/^ /, '&#160;');

export const formatLinkedLines = (text: string): string =>
  text
    .split(ADDRESS)
    .map((piece, index) => {
      if (index % 2 === 0 || piece.length > LONGEST_ADDRESS) return formatInline(piece);
      const address = trimAddress(piece);
      const href = toHref(address);
      if (href === undefined) return formatInline(piece);
      const link = `<a href="${escapeHtml(href)}" dir="ltr">${escapeHtml(address)}</a>`;
      return link + formatInline(piece.slice(address.length));
    })
    .join('')
    .replace(/^ /, '&#160;');

const findDirection = (text: string): Direction =>
  /^\P{L}*[\p{scx=Arabic}\p{scx=Hebrew}\p{scx=Syriac}\p{scx=Thaana}\p{scx=Nko}]/u.test(text)
    ? 'rtl'
    : 'ltr';

const sideOf = (direction: Direction) => (direction === 'rtl' ? 'right' : 'left');

/**
 * Gives each line the direction of its first letter, and aligns all lines like the first, so that a Latin signature
 * below an Arabic text stays at its side.
 *
 * @param format - Makes HTML of the lines.
 */
export function formatMessage(text: string, format = formatLines): Block {
  const direction = findDirection(text);
  const style = `text-align:${sideOf(direction)};${BREAK};unicode-bidi:plaintext`;
  return { text, html: `<div dir="${direction}" style="${style}">${format(text)}</div>` };
}

export const formatHeading = (text: string): Block => ({
  text,
  html: `<p dir="auto" style="margin:0;font-weight:bold;${BREAK}">${escapeHtml(text)}</p>`,
});

export const formatParagraph = (text: string): Block => ({
  text,
  html: `<p style="margin:0">${escapeHtml(text)}</p>`,
});

export const formatBreak = (text: string): Block => ({
  text,
  html: formatTable(
    `${SMALL};padding:${GAP}px 0 0;border-top:1px solid ${HAIRLINE}`,
    escapeHtml(text),
  ),
});

/** Black or white, whichever contrasts more with `#rrggbb` (WCAG 2.2, relative luminance). */
function textColorOn(color: string): string {
  const light = Array.from(Buffer.from(color.slice(1), 'hex'), (byte) => (byte / 255) ** 2.2);
  const [red = 0, green = 0, blue = 0] = light;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? '#000000' : '#ffffff';
}

export function formatButton(label: string, url: string, color: string): Block {
  const cell = `padding:12px 20px;border-radius:6px;background-color:${escapeHtml(color)};${FONT}`;
  const link = `color:${textColorOn(color)};text-decoration:none`;
  return {
    text: `${label} ${url}`,
    html: `<table role="none" style="border-collapse:separate;border-spacing:0"><tbody><tr><td style="${cell}"><a href="${escapeHtml(url)}" dir="auto" style="${link}">${escapeHtml(label)}</a></td></tr></tbody></table>`,
  };
}

const formatQuiet = (html: string): string => `<p style="margin:0;${SMALL};${BREAK}">${html}</p>`;

export const formatSmall = (text: string): Block => ({
  text,
  html: formatQuiet(`<span dir="auto">${escapeHtml(text)}</span>`),
});

/** @param format - Gets both values escaped. */
const formatPairs = (pairs: Pairs, format: (name: string, value: string) => string): Block => ({
  text: pairs.map((pair) => pair.join(' ')).join('\n'),
  html: formatQuiet(
    pairs.map(([name, value]) => format(escapeHtml(name), escapeHtml(value))).join(' · '),
  ),
});

/** UTF-16 units. Lists of files are shorter. */
const FACT_LIMIT = 2_500;

/**
 * Makes one visible line of each value, so that a user's text cannot forge another fact. A `<span>` isolates its
 * direction, because Gmail and Outlook lack `<bdi>`.
 */
export const formatFacts = (facts: Pairs): Block =>
  formatPairs(
    facts.map(([name, value]) => [name, toOneLine(value, FACT_LIMIT, escapeText)]),
    (name, value) => `${name} <span dir="auto">${value}</span>`,
  );

export const formatNote = (text: string, command: string): Block => ({
  text: `${text}\n  ${command}`,
  html: formatQuiet(`${escapeHtml(text)}<br><code>${escapeHtml(command)}</code>`),
});

export function formatLinks(pages: Pairs): Block | undefined {
  const links = pages.filter(([, url]) => url !== '');
  return links.length === 0
    ? undefined
    : formatPairs(links, (label, url) => `<a href="${url}" dir="auto">${label}</a>`);
}

/** Breaks lines after 72 characters or a URL, because a line that a mail program breaks has no mark. */
const markLines = (text: string, mark: string): string =>
  text
    .split('\n')
    .flatMap((line) =>
      (line.match(/\s?(?:https?:\/\/\S{65,}|[!-~]{73,})|.{1,72}(?!\S)|.{1,72}/gu) ?? ['']).map(
        (piece, index) => `${mark}${index === 0 ? piece : piece.trimStart()}`.trimEnd(),
      ),
    )
    .join('\n');

export const joinBlocks = (blocks: Blocks, gap = GAP): Block => {
  const shown = blocks.flatMap((block) => (block === undefined ? [] : [block]));
  return {
    text: shown.map(({ text }) => text).join('\n\n'),
    html: shown
      .map(({ html }) => html)
      .join(`\n<div style="font-size:${gap}px;line-height:1">&#160;</div>\n`),
  };
};

const formatTable = (style: string, html: string): string =>
  `<table role="none" style="width:100%;table-layout:fixed;border-collapse:collapse"><tbody><tr><td style="${FONT};${style}">${html}</td></tr></tbody></table>`;

/** Puts a text behind a mark or border that it cannot leave. Some programs lack CSS's logical sides. */
export function formatQuote(
  blocks: Blocks,
  mark = '| ',
  direction: Direction = 'ltr',
  style = '',
): Block {
  const { text, html } = joinBlocks(blocks, INNER_GAP);
  const side = sideOf(direction);
  return {
    text: markLines(text, mark),
    html: formatTable(`${style}padding-${side}:16px;border-${side}:3px solid ${NEUTRAL}`, html),
  };
}

export interface Envelope extends Pick<Mail, 'to' | 'from' | 'replyTo' | 'subject'> {
  kind: string;
  /** Undefined if the mail is not about one inquiry. */
  id: string | undefined;
  follows?: string | undefined;
  /** Prevents automatic replies (RFC 3834). Undefined for a person's mail. */
  automatic?: 'auto-generated' | 'auto-replied';
  /** Reply-To of a mail that can be answered by mail. Such a mail begins with the line above which to answer. */
  replyAddress?: string | undefined;
}

const PREVIEW = 60;
/** Lists of mails show this hidden text instead of the marker. Invisible characters fill the rest of the line. */
const formatPreheader = (subject: string): string =>
  `<div style="display:none;mso-hide:all">${escapeHtml(subject.slice(0, PREVIEW))}${'&#847;&#8204;&#160;'.repeat(40)}</div>\n`;

function formatMarker(language: Language): Block {
  const text = textsIn(language).answerAbove;
  return {
    text,
    html: `<p style="margin:0;font-size:12px;opacity:0.7">${escapeHtml(text)}</p>`,
  };
}

/** Asks for no automatic replies but bounces (learn.microsoft.com, MS-OXCMAIL, X-Auto-Response-Suppress). */
const SUPPRESSED_RESPONSES = 'DR, RN, NRN, OOF, AutoReply';

/** All mails about an inquiry refer to one message, as a thread, and to that of the inquiry which it follows. */
export function createMail(
  { kind, id, follows, automatic, replyAddress, ...mail }: Envelope,
  blocks: Blocks,
  language: Language = 'en',
  accent = NEUTRAL,
): Mail {
  const { from, replyTo, subject } = mail;
  const isAnswerable = replyAddress !== undefined;
  const { text, html } = joinBlocks([isAnswerable ? formatMarker(language) : undefined, ...blocks]);
  const direction = directionOf(language);
  const preheader = isAnswerable ? formatPreheader(subject.replace(/^\[[^\]]*\] /, '')) : '';
  const domain = from.slice(from.lastIndexOf('@')).replace('>', '');
  // Some programs drop the direction of <html>.
  const block = `<div dir="${direction}" style="max-width:44em;text-align:${sideOf(direction)}">`;
  return {
    ...mail,
    replyTo: replyAddress ?? replyTo,
    headers: {
      References: [...(follows === undefined ? [] : [follows]), id ?? kind]
        .map((one) => `<${one}${domain}>`)
        .join(' '),
      ...(automatic && {
        'Auto-Submitted': automatic,
        'X-Auto-Response-Suppress': SUPPRESSED_RESPONSES,
      }),
    },
    tags: { ...(id !== undefined && { inquiry: id }), mail: kind },
    text,
    html: `<!DOCTYPE html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0">
${preheader}${formatTable(`padding:20px 16px;border-top:4px solid ${escapeHtml(accent)}`, `${block}\n${html}\n</div>`)}
</body>
</html>
`,
  };
}
