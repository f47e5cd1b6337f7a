/** Finds what is new in a mail that quotes one of ours. docs/adr/0085 */
import { MARKERS } from '../texts.ts';
import { UNREAD } from './html-text.ts';
import { LEFT_OUT, YOU_WROTE } from './mails.ts';
import { LINE_END } from './parse-mail.ts';
import { createFacts, type Facts, type SentMail } from './sent-mail.ts';

export type NewText =
  | { text: string; leftOut: string; why?: never; whole?: never }
  | { why: 'empty' | 'quotation' | 'unreadable'; text?: never; whole?: never }
  /** `below`: a part is between the lines of the quotation. `unclear`: it is not certain where the text ends. */
  | { why: 'below' | 'unclear'; text?: never; whole: string };

/** Lines that an attribution (“On Friday, Ana wrote:”) may have. */
const ATTRIBUTION = 4;
/** Lines from the sender of a header block to its subject. */
const HEADER = 12;

const MARKER = new RegExp(MARKERS.join('|').replaceAll(' ', String.raw`\s+`), 'u');
/** Ends an attribution. Zoho's ends with dashes. */
const OPEN = /(?:[:：]|-{4})\s*$/;
/** Begins with a name, as the lines of a header block do. */
const NAMED = /^[\s*]*\p{L}[^:：]{0,30}[:：]/u;
/** Outlook writes it right above a header block. */
const RULER = /^_{20,}$/;
/** Titles of programs have four dashes or more on both sides. A line with three may be one. */
const TITLE = /^\p{Pd}{4}.*\p{Pd}{4}$/u;
const MAYBE_TITLE = /^\p{Pd}{3}.*\p{Pd}{3}$/u;
/** Is in each paragraph of an organization's banner about mails from outside, and of Outlook's about new senders. */
const BANNER =
  /extern|ekstern|estern|outside|extérieur|exterior|außerhalb|fuera d|fora d|buiten|utanför|uden ?for|utenfor|ulkop|ulkoi|zewn|spoza|mimo|küls|внеш|harici|dış|外部|외부|خارج|LearnAboutSenderIdentification/iu;

const hasWords = (line = ''): boolean => /[\p{L}\p{N}]/u.test(line);
const isBlank = (line: string): boolean => /^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(line);
const isQuoted = (line: string): boolean => /^\s*>/.test(line);
const isMaybeTitle = (line = ''): boolean => MAYBE_TITLE.test(line.trim()) && hasWords(line);

const join = (lines: string[]): string =>
  lines
    .join('\n')
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .trimEnd();

/** @returns The text and the signature below it (RFC 3676, 4.3). */
function cutSignature(lines: string[]): [string[], string[]] {
  const at = lines.lastIndexOf('-- ');
  return at === -1 ? [lines, []] : [lines.slice(0, at), lines.slice(at)];
}

/** @returns Where an attribution begins that ends the lines, or `unclear` if there may be one. */
function findAttribution(lines: string[], facts: Facts): number | 'unclear' | undefined {
  const first = lines.findLastIndex((line) => !hasWords(line)) + 1;
  const length = Math.min(ATTRIBUTION, lines.length - first);
  const starts = Array.from({ length }, (_, at) => lines.length - 1 - at);
  const from = (start: number): string => lines.slice(start).join(' ');
  const isOpen = OPEN.test(lines.at(-1) ?? '');
  const isNamed = (text: string): boolean => facts.hasSender(text);
  const proofs = [
    (text: string) => isNamed(text) && facts.hasDate(text),
    facts.hasTime,
    // The mail was sent again, or the date is in another calendar.
    (text: string) => isNamed(text) && facts.hasYear(text),
    // The paragraph is no longer than an attribution.
    (text: string) => isNamed(text) && starts.length === lines.length - first,
  ];
  const [start] = proofs.flatMap((isProof) => starts.find((at) => isProof(from(at))) ?? []);
  if (start === undefined) return isOpen ? 'unclear' : undefined;
  // A date in the line before may belong to the text, and so may a line that ends like a sentence.
  const hasTime = facts.hasTime(from(start));
  const hasSender = isNamed(from(start));
  if (start === lines.length - 1 ? isOpen || (hasSender && hasTime) : hasTime) return start;
  return hasSender || isOpen ? 'unclear' : undefined;
}

/** Finds the line of the last header block that has the mail's subject or, if that was changed, its sender. */
function findHeaderLine(lines: string[], facts: Facts): number {
  const subject = lines.findLastIndex((_, at) => {
    const next = lines.slice(at + 1, at + 3).join(' ');
    return facts.hasSubject(`${lines[at]} ${next}`) && !facts.hasSubject(next);
  });
  if (subject !== -1) return subject;
  return lines.findLastIndex((line, at) => {
    const three = lines.slice(at, at + 3);
    return facts.hasSender(line) && three.length > 1 && three.every((one) => NAMED.test(one));
  });
}

