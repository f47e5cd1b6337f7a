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

/** A mail at one of its recipients. */
interface Delivery {
  /** Undefined: not readable. */
  mail: ReceivedMail | undefined;
  /** SES's. */
  messageId: string;
  replyTo: string;
  /** The inquiry that the address names, and that may be gone. */
  id: string | undefined;
  inquiry: StoredInquiry | undefined;
  /** Of the event. */
  claimant: string;
  signal: AbortSignal;
}

/** Mails about a received one, each sent once. */
function createNotices({ store, send, config }: ReceiverParts, delivery: Delivery) {
  const { deliveries, quotas } = store;
  const { mail, messageId, replyTo, id, inquiry, claimant, signal } = delivery;

  async function sendOnce(event: string, why: string, notice: Mail): Promise<Result> {
    const claim = await deliveries.claimNotice(event, claimant, signal);
    if (claim === 'sent') return { outcome: 'already-sent', why };
    // Until the other invocation has sent it, the mail has to stay.
    if (claim === 'claimed') return { outcome: 'deferred', why };
    const since = new Date().toISOString();
    await send(notice, signal);
    const record = async (recordSignal: AbortSignal) =>
      deliveries.record(event, 'notice', since, recordSignal);
    return { ...(await recordSent(record)), why };
  }

  /** To the team. */
  async function pass(why: PassReason): Promise<Result> {
    // Once for an inquiry, so that two programs that answer each other end; what comes back, too.
    const event =
      why === 'automatic' && id !== undefined
        ? digest(why, id)
        : digest('passed-on', mail?.messageId ?? messageId);
    const isClaimed = await quotas.claimPassedOn(event, signal);
    if (!isClaimed) return { outcome: 'withheld', why };
    return sendOnce(event, why, createPassedOnMail(mail, why, inquiry, config));
  }

  /** To its writer. */
  async function sendBack(
    received: ReceivedMail,
    row: StoredInquiry,
    from: string,
    why: ReturnReason,
  ): Promise<Result> {
    const kind = digest('returned', row.id, from, why);
    const event = digest(kind, received.text);
    if (!(await quotas.claimReturned(kind, event, signal))) return pass('repeated');
    const returned = createReturnedMail(received, from, why, row, config, replyTo);
    return sendOnce(event, why, returned);
  }

  return { sendOnce, pass, sendBack };
}

type Notices = ReturnType<typeof createNotices>;

/** Stores the owner's next inquiry. */
async function storeFollowUp(
  { config, create }: ReceiverParts,
  { pass }: Notices,
  { messageId, signal }: Delivery,
  { attachments, messageId: key = messageId }: ReceivedMail,
  { cognito_sub: sub, email, subject, language: ofRow }: StoredInquiry,
  text: string,
): Promise<Result> {
  const language = isLanguage(ofRow) ? ofRow : config.language;
  const request = {
    subject: toReplySubject(subject, language),
    body: [text, ...attachments.map((name) => `[Not kept: ${name}]`)].join('\n'),
  };
  const options = { key, language, isEmailVerified: true };
  try {
    await create({ sub, email }, request, { signal, attempts: 0 }, options);
    return { outcome: 'stored' };
  } catch (error) {
    const isFinal = error instanceof ApiError && REFUSED.has(error.code);
    if (!isFinal) throw error;
    return pass('refused');
  }
}

/** Answers or dismisses an inquiry, and tells the team in its thread. */
async function storeAnswer(
  { store: { inquiries }, config }: ReceiverParts,
  { sendOnce, pass, sendBack }: Notices,
  { replyTo, signal }: Delivery,
  received: ReceivedMail,
  row: StoredInquiry,
  { from, reply }: Extract<Decision, { act: 'answer' }>,
): Promise<Result> {
  const { status } = await inquiries.answer(row, { reply, respondent: from });
  if (status === 'not-found') return pass('gone');
  if (status === 'too-large') return sendBack(received, row, from, 'too-long');
  const stored = await inquiries.read(row, signal);
  if (stored === undefined) return pass('gone');
  // The same is this one, delivered again.
  const isOwn = stored.respondent === from && stored.reply === reply;
  if (!isOwn) return sendBack(received, stored, from, 'answered');
  const answered = createAnsweredMail(stored, config, replyTo);
  const told = await sendOnce(digest('answered', row.id), 'answered', answered);
  const isWhole = received.attachments.length === 0;
  return isWhole ? told : sendBack(received, row, from, 'attachments');
}

async function act(parts: ReceiverParts, delivery: Delivery, decision: Decision): Promise<Result> {
  const notices = createNotices(parts, delivery);
  const { mail, inquiry } = delivery;
  if (decision.act === 'pass') return notices.pass(decision.why);
  // Others have both.
  if (mail === undefined || inquiry === undefined) return notices.pass('gone');
  switch (decision.act) {
    case 'return':
      return notices.sendBack(mail, inquiry, decision.from, decision.why);
    case 'store':
      return storeFollowUp(parts, notices, delivery, mail, inquiry, decision.body);
    case 'answer':
      return storeAnswer(parts, notices, delivery, mail, inquiry, decision);
  }
}

/**
 * Handles an event of SES about a mail to the domain of answers. What is answered, stored, sent back or passed on is so
 * once, however often the event comes. docs/adr/0085
 *
 * @throws Error when something can succeed later, so that Lambda repeats the event, with the same claimant.
 */
export function createReceiver(parts: ReceiverParts) {
  const { store, config, attempt, now, rawMails } = parts;
  const { inquiries, addresses } = store;

  /** What becomes of a mail at one of its recipients. */
  async function handleRecipient(
    recipient: string,
    mail: ReceivedMail | undefined,
    { mail: { messageId }, receipt }: SESMessage,
    claimant: string,
    signal: AbortSignal,
  ): Promise<Result> {
    const replyTo = recipient.toLowerCase();
    const address = addresses && (await addresses.parse(replyTo, signal));
    const { id } = address ?? {};
    const inquiry = id === undefined ? undefined : await inquiries.find(id, signal);
    if (id !== undefined && inquiry === undefined && timeOf(id) > now() - INDEX_LAG) {
      return { outcome: 'deferred', inquiry: id };
    }
    const delivery = { mail, messageId, replyTo, id, inquiry, claimant, signal };
    const decision = decide(mail, receipt, address && { ...address, inquiry }, config);
    return { ...(await act(parts, delivery, decision)), inquiry: id };
  }

  return async (event: SESMessage, claimant: string, invocation: Invocation) => {
    const { mail, receipt } = event;
    const raw = await rawMails.read(mail.messageId);
    if (raw === undefined) return [];
    const received = await parseMail(raw, mail.source);
    const outcomes: string[] = [];
    for (const recipient of receipt.recipients) {
      const { outcome } = await attempt(invocation, { mail: 'received' }, async (signal) =>
        handleRecipient(recipient, received, event, claimant, signal),
      );
      if (isUnsent(outcome)) throw new Error('A mail is not handled yet.');
      outcomes.push(outcome);
    }
    // Others are read by an operator, or deleted after 7 days.
    if (!outcomes.includes('withheld')) await rawMails.remove(mail.messageId);
    return outcomes;
  };
}
