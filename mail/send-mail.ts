export interface MailFile {
  /** At most 255 UTF-16 units. */
  name: string;
  type: string;
  data: Uint8Array;
}

export interface Mail {
  to: string;
  /** An address, maybe with a name (RFC 5322). Printable ASCII. */
  from: string;
  replyTo?: string | undefined;
  /** One line of at most 250 UTF-16 units. */
  subject: string;
  text: string;
  html: string;
  /** Printable ASCII. */
  headers: Record<string, string>;
  /** SES returns them in its event about a bounce. They consist of letters, digits, `-` and `_`. */
  tags: Record<string, string>;
  files?: MailFile[];
}

/**
 * Sends a mail before the signal aborts.
 *
 * @throws MailRejected, AddressRejected, RateLimited; after any other error a retry may succeed.
 */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<void>;

export class MailRejected extends Error {
  override readonly name: string = 'MailRejected';
}

export class AddressRejected extends MailRejected {
  override readonly name = 'AddressRejected';
}

/** SES accepts no more mails a second; a later retry succeeds. */
export class RateLimited extends Error {
  override readonly name = 'RateLimited';
}
