import { randomUUID } from 'node:crypto';
import type { SESMessage, SESReceiptStatus, SQSEvent } from 'aws-lambda';
import type { Table } from '../../../src/entities/table.ts';
import { createReplyKeys } from '../../../src/entities/reply-keys.ts';
import { createReplyAddresses, type ReplyKind } from '../../../mail/reply-addresses.ts';
import { MAIL_SETTINGS } from '../mail-settings.ts';
import { MARKER } from '../../../mail/team-mails.ts';

export const RECEIVER_SETTINGS = {
  replyDomain: 'reply.example.com',
  files: true,
  replyFrom: ['@example.com'],
  mailBucket: 'mails',
  retentionDays: undefined,
  inquiriesPerHour: undefined,
};

export interface NewMail {
  from?: string;
  subject?: string;
  text?: string;
  headers?: string;
  messageId?: string;
  raw?: Uint8Array;
  source?: string;
  verdicts?: Partial<Record<'dmarc' | 'spam' | 'virus', SESReceiptStatus['status']>>;
}

const QUOTE = `\n\nOn 26 Nov 2026, at 10:00, ${MAIL_SETTINGS.inboxFrom} wrote:\n\n> ${MARKER}\n>\n> | b\n`;

export const quoting = (text: string): string => text + QUOTE;

export function deliverMail(
  { rawMails }: { rawMails: Map<string, Uint8Array> },
  to: string | string[],
  { from = 'Olga <olga@example.com>', subject = 'Re: s', text = quoting('Yes.'), ...mail }: NewMail,
): SESMessage {
  const messageId = randomUUID();
  const { headers = '', messageId: header = `${messageId}@example.com`, raw } = mail;
  const head = `From: ${from}\nSubject: ${subject}\nMessage-ID: <${header}>\n${headers}`;
  rawMails.set(messageId, raw ?? Buffer.from(`${head}\n${text}`));
  const verdict = (name: 'dmarc' | 'spam' | 'virus') => ({
    status: mail.verdicts?.[name] ?? 'PASS',
  });
  return {
    mail: {
      messageId,
      source: mail.source ?? 'olga@example.com',
      commonHeaders: { from: [from], subject },
    },
    receipt: {
      recipients: [to].flat(),
      dmarcVerdict: verdict('dmarc'),
      spamVerdict: verdict('spam'),
      virusVerdict: verdict('virus'),
    },
  } as SESMessage;
}

/** What the receiver takes from its queue: SES's event, or a text. @param times - How often it was. */
export function toQueueEvent(message: SESMessage | string, times = 2) {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return {
    Records: [{ body, attributes: { ApproximateReceiveCount: String(times) } }],
  } as SQSEvent;
}

export const createAddress = async (
  { client, table: name }: { client: Table['client']; table: string },
  kind: ReplyKind,
  id: string,
  now?: () => number,
): Promise<string> =>
  createReplyAddresses(
    createReplyKeys({ client, name }),
    RECEIVER_SETTINGS.replyDomain,
    now,
  ).create(kind, id, AbortSignal.timeout(60_000));
