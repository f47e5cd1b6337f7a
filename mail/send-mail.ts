/** What a transport of mails, such as mail/ses.ts, gets. */

export interface Mail {
  to: string;
  /** An address, maybe with a name (RFC 5322). Printable ASCII. */
  from: string;
  replyTo?: string;
  /** One line of at most 250 UTF-16 units. */
  subject: string;
  text: string;
  html: string;
  /** Printable ASCII. */
  headers: Record<string, string>;
  /** Come back with a bounce. Letters, digits, `-` and `_`. */
  tags: Record<string, string>;
}

/**
 * Sends a mail before the signal aborts.
 *
 * @throws MailRejected, AddressRejected, RateLimited; other errors may pass.
 */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<void>;

/** A retry would be refused. */
export class MailRejected extends Error {
  override readonly name: string = 'MailRejected';
}

/** An address is refused. */
export class AddressRejected extends MailRejected {
  override readonly name = 'AddressRejected';
}

/** Accepted when fewer are sent. */
export class RateLimited extends Error {
  override readonly name = 'RateLimited';
}
