import { isCurrent } from '../src/entities/expiry.ts';
import { isTestAddress } from '../src/limits.ts';
import { recordSent, type MailerParts } from './attempt.ts';
import type { Result } from './log.ts';
import { isBeyond, type FullHour } from './mail-quotas.ts';
import { createAcknowledgementMail, createReplyMail } from './owner-mails.ts';
import { parseRow, type MailedInquiry, type MailKind, type Row } from './rows.ts';
import { AddressRejected } from './send-mail.ts';
import { createInquiryMail } from './team-mails.ts';

interface Options {
  signal: AbortSignal;
  /** Whether to send also what was sent before or exceeds a quota. */
  again?: boolean;
}

export function createDeliver({ store, send, config, now }: MailerParts) {
  const { addresses, inquiries, deliveries, quotas } = store;
  /** `create` returns undefined if the owner cannot get mail. Replies are unlimited. */
  const kinds = {
    inquiry: { create: createInquiryMail, claim: quotas.claim },
    reply: { create: createReplyMail, claim: undefined },
    acknowledgement: { create: createAcknowledgementMail, claim: quotas.claimAcknowledgement },
  };
  let full: FullHour | undefined;

  async function createReplyAddress(
    { id, isEmailVerified }: MailedInquiry,
    kind: MailKind,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (!addresses) return undefined;
    if (kind === 'inquiry') return addresses.create('r', id, signal);
    const isFollowed = config.followUps && isEmailVerified;
    return isFollowed ? addresses.create('f', id, signal) : undefined;
  }

  const readFollowed = async ({ follows, ...keys }: MailedInquiry, signal: AbortSignal) =>
    follows === undefined ? undefined : inquiries.read({ ...keys, id: follows }, signal);

  return async function deliver(
    row: Row,
    kind: MailKind,
    { signal, again = false }: Options,
  ): Promise<Result> {
    const inquiry = parseRow(row);
    const { id, email, isEmailVerified } = inquiry;
    if (kind === 'acknowledgement' && !isEmailVerified) return { outcome: 'idle' };
    // Nobody reads the smoke test's mails.
    if (isTestAddress(email)) return { outcome: 'idle' };
    if (kind === 'inquiry' && !again && isBeyond(id, full)) return { outcome: 'withheld' };
    if (!isCurrent(row, now())) return { outcome: 'expired' };
    const [isStored, delivery] = await Promise.all([
      inquiries.exists(inquiry, signal),
      again ? null : deliveries.read(id, kind, signal),
    ]);
    if (!isStored) return { outcome: 'erased' };
    if (delivery !== null && delivery.undelivered !== 'refused') {
      return { outcome: 'already-sent' };
    }

    const since = new Date().toISOString();
    const { create, claim } = kinds[kind];
    const replyAddress = await createReplyAddress(inquiry, kind, signal);
    const before = kind === 'inquiry' ? await readFollowed(inquiry, signal) : undefined;
    const mail = create(inquiry, config, { replyAddress, before });
    // The mail to the team says so.
    if (mail === undefined) return { outcome: kind === 'reply' ? 'no-address' : 'idle' };
    const claimed = again ? undefined : await claim?.(inquiry, signal);
    if (claimed && 'refused' in claimed) {
      full = claimed.refused ?? full;
      return { outcome: 'withheld' };
    }
    await send(mail, signal).catch(async (error: unknown) => {
      // The owner's address in Reply-To was refused.
      const isOwners = kind === 'inquiry' && replyAddress === undefined;
      if (!(error instanceof AddressRejected && isOwners)) throw error;
      await send(createInquiryMail(inquiry, config, { before, withReplyTo: false }), signal);
    });
    return recordSent((recordSignal) => deliveries.record(id, kind, since, recordSignal));
  };
}
