import { MIMEType } from 'node:util';
import PostalMime, { type Email } from 'postal-mime';

/** A part of a mail that has no parts itself. */
export interface MailPart {
  head: Email;
  type: MIMEType;
  body: Buffer;
  /** The same for parts that say the same. Undefined outside multipart/alternative. */
  alternative: number | undefined;
}

const DEPTH = 30;
const PARTS = 500;
const HEADS = 200_000;
const DASHES = 1_000_000;

const TEXT = new MIMEType('text/plain');

function parseType(value: string): MIMEType {
  const bare = value
    .slice(0, 1_000)
    .replaceAll(/("[^"]*")|\([^()]*\)/g, '$1')
    .replaceAll(/[ \t]+(?=;|$)/g, '');
  for (const text of [value, bare]) {
    try {
      return new MIMEType(text);
    } catch {}
  }
  return TEXT;
}

/** Finds also a boundary in sections (RFC 2231). */
function findBoundary({ type, params }: MIMEType): string | undefined {
  if (type !== 'multipart') return undefined;
  const names = [...params.keys()].filter((name) => /^boundary\*\d+\*?$/.test(name));
  return params.get('boundary') ?? (names.map((name) => params.get(name)).join('') || undefined);
}

interface Delimiter {
  end: number;
  next: number;
  depth: number;
  isLast: boolean;
}

function createFindDelimiter(mail: Buffer) {
  let dashes = 0;
  /** @returns undefined when too many lines could be delimiters. */
  return (from: number, boundaries: string[]): Delimiter | undefined => {
    let at = boundaries.length === 0 ? -1 : mail.indexOf('\n--', from);
    for (; at !== -1; at = mail.indexOf('\n--', at + 1)) {
      if (++dashes > DASHES) return undefined;
      const newline = mail.indexOf('\n', at + 1);
      const next = newline === -1 ? mail.length : newline;
      const line = mail.toString('latin1', at + 3, Math.min(next, at + 303)).trimEnd();
      const depth = boundaries.findLastIndex((one) => line === one || line === `${one}--`);
      const end = mail[at - 1] === 13 ? at - 1 : at;
      if (depth !== -1) return { end, next, depth, isLast: line !== boundaries[depth] };
    }
    return { end: mail.length, next: mail.length, depth: -1, isLast: false };
  };
}

/** @returns undefined when the head is too long, or has characters that programs read differently. */
function findBody(mail: Buffer, start: number, end: number): number | undefined {
  const head = mail.toString('latin1', start, Math.min(end, start + HEADS));
  const blank = /(?:^|\n)\r?\n/.exec(head);
  const length = blank === null ? head.length : blank.index + blank[0].length;
  const isWhole = blank !== null || head.length < HEADS;
  return isWhole && !/\0|\r(?!\n|$)/.test(head.slice(0, length)) ? start + length : undefined;
}

/** postal-mime tells names of files, but not of texts, so texts get another type. */
const readHead = async (head: string): Promise<Email> =>
  PostalMime.parse(Buffer.from(head.replace(/^(content-type:\s*)text\//im, '$1x-text/'), 'latin1'));

/**
 * Finds the parts of a mail. Bodies are not read, so that little of 40 MB is copied.
 *
 * @returns undefined when it is no mail of a person, such as with thousands of parts.
 */
export async function splitMail(
  mail: Buffer,
): Promise<{ head: Email; parts: MailPart[] } | undefined> {
  const findDelimiter = createFindDelimiter(mail);
  const parts: MailPart[] = [];
  const open: { boundary: string; alternative: number | undefined }[] = [];
  const find = (from: number) =>
    findDelimiter(
      from,
      open.map(({ boundary }) => boundary),
    );
  let root: Email | undefined;
  let heads = 0;
  for (let start = 0, count = 0; ; count++) {
    let delimiter = find(Math.max(0, start - 1));
    const body = delimiter && findBody(mail, start, delimiter.end);
    if (!delimiter || body === undefined || count > PARTS || open.length > DEPTH) return undefined;
    heads += body - start;
    if (heads > HEADS) return undefined;
    const head = await readHead(mail.toString('latin1', start, body));
    root ??= head;
    const type = parseType(
      head.headers.find(({ key }) => key === 'content-type')?.value.replace(/^x-(?=text)/i, '') ??
        '',
    );
    const boundary = findBoundary(type);
    const alternative = open.at(-1)?.alternative;
    if (boundary === undefined) {
      parts.push({
        head,
        type,
        body: mail.subarray(body, Math.max(body, delimiter.end)),
        alternative,
      });
    } else {
      open.push({ boundary, alternative: type.subtype === 'alternative' ? count : alternative });
      delimiter = find(body - 1);
    }
    while (delimiter?.isLast) {
      open.length = delimiter.depth;
      delimiter = find(delimiter.next);
    }
    if (!delimiter) return undefined;
    if (delimiter.depth === -1) return { head: root, parts };
    open.length = delimiter.depth + 1;
    start = delimiter.next + 1;
  }
}
