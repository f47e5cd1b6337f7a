import { addressParser, type Email } from 'postal-mime';
import { toMailbox } from '../../text/mailbox.ts';
import { isBlank } from '../../text/visible.ts';
import { isAutomatic } from './automatic.ts';
import { decodeBody, decodeCharset } from './decode.ts';
import { createToText, UNREAD } from './html-text.ts';
import { splitMail, type MailPart } from './split-mail.ts';

export interface ReceivedFile {
  name: string;
  type: string;
  /** Bytes before decoding. */
  size: number;
  read: () => Buffer;
}

export interface ReceivedMail {
  /** In lower case. Undefined if From is not one address that all readers take for the same. */
  from: string | undefined;
  subject: string;
  /** Quoted lines of an HTML mail begin with `> `. U+FFFD stands for what cannot be read. */
  text: string;
  attachments: ReceivedFile[];
  messageId: string | undefined;
  isAutomatic: boolean;
}

/** Bytes of a text that are read. An HTML text may contain pictures. */
const LIMITS = { plain: 1024 * 1024, html: 3 * 1024 * 1024 };
/** Lines of a plain text that are read, because each takes memory of its own. */
const LINES = 20_000;
/** Ends a line of a mail, also where it is a carriage return alone. */
export const LINE_END = /\r\n?|\n/;

/** UTF-16 units of From, as many as a line may have (RFC 5322). */
const FROM_LIMIT = 998;
/** Colons are in no address but in source routes (RFC 5321, appendix C) and groups. */
const ADDRESS = /[^\s<>"'(),:;]+@[^\s<>"'(),:;]+/g;
/** Names and comments, in which the writer can put any address. */
const NAME = /"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)/g;

function findSender({ headers }: Email): string | undefined {
  const [line, ...others] = headers.filter(({ key }) => key === 'from');
  const value = line?.value ?? '';
  if (value.length > FROM_LIMIT) return undefined;
  const [sender, ...more] = addressParser(value);
  const address = toMailbox(sender?.address ?? '')?.toLowerCase();
  // DMARC may have been checked for a second address.
  const named = value.replaceAll(NAME, ' ').match(ADDRESS) ?? [];
  const isOne = named.every((one) => [undefined, address].includes(toMailbox(one)?.toLowerCase()));
  return others.length + more.length === 0 && isOne ? address : undefined;
}

/** Joins flowed lines (RFC 3676), but not quoted ones. */
const unfold = (text: string, isSpaceDeleted: boolean): string =>
  text
    .replaceAll(/ \n(?<=^(?!>|-- $).* \n)(?!>) ?/gm, isSpaceDeleted ? '' : ' ')
    .replaceAll(/^ /gm, '');

const SIGNED = '-----BEGIN PGP SIGNED MESSAGE-----\n';
const SIGNATURE = '\n-----BEGIN PGP SIGNATURE-----\n';

/** Finds the text in a clear-signed one (RFC 9580, 7). */
function unwrapSigned(text: string): string {
  const end = text.lastIndexOf(SIGNATURE);
  if (!text.trimStart().startsWith(SIGNED) || end === -1) return text;
  return text.slice(text.indexOf('\n\n') + 2, end).replaceAll(/^- /gm, '');
}

interface DecodedText {
  part: MailPart;
  text: string;
  isWhole: boolean;
}

function decodeTexts(parts: MailPart[]): DecodedText[] {
  let left = LIMITS.html;
  return parts.map((part) => {
    const body = part.body.subarray(0, isHtml(part) ? left : Math.min(left, LIMITS.plain));
    left -= body.length;
    const all = decodeCharset(decodeBody({ ...part, body }), part.type.params.get('charset') ?? '');
    const isAllRead = body.length === part.body.length;
    if (isHtml(part)) return { part, text: all.replaceAll('\r\n', '\n'), isWhole: isAllRead };
    const lines = all.split(LINE_END, LINES + 1);
    const text = lines.slice(0, LINES).join('\n');
    return { part, text, isWhole: isAllRead && lines.length <= LINES };
  });
}

type ToText = ReturnType<typeof createToText>;

function readText({ part, text, isWhole }: DecodedText, toText: ToText): string {
  const { params } = part.type;
  const isFlowed = params.get('format')?.toLowerCase() === 'flowed';
  const isSpaceDeleted = params.get('delsp')?.toLowerCase() === 'yes';
  const plain = isHtml(part)
    ? toText(text)
    : unwrapSigned(isFlowed ? unfold(text, isSpaceDeleted) : text);
  return isWhole ? plain : plain + UNREAD;
}

const nameOf = ({ head }: MailPart): string | undefined =>
  head.attachments[0]?.filename ?? undefined;
const idOf = ({ head }: MailPart): string =>
  head.attachments[0]?.contentId?.replaceAll(/[<>\s]/g, '') ?? '';

const isHtml = ({ type }: MailPart): boolean => type.subtype === 'html';

/** @param isOnly - True for a mail without parts, whose text may have a name (zammad#5992). */
const isText = (part: MailPart, isOnly: boolean): boolean =>
  ['text/plain', 'text/html'].includes(part.type.essence) &&
  (isOnly || nameOf(part) === undefined) &&
  part.head.attachments[0]?.disposition !== 'attachment';

const WORDS = 50;

/** Whether the plain text only replaces the HTML text, such as “Your program shows no HTML”. */
function isPlaceholder(plain: string, html: string): boolean {
  if (isBlank(plain)) return true;
  const letters = html.replaceAll(/[^\p{L}\p{N}]/gu, '');
  const words: string[] = [];
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) if (words.push(word) === WORDS) break;
  const known = words.filter((word) => letters.includes(word));
  return letters !== '' && known.length < words.length / 2;
}

