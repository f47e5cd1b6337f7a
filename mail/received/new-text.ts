/** docs/adr/0085 */
import { MARKERS } from '../texts.ts';
import { UNREAD } from './html-text.ts';
import { LEFT_OUT, YOU_WROTE } from './mails.ts';
import { createFacts, type Facts, type SentMail } from './sent-mail.ts';

export type NewText =
  | { text: string; leftOut: string; why?: never; whole?: never }
  | { why: 'empty' | 'quotation' | 'unreadable'; text?: never; whole?: never }
  /** `below`: a part is between the lines of the quotation. */
  | { why: 'below' | 'unclear'; text?: never; whole: string };

/** Lines of an attribution, and from a header block's subject to its sender. */
const ATTRIBUTION = 4;
const HEADER = 12;

const MARKER = new RegExp(MARKERS.join('|').replaceAll(' ', String.raw`\s+`), 'u');
/** Ends an attribution. */
const OPEN = /[:：]\s*$/;
/** Above an attribution or a header block. */
const RULER = /^\s*(?:[-_=*]{5,}(?:[^-_]+[-_]{5,})?)?\s*$/;
/** A line of a header block. */
const NAMED = /^[\s*]*\p{L}[^:：]{0,30}[:：]/u;

const hasWords = (line = ''): boolean => /[\p{L}\p{N}]/u.test(line);
const isBlank = (line: string): boolean => /^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(line);
const isQuoted = (line: string): boolean => /^\s*>/.test(line);

/** Without blank lines around it. */
const join = (lines: string[]): string =>
  lines
    .join('\n')
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .trimEnd();

/** The text, and the signature below it (RFC 3676, 4.3). */
function cutSignature(lines: string[]): [string[], string[]] {
  const at = lines.lastIndexOf('-- ');
  return at === -1 ? [lines, []] : [lines.slice(0, at), lines.slice(at)];
}

/** Where an attribution begins that ends the lines; `unclear`: there may be one. */
function findAttribution(lines: string[], facts: Facts): number | 'unclear' | undefined {
  const first = lines.findLastIndex((line) => !hasWords(line)) + 1;
  const length = Math.min(ATTRIBUTION, lines.length - first);
  const starts = Array.from({ length }, (_, at) => lines.length - 1 - at);
  const from = (start: number): string => lines.slice(start).join(' ');
  const isOpen = OPEN.test(lines.at(-1) ?? '');
  const known = [
    (text: string) => facts.hasSender(text) && facts.hasDate(text),
    (text: string) => isOpen && facts.hasTime(text),
    // Sent again, or in a calendar of its own.
    (text: string) => isOpen && facts.hasSender(text) && facts.hasYear(text),
  ].flatMap((isKnown) => starts.find((start) => isKnown(from(start))) ?? []);
  if (known[0] !== undefined) return known[0];
  const named = starts.find((start) => facts.hasSender(from(start)));
  if (named === undefined) return isOpen ? 'unclear' : undefined;
  return isOpen && named === first ? named : 'unclear';
}

/** The line of the last header block that names the mail's subject or, if that was changed, its sender. */
function findHeaderLine(lines: string[], facts: Facts): number {
  const subject = lines.findLastIndex((_, at) => {
    const next = lines.slice(at + 1, at + 3).join(' ');
    return facts.hasSubject(`${lines[at]} ${next}`) && !facts.hasSubject(next);
  });
  if (subject !== -1) return subject;
  return lines.findLastIndex(
    (line, at) =>
      facts.hasSender(line) &&
      [line, ...lines.slice(at + 1, at + 3)].every((one) => NAMED.test(one)),
  );
}

/** Where the last header block begins that names the sender or the date, too. */
function findHeader(lines: string[], facts: Facts): number | undefined {
  const line = findHeaderLine(lines, facts);
  if (line === -1) return undefined;
  const isSender = (at: number): boolean => facts.hasSender(lines[at] ?? '');
  const isFact = (at: number): boolean => isSender(at) || facts.hasDate(lines[at] ?? '');
  const above = Array.from({ length: Math.min(HEADER, line) }, (_, at) => line - 1 - at);
  const end = above.findIndex((at) => !hasWords(lines[at]));
  const block = end === -1 ? above : above.slice(0, end);
  const below = Array.from({ length: HEADER }, (_, at) => line + at);
  const [known] = [block, above].flatMap((ats) => ats.find(isSender) ?? ats.find(isFact) ?? []);
  if (known === undefined && !below.some(isFact)) return undefined;
  let start = known ?? line;
  while (start > line - HEADER && isFact(start - 1)) start--;
  // A contact's name stands for the address.
  return !isSender(start) && NAMED.test(lines[start - 1] ?? '') ? start - 1 : start;
}

