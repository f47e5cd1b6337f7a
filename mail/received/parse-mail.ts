import { isUtf8 } from 'node:buffer';
import { addressParser, decodeWords, type Email } from 'postal-mime';
import { toMailbox } from '../../text/mailbox.ts';
import { isBlank } from '../../text/visible.ts';
import { isAutomatic } from './automatic.ts';
import { createToText, UNREAD } from './html-text.ts';
import { splitMail, type MailPart } from './split-mail.ts';

export interface ReceivedFile {
  name: string;
  type: string;
  read: () => Buffer;
}

export interface ReceivedMail {
  /** Lower case. Undefined unless From is one address that all readers take for the same. */
  from: string | undefined;
  subject: string;
  /** Plain; quoted lines of an HTML mail begin with `> `. U+FFFD is what cannot be read. */
  text: string;
  attachments: ReceivedFile[];
  messageId: string | undefined;
  isAutomatic: boolean;
}

/** Bytes of a text that are looked at; an HTML text may have pictures. */
const LIMITS = { plain: 1024 * 1024, html: 8 * 1024 * 1024 };

/** UTF-16 units of From, a line of RFC 5322. */
const FROM_LIMIT = 998;
/** Colons are in no address, but in a source route (RFC 5321, appendix C) and a group. */
const ADDRESS = /[^\s<>"'(),:;]+@[^\s<>"'(),:;]+/g;
/** Text of the writer's own, which can have any address. */
const NAME = /"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)/g;

function findSender({ headers }: Email): string | undefined {
  const [line, ...others] = headers.filter(({ key }) => key === 'from');
  const value = line?.value ?? '';
  if (value.length > FROM_LIMIT) return undefined;
  const [sender, ...more] = addressParser(value);
  const address = toMailbox(sender?.address ?? '')?.toLowerCase();
  // A second address could be the one that DMARC was checked for.
  const named = value.replaceAll(NAME, ' ').match(ADDRESS) ?? [];
  const isOne = named.every((one) => [undefined, address].includes(toMailbox(one)?.toLowerCase()));
  return others.length + more.length === 0 && isOne ? address : undefined;
}

/** Also of lines that are padded each, at whose end Node would stop. */
function decodeBase64(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(Math.ceil(text.length * 0.75));
  let length = 0;
  for (const [unit] of text.matchAll(/[^=]+/g)) length += bytes.write(unit, length, 'base64');
  return bytes.subarray(0, length);
}

const encodingOf = ({ head }: MailPart): string =>
  head.headers.find(({ key }) => key === 'content-transfer-encoding')?.value.toLowerCase() ?? '';

function decodeBody(part: MailPart): Buffer {
  const encoding = encodingOf(part);
  if (encoding.includes('base64')) return decodeBase64(part.body.toString('latin1'));
  if (!encoding.includes('quoted-printable')) return part.body;
  const text = part.body
    .toString('latin1')
    .replaceAll(/=[ \t]*\r?\n/g, '')
    .replaceAll(/=([\da-f]{2})/gi, (_: string, code: string) =>
      String.fromCharCode(parseInt(code, 16)),
    );
  return Buffer.from(text, 'latin1');
}

/** Encodings of which ASCII, and so UTF-8, has all bytes. */
const STATEFUL = /^(?:utf-?16|ucs|iso-2022-jp)/i;
const UNKNOWN = /^(?:utf-?(?:7|32)|hz|iso-2022-(?:kr|cn))/i;

/** Labels are often wrong; a text that is valid UTF-8 hardly ever is something else. */
function decodeCharset(bytes: Buffer, label: string): string {
  if (UNKNOWN.test(label)) return UNREAD + bytes.toString('latin1');
  const isStateful = STATEFUL.test(label);
  if (!isStateful && bytes.includes('\x1b$')) return decodeCharset(bytes, 'iso-2022-jp');
  if (!isStateful && isUtf8(bytes)) return new TextDecoder().decode(bytes);
  const charset = label
    .replaceAll(/[^\w.-]/g, '')
    .replace(/^(?:utf-?8|us-ascii)?$/i, 'windows-1252');
  // Of UTF-8 with an error, most is read.
  if (charset !== label && isMostlyUtf8(bytes)) return new TextDecoder().decode(bytes);
  // postal-mime knows more names of charsets than Node, and takes windows-1252 for others.
  return decodeWords(`=?${charset}?B?${bytes.toString('base64')}?=`);
}

function isMostlyUtf8(bytes: Buffer): boolean {
  const text = new TextDecoder().decode(bytes);
  const wide = text.length - text.replaceAll(/[^\0-\x7F]/g, '').length;
  const unread = text.length - text.replaceAll(UNREAD, '').length;
  return wide > 2 * unread;
}

/** RFC 3676; quoted lines stay as they are. */
const unfold = (text: string, isSpaceDeleted: boolean): string =>
  text
    .replaceAll(/^((?!>|-- $).*) \n(?!>) ?/gm, isSpaceDeleted ? '$1' : '$1 ')
    .replaceAll(/^ /gm, '');

const SIGNED = '-----BEGIN PGP SIGNED MESSAGE-----\n';
const SIGNATURE = '\n-----BEGIN PGP SIGNATURE-----\n';

/** The text of a clear-signed one (RFC 9580, 7). */
function unwrapSigned(text: string): string {
  const end = text.lastIndexOf(SIGNATURE);
  if (!text.trimStart().startsWith(SIGNED) || end === -1) return text;
  return text.slice(text.indexOf('\n\n') + 2, end).replaceAll(/^- /gm, '');
}

function readText(part: MailPart, toText: (html: string) => string): string {
  const isHtml = part.type.subtype === 'html';
  const limit = isHtml ? LIMITS.html : LIMITS.plain;
  const body = part.body.subarray(0, limit);
  const { params } = part.type;
  const text = decodeCharset(decodeBody({ ...part, body }), params.get('charset') ?? '').replaceAll(
    '\r\n',
    '\n',
  );
  const isFlowed = params.get('format')?.toLowerCase() === 'flowed';
  const plain = isHtml
    ? toText(text)
    : unwrapSigned(isFlowed ? unfold(text, params.get('delsp')?.toLowerCase() === 'yes') : text);
  return part.body.length > limit ? plain + UNREAD : plain;
}

const nameOf = ({ head }: MailPart): string | undefined =>
  head.attachments[0]?.filename ?? undefined;
const idOf = ({ head }: MailPart): string =>
  head.attachments[0]?.contentId?.replaceAll(/[<>\s]/g, '') ?? '';

const isText = (part: MailPart): boolean =>
  ['text/plain', 'text/html'].includes(part.type.essence) &&
  nameOf(part) === undefined &&
  part.head.attachments[0]?.disposition !== 'attachment';

const WORDS = 50;

/** Whether a program has put it in place of the HTML text, such as “Your program shows no HTML”. */
function isPlaceholder(plain: string, html: string): boolean {
  if (isBlank(plain)) return true;
  const letters = html.replaceAll(/[^\p{L}\p{N}]/gu, '');
  const words = (plain.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, WORDS);
  const known = words.filter((word) => letters.includes(word));
  return letters !== '' && known.length < words.length / 2;
}

/** One of those that say the same. */
function chooseText(parts: MailPart[], toText: (html: string) => string): string {
  const read = (subtype: string): string =>
    parts
      .filter(({ type }) => type.subtype === subtype)
      .map((part) => readText(part, toText))
      .join('\n');
  const plain = read('plain');
  const html = read('html');
  return isPlaceholder(plain, html) && !isBlank(html) ? html : plain;
}

/** Attributes of files are level 2 ([MS-OXTNEF], 2.1.3). */
function hasTnefFiles(tnef: Buffer): boolean {
  for (let at = 6; at + 9 <= tnef.length; at += 11 + tnef.readUInt32LE(at + 5)) {
    if (tnef[at] === 2) return true;
  }
  return false;
}

/** By S/MIME or PGP. */
const SIGNATURES = /^application\/(?:(?:x-)?pkcs7|pgp)-signature$/;

/** A picture in the text, or what says the same as it, is none. */
function isFile(part: MailPart, html: string): boolean {
  const { type, alternative } = part;
  const [file] = part.head.attachments;
  const id = idOf(part);
  const isShown =
    id !== '' &&
    (html.includes(`cid:${id}`) || (type.type === 'image' && file?.disposition !== 'attachment'));
  if (isShown || isText(part) || SIGNATURES.test(type.essence)) return false;
  if (/\/(?:vnd\.)?ms-tnef$/.test(type.essence)) return hasTnefFiles(decodeBody(part));
  return alternative === undefined || nameOf(part) !== undefined;
}

async function readMail(raw: Uint8Array, source: string): Promise<ReceivedMail | undefined> {
  const split = await splitMail(Buffer.from(raw.buffer, raw.byteOffset, raw.length));
  if (split === undefined) return undefined;
  const { head, parts } = split;
  const texts = Map.groupBy(parts.filter(isText), (part) => part.alternative ?? part);
  const html = parts
    .filter((part) => isText(part) && part.type.subtype === 'html')
    .map((part) =>
      decodeBody({ ...part, body: part.body.subarray(0, LIMITS.html) }).toString('latin1'),
    )
    .join('\n');
  const files = parts.filter((part) => isFile(part, html));
  const shown = parts.filter((part) => !isText(part) && !files.includes(part));
  const names = new Set(shown.flatMap((part) => [`cid:${idOf(part)}`, `image: ${nameOf(part)}`]));
  const toText = createToText();
  const text = [...texts.values()]
    .map((same) => chooseText(same, toText))
    .join('\n')
    .replaceAll(/\[((?:cid:|image: )[^\]\n]{1,300})\]/g, (found: string, name: string) =>
      names.has(name) ? '' : found,
    );
  return {
    from: findSender(head),
    subject: head.subject ?? '',
    text,
    attachments: files.map((part) => ({
      name: nameOf(part) ?? part.type.essence,
      type: part.type.essence,
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
