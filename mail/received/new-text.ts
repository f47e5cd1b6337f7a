import { runInNewContext } from 'node:vm';
import EmailReplyParser from 'email-reply-parser';
import { MARKER } from '../team-mails.ts';

export type NewText =
  | { text: string; why?: never }
  /** `below`: under the quotation, or between its lines. */
  | { why: 'empty' | 'quotation' | 'below' | 'too-long' };

/** UTF-16 units that are looked at. */
const LONGEST = 200_000;
/** Milliseconds of the library, whose patterns can take minutes. */
const TIMEOUT = 2_000;

/** First lines of what the library takes for signatures, and owners should get. */
const NO_SIGNATURE =
  /^\s*(?:[-_=+]{3,}|[_=+]{2}|.*\b(?:regards|wishes|cheers|cordialement|vous|journée|soirée)\b.*)$/iu;

/** A year, a time, or a header. */
const DATED = /\b(?:19|20)\d\d\b|\d{1,2}:\d\d/;
const HEADER = /^[\s*]*\p{L}+\s?:/u;
/** A blank line or a ruler, maybe with “Original message” in some language. */
const RULER = /^\s*(?:_{5,}|-{5,}.*)?$/;

/** Cuts the end that names the quoted mail's time and sender, in any language. */
function cutAttribution(text: string, sender: string): string {
  const lines = text.split('\n');
  const start = lines.lastIndexOf('') + 1;
  const paragraph = lines.slice(start);
  const headers = paragraph.filter((line) => HEADER.test(line));
  const first = paragraph.findIndex(
    (line) => HEADER.test(line) || DATED.test(line) || line.includes(sender),
  );
  const named = paragraph.slice(first).join('\n').toLowerCase();
  const isAttribution =
    first !== -1 && (named.includes(sender) || /[:：]$/.test(named) || headers.length >= 3);
  const end = isAttribution ? start + first : lines.length;
  const last = lines.findLastIndex((line, at) => at < end && !RULER.test(line));
  return lines.slice(0, last + 1).join('\n');
}

interface Part {
  /** Empty if the owner should not get it. */
  text: string;
  isQuoted: boolean;
}

/** @throws Error when it takes too long. */
function readParts(text: string): Part[] {
  const read = () => new EmailReplyParser().read(text).getFragments();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `read` returns
  const fragments = runInNewContext('read()', { read }, { timeout: TIMEOUT }) as ReturnType<
    typeof read
  >;
  return fragments.map((fragment) => {
    const content = fragment.getContent();
    const [begin = ''] = content.trim().split('\n', 1);
    const isShown = !fragment.isHidden() || (fragment.isSignature() && NO_SIGNATURE.test(begin));
    return { text: isShown ? content : '', isQuoted: fragment.isQuoted() };
  });
}

/** Lines below the marker, without a signature. */
function readMarked(lines: string[]): Part[] {
  // Outlook marks no quoted line, so all below is the quotation.
  if (!lines[0]?.startsWith('>')) return [];
  const end = lines.findIndex((line) => /^-- ?$/.test(line));
  return lines.slice(0, end === -1 ? lines.length : end).map((line) => {
    const isQuoted = line.startsWith('>');
    return { text: isQuoted ? '' : line, isQuoted };
  });
}

/**
 * The text above the quotation, without a signature.
 *
 * @param sender - The address of the quoted mail.
 */
export function findNewText(mail: string, sender: string): NewText {
  const text = mail
    .slice(0, LONGEST)
    .replaceAll(/\r\n?/g, '\n')
    // A quoted line that a program has broken.
    .replaceAll(/^(>.{70,}\n)(?=[^>\n].*\n>)/gm, '$1> ');
  const lines = text.split('\n');
  const marked = lines.findIndex((line) => line.includes(MARKER));
  if (marked === -1 && mail.length > LONGEST) return { why: 'too-long' };
  const top = marked === -1 ? lines : [...lines.slice(0, marked), '', '> '];
  let parts: Part[];
  try {
    parts = readParts(top.join('\n'));
  } catch {
    return { why: 'too-long' };
  }
  if (marked !== -1) parts.push(...readMarked(lines.slice(marked)));

  const toText = (from: number, to?: number): string =>
    parts
      .slice(from, to)
      .map((part) => part.text)
      .join('\n')
      .trim();
  const first = parts.findIndex(({ isQuoted }) => isQuoted);
  if (first === -1) return toText(0) === '' ? { why: 'empty' } : { text: toText(0) };
  const above = cutAttribution(toText(0, first), sender);
  const isBetween =
    toText(
      first,
      parts.findLastIndex(({ isQuoted }) => isQuoted),
    ) !== '';
  if (isBetween || (above === '' && toText(first) !== '')) return { why: 'below' };
  return above === '' ? { why: 'quotation' } : { text: above };
}