function chooseText(texts: DecodedText[], toText: ToText): string {
  const read = (some: DecodedText[]): string =>
    some.map((text) => readText(text, toText)).join('\n');
  const html = read(texts.filter(({ part }) => isHtml(part)));
  const plain = read(texts.filter(({ part }) => !isHtml(part)));
  return isPlaceholder(plain, html) && !isBlank(html) ? html : plain;
}

/** Attributes of files have level 2 ([MS-OXTNEF], 2.1.3). */
function hasTnefFiles(tnef: Buffer): boolean {
  for (let at = 6; at + 9 <= tnef.length; at += 11 + tnef.readUInt32LE(at + 5)) {
    if (tnef[at] === 2) return true;
  }
  return false;
}

const CID = /\bcid:([^"'\s>)]{1,300})/g;

const SIGNATURES = /^application\/(?:(?:x-)?pkcs7|pgp)-signature$/;

/**
 * Pictures in the text and other forms of it are no files.
 *
 * @param named - Ids that the HTML text names.
 */
function isFile(part: MailPart, named: ReadonlySet<string>, isOnly: boolean): boolean {
  const { type, alternative } = part;
  const [file] = part.head.attachments;
  const id = idOf(part);
  const isPicture = type.type === 'image' && file?.disposition !== 'attachment';
  if (id !== '' && (named.has(id) || isPicture)) return false;
  if (isText(part, isOnly) || SIGNATURES.test(type.essence)) return false;
  if (/\/(?:vnd\.)?ms-tnef$/.test(type.essence)) return hasTnefFiles(decodeBody(part));
  return alternative === undefined || nameOf(part) !== undefined;
}

function removeNames(text: string, pictures: MailPart[]): string {
  const names = new Set(
    pictures.flatMap((part) => [`cid:${idOf(part)}`, `image: ${nameOf(part)}`]),
  );
  return text.replaceAll(/\[((?:cid:|image: )[^\]\n]{1,300})\]/g, (found: string, name: string) =>
    names.has(name) ? '' : found,
  );
}

async function readMail(raw: Uint8Array, source: string): Promise<ReceivedMail | undefined> {
  const split = await splitMail(Buffer.from(raw.buffer, raw.byteOffset, raw.length));
  if (split === undefined) return undefined;
  const { head, parts } = split;
  const isOnly = parts.length === 1;
  const texts = decodeTexts(parts.filter((part) => isText(part, isOnly)));
  const html = texts.filter(({ part }) => isHtml(part)).map(({ text }) => text);
  const named = html.flatMap((text) => Array.from(text.matchAll(CID), ([, id = '']) => id));
  const ids = new Set(named);
  const files = Map.groupBy(parts, (part) => isFile(part, ids, isOnly));
  const toText = createToText();
  const same = Map.groupBy(texts, ({ part }) => part.alternative ?? part);
  const all = [...same.values()].map((one) => chooseText(one, toText)).join('\n');
  const text = removeNames(all, files.get(false) ?? []);
  return {
    from: findSender(head),
    subject: head.subject ?? '',
    text,
    attachments: (files.get(true) ?? []).map((part) => ({
      name: nameOf(part) ?? part.type.essence,
      type: part.type.essence,
      size: part.body.length,
      read: () => decodeBody(part),
    })),
    messageId: head.messageId,
    isAutomatic: isAutomatic(head, source, parts, text),
  };
}

/**
 * @param source - The envelope's sender.
 * @returns undefined when it is no mail of a person, such as with thousands of nested parts.
 */
export const parseMail = async (
  raw: Uint8Array,
  source: string,
): Promise<ReceivedMail | undefined> => readMail(raw, source).catch(() => undefined);
