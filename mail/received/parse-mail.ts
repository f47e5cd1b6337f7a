import { convert } from 'html-to-text';
import PostalMime, { addressParser, type Email } from 'postal-mime';
import { toMailbox } from '../../text/mailbox.ts';

export interface ReceivedMail {
  /** Lower case. Undefined unless From is one address that all readers take for the same. */
  from: string | undefined;
  subject: string;
  /** Plain; quoted lines of an HTML mail begin with `> `. */
  text: string;
  /** The names. */
  attachments: string[];
  messageId: string | undefined;
  isAutomatic: boolean;
}

/** Deeper and longer ones are no mails of persons. */
const LIMITS = { maxNestingDepth: 30, maxHeadersSize: 200_000, forceRfc822Attachments: true };
/** UTF-16 units of HTML that are looked at. */
const HTML_LIMIT = 200_000;

/** Bytes of a part's body, and of all bodies, that are looked at. */
const PART_LIMIT = 512 * 1024;
const BODY_LIMIT = 4 * PART_LIMIT;
/** Lines of headers and boundaries. */
const LINES_LIMIT = 50_000;
const BOUNDARY = /boundary\s*=\s*"?([^";\r\n]+)/i;

/** Shortens each body, and leaves headers and boundaries: of 40 MB, postal-mime would make 1 GB. */
function shorten(raw: Uint8Array): Uint8Array {
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.length);
  const boundaries = new Set<string>();
  let isHeader = true;
  let [length, lines, part, all] = [0, 0, 0, 0];
  for (let start = 0, end; start < mail.length && lines < LINES_LIMIT; start = end) {
    end = mail.indexOf('\n', start) + 1 || mail.length;
    const line = mail.subarray(start, end);
    const text = line.toString('latin1', 0, 1_000).trimEnd();
    if (boundaries.has(text.replace(/--$/, ''))) [isHeader, part] = [true, 0];
    const [, boundary] = (isHeader && BOUNDARY.exec(text)) || [];
    if (boundary !== undefined) boundaries.add(`--${boundary}`);
    if (isHeader) lines++;
    else [part, all] = [part + line.length, all + line.length];
    const isKept = isHeader || (part <= PART_LIMIT && all <= BODY_LIMIT);
    if (isKept) length += line.copy(mail, length);
    isHeader &&= text !== '';
  }
  return mail.subarray(0, length);
}

/** Colons are in no address, but in a source route (RFC 5321, appendix C) and a group. */
const ADDRESS = /[^\s<>"'(),:;]+@[^\s<>"'(),:;]+/g;

function findSender({ headers }: Email): string | undefined {
  const [line, ...others] = headers.filter(({ key }) => key === 'from');
  const [sender, ...more] = addressParser(line?.value ?? '');
  const address = toMailbox(sender?.address ?? '')?.toLowerCase();
  // A second address could be the one that DMARC was checked for.
  const named = line?.value.match(ADDRESS) ?? [];
  const isOne = named.every((one) => toMailbox(one)?.toLowerCase() === address);
  return others.length + more.length === 0 && isOne ? address : undefined;
}

/** By S/MIME or PGP. */
const SIGNATURE = /^application\/(?:(?:x-)?pkcs7|pgp)-signature$/;

/** What RFC 3834 and RFC 2919 name, and what programs send instead. */
const AUTOMATIC: Record<string, RegExp> = {
  'auto-submitted': /^(?!\s*no\s*(?:;|$))/i,
  'return-path': /^\s*<\s*>\s*$/,
  precedence: /^\s*(?:bulk|junk|list|auto_reply)\s*$/i,
  'list-id': /^/,
  'content-type': /^\s*multipart\/report\b/i,
  'x-auto-response-suppress': /^/,
  'x-autoreply': /^/,
  'x-autorespond': /^/,
};

const toText = ({ text = '', html = '' }: Email): string =>
  text.trim() !== ''
    ? text
    : convert(html.slice(0, HTML_LIMIT), {
        wordwrap: false,
        limits: { maxDepth: 100 },
        selectors: [
          { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
          { selector: 'img', format: 'skip' },
          { selector: 'hr', format: 'skip' },
        ],
      }).replaceAll(/\n(?:[^\S\n]*\n){2,}/g, '\n\n');

/**
 * @param raw - Is changed.
 * @param source - The envelope's sender.
 * @returns undefined when it is no mail of a person, such as with thousands of nested parts.
 */
export async function parseMail(
  raw: Uint8Array,
  source: string,
): Promise<ReceivedMail | undefined> {
  const email = await PostalMime.parse(shorten(raw), LIMITS).catch(() => undefined);
  return (
    email && {
      from: findSender(email),
      subject: email.subject ?? '',
      text: toText(email),
      attachments: email.attachments
        .filter(({ mimeType }) => !SIGNATURE.test(mimeType))
        .map(({ filename, mimeType }) => filename ?? mimeType),
      messageId: email.messageId,
      isAutomatic:
        /^(?:<>)?$/.test(source.trim()) ||
        email.headers.some(({ key, value }) => AUTOMATIC[key]?.test(value)),
    }
  );
}