/** Finds the last header block that also has the sender or the date. `end` is that of its last paragraph. */
function findHeader(
  lines: string[],
  facts: Facts,
): { start: number | 'unclear'; end: number } | undefined {
  const line = findHeaderLine(lines, facts);
  if (line === -1) return undefined;
  const isSender = (at: number): boolean => facts.hasSender(lines[at] ?? '');
  const hasDate = (at: number): boolean => facts.hasDate(lines[at] ?? '');
  const isFact = (at: number): boolean => isSender(at) || hasDate(at);
  const blank = lines.findIndex((one, at) => at > line && isBlank(one));
  const end = blank === -1 ? lines.length : blank;
  const above = Array.from({ length: Math.min(HEADER, line) + 1 }, (_, at) => line - at);
  const gap = above.findIndex((at) => !hasWords(lines[at]));
  const block = gap === -1 ? above : above.slice(0, gap);
  const known =
    // The block of Yahoo is one line.
    [line].find((at) => isSender(at) && hasDate(at)) ??
    block.find((at) => at !== line && isSender(at)) ??
    block.find(isFact) ??
    // Notes has a paragraph for each header.
    above.find((at) => isSender(at) && hasDate(at + 1));
  const isBelow = lines.slice(line, end).some((_, at) => isFact(line + at));
  if (known === undefined && !isBelow) return undefined;
  // The title of Notes has the sender.
  const title = block.find((at) => isMaybeTitle(lines[at]) && isSender(at));
  if (title !== undefined) return { start: title, end };
  let start = known ?? line;
  const isNamed = (at: number): boolean => NAMED.test(lines[at] ?? '');
  while (isFact(start - 1)) {
    const named = [start - 1, start - 2].find(isNamed);
    if (named === undefined) return { start: 'unclear', end };
    start = named;
  }
  // A contact's name may stand for the address.
  if (!isSender(start) && isNamed(start - 1)) start--;
  return { start, end };
}

/** Whether no line below a header block is the writer's. */
const isBanner = (lines: string[], facts: Facts): boolean =>
  lines
    .join('\n')
    .split(/\n\s*\n/)
    .every((one) => !hasWords(one) || BANNER.test(one) || facts.isPreheader(one));

/**
 * Finds the title (“---- Original Message ----”) of a header block that begins at a line. Programs write both as one
 * paragraph in whatever language. Another title may be the writer's.
 *
 * @returns Where the title, or the block without one, begins.
 */
function findTitle(lines: string[], start: number | 'unclear'): number | 'unclear' {
  if (start === 'unclear') return start;
  const at = lines.slice(0, start).findLastIndex((line) => !isBlank(line));
  const line = (lines[at] ?? '').trim();
  const isAbove = at === start - 1;
  if (isAbove && RULER.test(line)) return at;
  if (!isMaybeTitle(line)) return start;
  return isAbove && isBlank(lines[at - 1] ?? '') && TITLE.test(line) ? at : 'unclear';
}

/**
 * Finds where a quotation begins.
 *
 * @param lines - Those above the marker.
 * @param isQuoting - Whether the program begins quoted lines with `>`.
 */
function findQuotation(lines: string[], isQuoting: boolean, facts: Facts): number | 'unclear' {
  const isText = (line: string): boolean => !isBlank(line) && !(isQuoting && isQuoted(line));
  const toEnd = (last: string[]): string[] => last.slice(0, last.findLastIndex(isText) + 1);
  const above = toEnd(lines);
  const block = lines.slice(above.length).map((line) => line.replace(/^[>\s]+/, ''));
  const quoted = findHeader(block, facts);
  if (quoted !== undefined) {
    const title = findTitle(block, quoted.start);
    // The mail was forwarded, so somebody else wrote what is above.
    const isForwarded =
      title === 'unclear' ||
      block.slice(0, title).some((line) => !isBlank(line)) ||
      OPEN.test(above.at(-1) ?? '');
    const start = lines.findIndex((line, at) => at >= above.length && !isBlank(line));
    return isForwarded ? 'unclear' : findTitle(lines, start);
  }
  const header = findHeader(above, facts);
  if (header !== undefined) {
    const isWhole = isBanner(above.slice(header.end), facts);
    return isWhole ? findTitle(lines, header.start) : 'unclear';
  }
  const isPreheader = facts.isPreheader(above.at(-1) ?? '');
  const attribution = findAttribution(isPreheader ? toEnd(above.slice(0, -1)) : above, facts);
  // Right above an attribution, Proton had a title and Yahoo has the writer's text.
  const isUnclear = typeof attribution === 'number' && isMaybeTitle(lines[attribution - 1]);
  return isUnclear ? 'unclear' : (attribution ?? above.length);
}