/** Where the quotation begins, of which the lines above the marker are given. */
function findQuotation(lines: string[], isMarked: boolean, facts: Facts): number | 'unclear' {
  const isText = (line: string): boolean => !isBlank(line) && !(isMarked && isQuoted(line));
  const toEnd = (last: string[]): string[] => last.slice(0, last.findLastIndex(isText) + 1);
  const withoutRulers = (end: number): number =>
    lines.findLastIndex((line, at) => at < end && !RULER.test(line)) + 1;
  const above = toEnd(lines);
  const block = lines.slice(above.length).map((line) => line.replace(/^[>\s]+/, ''));
  const quoted = findHeader(block, facts);
  // Forwarded, so that somebody else wrote what is above.
  if (block.slice(0, quoted).some((line) => quoted !== undefined && !RULER.test(line))) {
    return 'unclear';
  }
  if (quoted !== undefined) return withoutRulers(above.length);
  const header = findHeader(above, facts);
  if (header !== undefined && above.slice(header).every(hasWords)) return withoutRulers(header);
  const isPreheader = facts.isPreheader(above.at(-1) ?? '');
  const attribution = findAttribution(isPreheader ? toEnd(above.slice(0, -1)) : above, facts);
  const start = typeof attribution === 'number' ? attribution : (header ?? attribution);
  return typeof start === 'number' ? withoutRulers(start) : (start ?? above.length);
}

/** What is below a quotation whose lines are marked; undefined: something is between them. */
function findBelowMarked(lines: string[], facts: Facts): string[] | undefined {
  const last = lines.findLastIndex(isQuoted);
  // Programs break quoted lines.
  const isBetween = lines.some(
    (line, at) => at < last && !isQuoted(line) && hasWords(line) && !facts.isOurs(line),
  );
  return isBetween ? undefined : lines.slice(last + 1);
}

/** The same where they are not. */
function findBelow(lines: string[], facts: Facts): string[] | undefined {
  // What of such a mail follows is not known.
  const isOpen = lines.some((line) => [LEFT_OUT, YOU_WROTE].includes(line.trim()));
  if (isOpen || !lines.some(hasWords)) return [];
  const isOurs = lines.map((line) => hasWords(line) && facts.isOurs(line));
  // In a paragraph of others, a line may be the same as one of ours by chance.
  let isOfOurs = false;
  const last = lines.reduce((found, _, at) => {
    if (!hasWords(lines[at - 1])) isOfOurs = isOurs[at] === true;
    return isOurs[at] && isOfOurs ? at : found;
  }, -1);
  const isBetween = lines.some((line, at) => at < last && hasWords(line) && !isOurs[at]);
  return isBetween || last === -1 ? undefined : lines.slice(last + 1);
}

/** A text from its parts, unless there is still something of ours in it. */
function toNewText(above: string[], head: string[], below: string[], facts: Facts): NewText {
  const [[first, signature], [second, end]] = [cutSignature(above), cutSignature(below)];
  const text = [first, second].map(join).filter(Boolean).join('\n\n');
  const whole = join([...above, ...head, ...below]);
  if (text === '') return { why: 'quotation' };
  const lines = text.split('\n');
  const isForeign =
    facts.hasReplyTo(text) ||
    findHeader(lines, facts) !== undefined ||
    // Written between attribution and marker.
    lines.some((line) => OPEN.test(line) && facts.hasSender(line) && facts.hasDate(line));
  if (isForeign) return { why: 'unclear', whole };
  const leftOut = [signature, head, end].map(join).filter(Boolean).join('\n\n');
  return { text, leftOut };
}

function readMarked(lines: string[], at: number, facts: Facts): NewText {
  const line = lines[at] ?? '';
  const [before = '', after = ''] = line.split(MARKER);
  const isMarked = isQuoted(before);
  const above = [...lines.slice(0, at), ...(hasWords(before) ? [before] : [])];
  const rest = [after, ...lines.slice(at + 1)];
  const start = findQuotation(above, isMarked, facts);
  if (start === 'unclear') return { why: start, whole: join([...above, ...rest]) };
  const below = isMarked ? findBelowMarked(rest, facts) : findBelow(rest, facts);
  const text = above.slice(0, start);
  if (below === undefined) return { why: 'below', whole: join([...text, '', ...rest]) };
  return toNewText(text, above.slice(start), below, facts);
}

/** A quotation is certain if its lines are marked and ours. */
function readUnmarked(lines: string[], facts: Facts): NewText {
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
 * What a received mail adds to the mail of ours that it quotes: the text above the marker, and the text below the whole
 * quotation.
 *
 * @param now - Milliseconds, when it was received.
 */
export function findNewText(mail: string, sent: SentMail, now: number): NewText {
  const lines = mail.split(/\r\n?|\n/);
  const facts = createFacts(sent, now);
  const marked = lines.findIndex((line) => MARKER.test(line));
  const found = marked === -1 ? readUnmarked(lines, facts) : readMarked(lines, marked, facts);
  return (found.text ?? found.whole)?.includes(UNREAD) ? { why: 'unreadable' } : found;
}
