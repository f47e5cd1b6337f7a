import type { Result } from './attempt.ts';
import { recordSent } from './attempt.ts';
import type { MailerConfig } from './config.ts';
import { createAcknowledgementMail, createReplyMail } from './owner-mails.ts';
import { isOfTest, parseRow, type MailedInquiry, type MailKind, type Row } from './rows.ts';
import { AddressRejected, type Mail, type SendMail } from './send-mail.ts';
import type { MailerStore } from './store.ts';
import { createInquiryMail } from './team-mails.ts';

export interface DeliverOptions {
  readonly signal: AbortSignal;
  /** True: also what was sent before or is beyond the quotas. */
  readonly again?: boolean;
  /** True: nothing is sent, and an inquiry that is not in the table is delivered, too (src/mailer/handler.ts). */
  readonly isTrial?: boolean;
}

export type Deliver = (row: Row, mail: MailKind, options: DeliverOptions) => Promise<Result>;

/** Creates the function that sends one mail about one inquiry, unless it was sent before or is not to be sent. */
export function createDeliver({
  store: { inquiries, deliveries, quotas },
  send,
  config,
  now,
}: {
  readonly store: MailerStore;
  readonly send: SendMail;
  readonly config: MailerConfig;
  readonly now: () => number;
}): Deliver {
  const claim = {
    inquiry: quotas.claim,
    acknowledgement: quotas.claimAcknowledgement,
    // Replies are not limited.
    reply: async () => true,
  };

  /** @returns undefined when no mail can be sent to the owner. */
  const createMail = (mail: MailKind, inquiry: MailedInquiry): Mail | undefined =>
    mail === 'inquiry'
      ? createInquiryMail(inquiry, config)
      : mail === 'reply'
        ? createReplyMail(inquiry, config)
        : createAcknowledgementMail(inquiry, config);

  /** Sends a mail, without Reply-To when the transport refuses the owner's address there. */
  async function sendMail(mail: Mail, inquiry: MailedInquiry, signal: AbortSignal): Promise<void> {
    try {
      await send(mail, signal);
    } catch (error) {
      const isOwners = mail.to === config.inboxTo && mail.replyTo !== undefined;
      if (!(error instanceof AddressRejected && isOwners)) throw error;
      await send(createInquiryMail(inquiry, config, false), signal);
    }
  }

  return async (row, kind, { signal, again = false, isTrial = false }) => {
    const inquiry = parseRow(row);
    if (kind === 'acknowledgement' && !inquiry.isEmailVerified) return { outcome: 'idle' };
    if (kind === 'inquiry' && !again && quotas.isRefused(inquiry)) return { outcome: 'withheld' };
    if (Number(row['expires_at']) * 1_000 <= now()) return { outcome: 'expired' };
    const [exists, delivery] = await Promise.all([
      inquiries.exists(inquiry, signal),
      again ? null : deliveries.read(inquiry.id, kind, signal),
    ]);
    if (!exists && !isTrial) return { outcome: 'erased' };
    if (!isTrial && delivery !== null && delivery.undelivered !== 'refused') {
      return { outcome: 'already-sent' };
    }

    const since = new Date().toISOString();
    const mail = createMail(kind, inquiry);
    // The mail to the team says that there is no address.
    if (mail === undefined) return { outcome: kind === 'reply' ? 'no-address' : 'idle' };
    if (!again && !(await claim[kind](inquiry, signal)) && !isTrial) {
      return { outcome: 'withheld' };
    }
    if (!isTrial) {
      // It has a place in the hour, so that no digest counts it.
      if (isOfTest(row)) return { outcome: 'erased' };
      await sendMail(mail, inquiry, signal);
    }
    return recordSent((recordSignal) => deliveries.record(inquiry.id, kind, since, recordSignal));
  };
}