/** @returns What is below a quotation whose lines begin with `>`, or undefined if something is between them. */
function findBelowQuoted(lines: string[], facts: Facts): string[] | undefined {
  const last = lines.findLastIndex(isQuoted);
  // Programs break quoted lines and leave the rest without a sign.
  const isBroken = lines.some((line, at) => at < last && !isQuoted(line) && hasWords(line));
  const isBetween = isBroken && !facts.isInOrder(lines.slice(0, last + 1));
  return isBetween ? undefined : lines.slice(last + 1);
}

/** @returns What is below a quotation without signs, or undefined if it is not certain where that ends. */
function findBelow(lines: string[], facts: Facts): string[] | undefined {
  // Such a mail of ours ends with a text that is not known here.
  const isOpen = lines.some((line) => [LEFT_OUT, YOU_WROTE].includes(line.trim()));
  if (isOpen || !lines.some(hasWords)) return [];
  const isOurs = lines.map((line) => hasWords(line) && facts.isOurs(line));
  // A line of somebody else's paragraph may equal one of ours by chance.
  let isOfOurs = false;
  const last = lines.reduce((found, _, at) => {
    if (!hasWords(lines[at - 1])) isOfOurs = isOurs[at] === true;
    return isOurs[at] && isOfOurs ? at : found;
  }, -1);
  const isWhole = last !== -1 && facts.isInOrder(lines.slice(0, last + 1));
  return isWhole ? lines.slice(last + 1) : undefined;
}

/** Joins what is above and below, unless there is still something of ours in it. */
function toNewText(above: string[], head: string[], below: string[], facts: Facts): NewText {
  const [[first, signature], [second, end]] = [cutSignature(above), cutSignature(below)];
  const text = [first, second].map(join).filter(Boolean).join('\n\n');
  const whole = join([...above, ...head, ...below]);
  if (text === '') return { why: 'quotation' };
  const lines = text.split('\n');
  const isForeign =
    facts.hasReplyTo(text) ||
    findHeader(lines, facts) !== undefined ||
    // Somebody wrote between attribution and marker.
    lines.some((line) => OPEN.test(line) && facts.hasSender(line) && facts.hasDate(line));
  if (isForeign) return { why: 'unclear', whole };
  const leftOut = [signature, head, end].map(join).filter(Boolean).join('\n\n');
  return { text, leftOut };
}

/** @param at - Index of the marker's line. */
function readWithMarker(lines: string[], at: number, facts: Facts): NewText {
  const line = lines[at] ?? '';
  const [before = '', after = ''] = line.split(MARKER);
  const isQuoting = isQuoted(before);
  const above = [...lines.slice(0, at), ...(hasWords(before) ? [before] : [])];
  const rest = [after, ...lines.slice(at + 1)];
  const start = findQuotation(above, isQuoting, facts);
  if (start === 'unclear') return { why: start, whole: join([...above, ...rest]) };
  const below = isQuoting ? findBelowQuoted(rest, facts) : findBelow(rest, facts);
  const text = above.slice(0, start);
  if (below === undefined) return { why: 'below', whole: join([...text, '', ...rest]) };
  return toNewText(text, above.slice(start), below, facts);
}

/** A quotation is certain if its lines begin with `>` and are ours. */
function readWithoutMarker(lines: string[], facts: Facts): NewText {
  const whole = join(lines);
  if (whole === '') return { why: 'empty' };
  const [first, last] = [lines.findIndex(isQuoted), lines.findLastIndex(isQuoted)];
  const isOurs = lines
    .slice(first, last + 1)
    .every((line) => !hasWords(line) || (isQuoted(line) && facts.isOurs(line)));
  const above = first === -1 ? lines : lines.slice(0, first);
  const start = first === -1 ? lines.length : findQuotation(above, true, facts);
  if ((first !== -1 && !isOurs) || start === 'unclear') return { why: 'unclear', whole };
  const text = above.slice(0, start);
  const below = first === -1 ? [] : lines.slice(last + 1);
  const added = toNewText(text, above.slice(start), below, facts);
  const isForeign =
    added.why === undefined &&
    (facts.hasSender(added.text) ||
      facts.hasSubject(added.text) ||
      added.text.split('\n').some((line) => facts.hasTime(line)));
  return isForeign ? { why: 'unclear', whole } : added;
}

/**
 * Finds what a mail adds to the mail of ours that it quotes: the text above the marker and below the whole quotation.
 *
 * @param now - Milliseconds when it was received.
 */
export function findNewText(mail: string, sent: SentMail, now: number): NewText {
  const lines = mail.split(LINE_END);
  const facts = createFacts(sent, now);
  const marker = lines.findIndex((line) => MARKER.test(line));
  const found =
    marker === -1 ? readWithoutMarker(lines, facts) : readWithMarker(lines, marker, facts);
  return (found.text ?? found.whole)?.includes(UNREAD) ? { why: 'unreadable' } : found;
}
