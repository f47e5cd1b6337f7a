import { isUtf8 } from 'node:buffer';
import { decodeWords } from 'postal-mime';
import { UNREAD } from './html-text.ts';
import type { MailPart } from './split-mail.ts';

/** Decodes also lines with padding each, at which Node would stop. */
function decodeBase64(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(Math.ceil(text.length * 0.75));
  let length = 0;
  for (const [unit] of text.matchAll(/[^=]+/g)) length += bytes.write(unit, length, 'base64');
  return bytes.subarray(0, length);
}

const [EQUALS, NEWLINE] = [0x3d, 0x0a];
/** A line of RFC 2045 has 76 characters. */
const LINE = 80;

const DIGITS = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? 16 : digit;
});

function decodeQuotedPrintable(body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(body.length);
  let length = 0;
  for (let at = 0; at < body.length; at++) {
    bytes[length++] = body[at] ?? 0;
    if (body[at] !== EQUALS) continue;
    const [high = 16, low = 16] = [DIGITS[body[at + 1] ?? 0], DIGITS[body[at + 2] ?? 0]];
    if (high < 16 && low < 16) {
      bytes[length - 1] = high * 16 + low;
      at += 2;
      continue;
    }
    const end = body.subarray(at, at + LINE).indexOf(NEWLINE);
    if (end === -1 || body.toString('latin1', at + 1, at + end).trim() !== '') continue;
    length--;
    at += end;
  }
  return bytes.subarray(0, length);
}

export function decodeBody({ head, body }: MailPart): Buffer {
  const encoding =
    head.headers.find(({ key }) => key === 'content-transfer-encoding')?.value.toLowerCase() ?? '';
  if (encoding.includes('base64')) return decodeBase64(body.toString('latin1'));
  return encoding.includes('quoted-printable') ? decodeQuotedPrintable(body) : body;
}

/** Their bytes are valid ASCII, and so UTF-8, or have another width. */
const STATEFUL = /^(?:utf-?16|ucs|iso-2022-jp)/i;
const UNKNOWN = /^(?:utf-?(?:7|32)|hz|iso-2022-(?:kr|cn))/i;

/** Labels are often wrong, and a text that is valid UTF-8 is hardly ever something else. */
export function decodeCharset(bytes: Buffer, label: string): string {
  if (UNKNOWN.test(label)) return UNREAD + bytes.toString('latin1');
  const isStateful = STATEFUL.test(label);
  if (!isStateful && bytes.includes('\x1b$')) return decodeCharset(bytes, 'iso-2022-jp');
  if (!isStateful && isUtf8(bytes)) return new TextDecoder().decode(bytes);
  const charset = label
    .replaceAll(/[^\w.-]/g, '')
    .replace(/^(?:utf-?8|us-ascii)?$/i, 'windows-1252');
  // Most of a UTF-8 text with an error can be read.
  if (charset !== label && isMostlyUtf8(bytes)) return new TextDecoder().decode(bytes);
  // postal-mime knows more names of charsets than Node, and takes windows-1252 for others.
  return decodeWords(`=?${charset}?B?${bytes.toString('base64')}?=`);
}

/** Bytes. */
const SAMPLE = 64 * 1024;

function isMostlyUtf8(bytes: Buffer): boolean {
  const text = new TextDecoder().decode(bytes.subarray(0, SAMPLE));
  const wide = text.length - text.replaceAll(/[^\0-\x7F]/g, '').length;
  const unread = text.length - text.replaceAll(UNREAD, '').length;
  return wide > 2 * unread;
}
