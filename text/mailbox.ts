const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const MAILBOX = new RegExp(`^(?=.{1,64}@)${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+${LABEL}$`);

/** Converts to Punycode; empty if it is no domain name. */
const toAscii = (domain: string): string =>
  URL.canParse(`http://${domain}`) ? new URL(`http://${domain}`).hostname : '';

/**
 * Converts a text to an address that SES takes: a dot-atom of ASCII (RFC 5321, 4.1.2), `@`, and a domain name in ASCII
 * or Punycode. Encoded words (RFC 2047) are refused: some programs decode them anywhere.
 *
 * @returns undefined for any other text.
 */
export function toMailbox(text: string): string | undefined {
  if (text.includes('=?')) return undefined;
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1);
  // `URL` drops or maps characters that are invisible or not normalized.
  const isInternational =
    /\P{ASCII}/u.test(domain) &&
    /^[\p{L}\p{M}\p{N}.-]+$/u.test(domain) &&
    !/\p{Default_Ignorable_Code_Point}/u.test(domain) &&
    domain === domain.normalize('NFKC');
  const mailbox = isInternational ? `${text.slice(0, at)}@${toAscii(domain)}` : text;
  return MAILBOX.test(mailbox) && mailbox.length <= 254 ? mailbox : undefined;
}
