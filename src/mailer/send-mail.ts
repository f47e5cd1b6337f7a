/** What the mailer asks of a transport of mails, such as SES (src/mailer/ses.ts). */

export interface Mail {
  to: string;
  /** An address, or a name and an address (RFC 5322). Printable ASCII. */
  from: string;
  replyTo?: string;
  /** At most 250 UTF-16 units in one line. */
  subject: string;
  text: string;
  html: string;
  /** Printable ASCII. */
  headers: Record<string, string>;
  /** Reported with a bounce. Letters, digits, `-` and `_`. */
  tags: Record<string, string>;
}

/**
 * Sends a mail within the time of a signal.
 *
 * @throws MailRejected, AddressRejected, RateLimited; anything else may succeed later.
 */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<void>;

/** The transport would refuse the mail again. */
export class MailRejected extends Error {
  override readonly name: string = 'MailRejected';
}

/** It refuses one of the addresses. */
export class AddressRejected extends MailRejected {
  override readonly name = 'AddressRejected';
}

/** It takes the mail as soon as fewer are sent. */
export class RateLimited extends Error {
  override readonly name = 'RateLimited';
}
