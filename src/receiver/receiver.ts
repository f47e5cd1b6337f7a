import type { SESMessage } from 'aws-lambda';
import { timeOf } from '../contract.ts';
import { digest } from '../entities/keys.ts';
import type { StoredInquiry } from '../entities/stored-inquiries.ts';
import { ApiError } from '../errors.ts';
import type { Inquiries } from '../inquiries.ts';
import { isUnsent, recordSent, type Invocation, type Sender } from '../mailer/attempt.ts';
import type { Result } from '../mailer/log.ts';
import { INDEX_LAG } from '../mailer/notices.ts';
import { toReplySubject } from '../mailer/owner-mails.ts';
import type { Mail } from '../mailer/send-mail.ts';
import { isLanguage } from '../text/languages.ts';
import type { ReceiverConfig } from './config.ts';
import { decide, type Decision } from './decide.ts';
import {
  createAnsweredMail,
  createPassedOnMail,
  createReturnedMail,
  type PassReason,
  type ReturnReason,
} from './mails.ts';
import { parseMail, type ReceivedMail } from './parse-mail.ts';

/** What SES has stored, by its id. */
export interface RawMails {
  /** @returns undefined once it was removed. */
  read(id: string): Promise<Uint8Array | undefined>;
  remove(id: string): Promise<void>;
}

export interface ReceiverParts extends Sender {
  config: ReceiverConfig;
  rawMails: RawMails;
  /** For the owner's next inquiry. */
  create: Inquiries['create'];
}

/** Errors of {@link Inquiries} that a retry would repeat. */
const REFUSED = new Set(['TOO_MANY_REQUESTS', 'PAYLOAD_TOO_LARGE', 'IDEMPOTENCY_KEY_REUSED']);

/**
 * Handles an event of SES about a mail to the domain of answers. What is answered, stored, sent back or passed on is so
 * once, however often the event comes. docs/adr/0085
 *
 * @throws Error when something can succeed later, so that Lambda repeats the event.
 */
export function createReceiver(parts: ReceiverParts) {
  const { store, send, config, attempt, now, rawMails, create } = parts;
  const { inquiries, deliveries, quotas, addresses } = store;

  /** What becomes of a mail at one of its recipients. */
  async function handleRecipient(
    recipient: string,
    mail: ReceivedMail | undefined,
    { mail: { messageId }, receipt }: SESMessage,
    { awsRequestId }: Invocation,
    signal: AbortSignal,
  ): Promise<Result> {
    const replyTo = recipient.toLowerCase();
    const address = addresses && (await addresses.parse(replyTo, signal));
    const inquiry = address && (await inquiries.find(address.id, signal));
    const about = { inquiry: address?.id };
    if (address && inquiry === undefined && timeOf(address.id) > now() - INDEX_LAG) {
      return { outcome: 'deferred', ...about };
    }

    const sendOnce = async (event: string, why: string, notice: Mail): Promise<Result> => {
      const told = { why, ...about };
      const claim = await deliveries.claimNotice(event, awsRequestId, signal);
      if (claim !== 'granted') {
        // Until the other invocation has sent it, the mail has to stay.
        return { outcome: claim === 'sent' ? 'already-sent' : 'deferred', ...told };
      }
      const since = new Date().toISOString();
      await send(notice, signal);
      const record = async (recordSignal: AbortSignal) =>
        deliveries.record(event, 'notice', since, recordSignal);
      return { ...(await recordSent(record)), ...told };
    };

    const pass = async (why: PassReason): Promise<Result> => {
      // Once for an inquiry, so that two programs that answer each other end; what comes back, too.
      const event =
        why === 'automatic' && address
          ? digest(why, address.id)
          : digest('passed-on', mail?.messageId ?? messageId);
      const isClaimed = await quotas.claimPassedOn(event, signal);
      if (!isClaimed) return { outcome: 'withheld', why, ...about };
      return sendOnce(event, why, createPassedOnMail(mail, why, inquiry, config));
    };

    async function act(
      decision: Decision,
      received: ReceivedMail,
      row: StoredInquiry,
    ): Promise<Result> {
      const { text, attachments } = received;
      const sendBack = async (from: string, why: ReturnReason, of = row): Promise<Result> => {
        const kind = digest('returned', row.id, from, why);
        const event = digest(kind, text);
        if (!(await quotas.claimReturned(kind, event, signal))) return pass('repeated');
        const returned = createReturnedMail(received, from, why, of, config, replyTo);
        return sendOnce(event, why, returned);
      };
      switch (decision.act) {
        case 'pass':
          return pass(decision.why);
        case 'return':
          return sendBack(decision.from, decision.why);
        case 'store': {
          const { cognito_sub: sub, email, subject } = row;
          const language = isLanguage(row.language) ? row.language : config.language;
          const request = {
            subject: toReplySubject(subject, language),
            body: [decision.body, ...attachments.map((name) => `[Not kept: ${name}]`)].join('\n'),
          };
          const key = received.messageId ?? messageId;
          const options = { key, language, isEmailVerified: true };
          try {
            await create({ sub, email }, request, { signal, attempts: 0 }, options);
            return { outcome: 'stored', ...about };
          } catch (error) {
            const isFinal = error instanceof ApiError && REFUSED.has(error.code);
            if (!isFinal) throw error;
            return pass('refused');
          }
        }
        case 'answer': {
          const { from, reply } = decision;
          const { status } = await inquiries.answer(row, { reply, respondent: from });
          if (status === 'not-found') return pass('gone');
          if (status === 'too-large') return sendBack(from, 'too-long');
          const stored = await inquiries.read(row, signal);
          if (stored === undefined) return pass('gone');
          // The same is this one, delivered again.
          const isOwn = stored.respondent === from && stored.reply === reply;
          if (!isOwn) return sendBack(from, 'answered', stored);
          const answered = createAnsweredMail(stored, config, replyTo);
          const told = await sendOnce(digest('answered', row.id), 'answered', answered);
          return attachments.length > 0 ? sendBack(from, 'attachments') : told;
        }
      }
    }

    const decision = decide(mail, receipt, address && { ...address, inquiry }, config);
    if (mail !== undefined && inquiry !== undefined) return act(decision, mail, inquiry);
    return pass(decision.act === 'pass' ? decision.why : 'gone');
  }

  return async (event: SESMessage, invocation: Invocation) => {
    const { mail, receipt } = event;
    const raw = await rawMails.read(mail.messageId);
    if (raw === undefined) return [];
    const received = await parseMail(raw, mail.source);
    const outcomes: string[] = [];
    for (const recipient of receipt.recipients) {
      const { outcome } = await attempt(invocation, { mail: 'received' }, async (signal) =>
        handleRecipient(recipient, received, event, invocation, signal),
      );
      if (isUnsent(outcome)) throw new Error('A mail is not handled yet.');
      outcomes.push(outcome);
    }
    // Others are read by an operator, or deleted after 7 days.
    if (!outcomes.includes('withheld')) await rawMails.remove(mail.messageId);
    return outcomes;
  };
}
