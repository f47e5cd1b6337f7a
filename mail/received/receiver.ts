import type { SESMessage, SQSEvent } from 'aws-lambda';
import { digest } from '../../src/entities/keys.ts';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import { ApiError } from '../../src/errors.ts';
import type { Inquiries } from '../../src/inquiries.ts';
import { createAttempt, isUnsent, type Invocation, type MailerParts } from '../attempt.ts';
import { createDeliver } from '../deliver.ts';
import type { Result } from '../log.ts';
import { isFirstTime, sendOnce } from '../notices.ts';
import { createReplyMail, toReplySubject } from '../owner-mails.ts';
import { parseRow } from '../rows.ts';
import { MailRejected, type Mail, type MailFile } from '../send-mail.ts';
import { isLanguage } from '../../text/languages.ts';
import type { ReceiverConfig } from './config.ts';
import { decide, type Decision } from './decide.ts';
import { selectFiles } from './files.ts';
import {
  createAnsweredMail,
  createFilesMail,
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

export interface ReceiverParts extends MailerParts {
  config: ReceiverConfig;
  rawMails: RawMails;
  /** For the owner's next inquiry. */
  create: Inquiries['create'];
}

/** Errors of {@link Inquiries} that a retry would repeat. */
const REFUSED = new Set(['TOO_MANY_REQUESTS', 'PAYLOAD_TOO_LARGE', 'IDEMPOTENCY_KEY_REUSED']);

/** A mail at one of its recipients. */
interface Delivery extends ReceiverParts {
  /** Undefined: not readable. */
  mail: ReceivedMail | undefined;
  /** SES's. */
  messageId: string;
  replyTo: string;
  /** The inquiry that the address names, and that may be gone. */
  id: string | undefined;
  inquiry: StoredInquiry | undefined;
  signal: AbortSignal;
}

/** A mail about a received one. */
const notify = async (
  delivery: Delivery,
  event: string,
  why: string,
  mail: Mail,
): Promise<Result> => ({
  ...(await sendOnce(delivery, event, mail, delivery.signal)),
  why,
});

/** To the team. */
async function pass(delivery: Delivery, why: PassReason): Promise<Result> {
  const { store, config, mail, messageId, id, inquiry, signal } = delivery;
  // Once for an inquiry, so that two programs that answer each other end.
  const event =
    why === 'automatic' && id !== undefined
      ? digest(why, id)
      : digest('passed-on', mail?.messageId ?? messageId);
  const isClaimed = await store.quotas.claimEvent('passed-on', event, signal);
  if (!isClaimed) return { outcome: 'withheld', why };
  return notify(delivery, event, why, createPassedOnMail(mail, why, inquiry, config));
}

/** To its writer. */
async function sendBack(
  delivery: Delivery,
  mail: Pick<ReceivedMail, 'text'> & { attachments: { name: string }[] },
  row: StoredInquiry,
  from: string,
  why: ReturnReason,
): Promise<Result> {
  const { store, config, replyTo, signal } = delivery;
  const kind = digest('returned', row.id, from, why);
  const event = digest(kind, mail.text);
  if (!(await store.quotas.claimReturned(kind, event, signal))) return pass(delivery, 'repeated');
  const returned = createReturnedMail(mail, from, why, row, config, replyTo);
  return notify(delivery, event, why, returned);
}

/** The same mail has the same, however often it comes; programs repeat a Message-ID with another text. */
const toKey = ({ messageId }: Delivery, mail: ReceivedMail): string =>
  digest(mail.messageId ?? messageId, mail.text);

/** Stores the owner's next inquiry. */
async function storeFollowUp(
  delivery: Delivery,
  { mail, inquiry, body }: Extract<Decision, { act: 'store' }>,
): Promise<Result> {
  const { store, config, create, signal } = delivery;
  const { files, refused } = selectFiles(mail.attachments, config.files && !config.linksOnly);
  const { cognito_sub: sub, email, subject } = inquiry;
  const language = isLanguage(inquiry.language) ? inquiry.language : config.language;
  const request = {
    subject: toReplySubject(subject, language),
    body: [
      body,
      ...files.map(({ name }) => `[Attached: ${name}]`),
      ...refused.map((name) => `[Not kept: ${name}]`),
    ].join('\n'),
  };
  const key = toKey(delivery, mail);
  const options = { key, language, isEmailVerified: true, follows: inquiry.id };
  try {
    const created = await create({ sub, email }, request, { signal, attempts: 0 }, options);
    if (files.length === 0) return { outcome: 'stored' };
    const { id } = created.inquiry;
    if (!(await store.quotas.claimEvent('notices', id, signal))) return { outcome: 'withheld' };
    const answerAt = await store.addresses?.create('r', id, signal);
    const followUp = { ...created.inquiry, follows: inquiry.id };
    const sent = createFilesMail(followUp, files, config, answerAt);
    return await notify(delivery, digest('files', id), 'files', sent);
  } catch (error) {
    const isFinal = error instanceof ApiError && REFUSED.has(error.code);
    if (!isFinal) throw error;
    return pass(delivery, 'refused');
  }
}

/** Answers or dismisses an inquiry, and tells the team in its thread. */
async function storeAnswer(
  delivery: Delivery,
  decision: Extract<Decision, { act: 'answer' }>,
): Promise<Result> {
  const { store, config, replyTo, signal } = delivery;
  const { mail, inquiry, from, reply, leftOut } = decision;
  const own = { ...mail, text: reply ?? mail.text };
  const key = toKey(delivery, mail);
  const { files, refused } = selectFiles(reply === undefined ? [] : mail.attachments, config.files);
  const { status } = await store.inquiries.answer(inquiry, {
    reply,
    respondent: from,
    mail: key,
    files: files.map(({ name }) => name),
  });
  if (status === 'not-found') return pass(delivery, 'gone');
  if (status === 'too-large') return sendBack(delivery, own, inquiry, from, 'too-long');
  const stored = await store.inquiries.read(inquiry, signal);
  if (stored === undefined) return pass(delivery, 'gone');
  let told: Result;
  if (status === 'answered') {
    if (files.length > 0 && !(await sendWithFiles(delivery, stored, files, key))) {
      refused.push(...files.map(({ name }) => name));
    }
    const answered = createAnsweredMail(stored, leftOut, config, replyTo);
    told = await notify(delivery, digest('answered', inquiry.id), 'answered', answered);
  } else {
    const isAddition = stored.respondent === from && stored.reply !== undefined;
    if (!isAddition || reply === undefined) {
      return sendBack(delivery, own, stored, from, 'answered');
    }
    const isStored = await store.inquiries.add(stored, { text: reply, mail: key });
    if (!isStored) return sendBack(delivery, own, inquiry, from, 'too-long');
    told = await sendAddition(delivery, { ...stored, reply }, files, key);
  }
  if (refused.length === 0) return told;
  const attachments = refused.map((name) => ({ name }));
  return sendBack(delivery, { ...own, attachments }, inquiry, from, 'attachments');
}

/** What the mailer leaves to the receiver, which has the files. @returns Whether SES takes them. */
async function sendWithFiles(
  delivery: Delivery,
  inquiry: StoredInquiry,
  files: MailFile[],
  key: string,
): Promise<boolean> {
  const { store, signal } = delivery;
  const since = new Date().toISOString();
  let isRefused = false;
  try {
    const { outcome } = await sendAddition(delivery, inquiry, files, key);
    if (outcome === 'deferred') throw new Error('Another invocation may be sending the files.');
    const known = await store.deliveries.read(toAddition(inquiry, key), 'notice', signal);
    isRefused = known?.undelivered === 'refused';
  } catch (error) {
    if (!(error instanceof MailRejected)) throw error;
    isRefused = true;
  }
  if (isRefused) await createDeliver(delivery)(inquiry, 'reply', { signal });
  else await store.deliveries.record(inquiry.id, 'reply', since, signal);
  return !isRefused;
}

const toAddition = ({ id }: StoredInquiry, key: string): string => digest('addition', id, key);

/** To the owner alone. */
async function sendAddition(
  delivery: Delivery,
  inquiry: StoredInquiry,
  files: MailFile[],
  key: string,
): Promise<Result> {
  const { store, config, signal } = delivery;
  const isFollowed = config.followUps && inquiry.email_verified === true;
  const answerAt = isFollowed ? await store.addresses?.create('f', inquiry.id, signal) : undefined;
  const mail = createReplyMail(parseRow(inquiry), config, { answerAt });
  if (mail === undefined) return { outcome: 'no-address' };
  return notify(delivery, toAddition(inquiry, key), 'addition', { ...mail, files });
}

async function act(delivery: Delivery, decision: Decision): Promise<Result> {
  switch (decision.act) {
    case 'pass':
      return pass(delivery, decision.why);
    case 'return':
      return sendBack(delivery, decision.mail, decision.inquiry, decision.from, decision.why);
    case 'store':
      return storeFollowUp(delivery, decision);
    case 'answer':
      return storeAnswer(delivery, decision);
  }
}

/**
 * SES's notice of a mail; undefined for a text, such as that SES has validated the topic.
 *
 * Source: SES Developer Guide, "Notification contents for Amazon SES email receiving".
 */
function parseEvent(body: string): SESMessage | undefined {
  if (!body.startsWith('{')) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only SES publishes to the topic
  const { mail, receipt } = JSON.parse(body) as Partial<SESMessage>;
  return mail && receipt && { mail, receipt };
}

/**
 * Handles SES's events about mails to the domain of answers. What is answered, stored, sent back or passed on is so
 * once. docs/adr/0085
 *
 * @throws Error when something can succeed later, so that Lambda repeats the event.
 */
export function createReceiver(parts: ReceiverParts) {
  const { store, config, log, now, rawMails } = parts;
  const { inquiries, addresses } = store;
  const attempt = createAttempt(log);

  /** What becomes of a mail at one of its recipients. */
  async function handleRecipient(
    recipient: string,
    mail: ReceivedMail | undefined,
    { mail: { messageId }, receipt }: SESMessage,
    isFirst: boolean,
    signal: AbortSignal,
  ): Promise<Result> {
    const replyTo = recipient.toLowerCase();
    const address = addresses && (await addresses.parse(replyTo, signal));
    const { id } = address ?? {};
    const inquiry = id === undefined ? undefined : await inquiries.find(id, signal);
    if (id !== undefined && inquiry === undefined && isFirst) {
      return { outcome: 'deferred', inquiry: id };
    }
    const delivery = { ...parts, mail, messageId, replyTo, id, inquiry, signal };
    const before =
      inquiry?.follows === undefined
        ? undefined
        : await inquiries.read({ ...inquiry, id: inquiry.follows }, signal);
    const to = address && { ...address, address: replyTo, inquiry, before };
    const decision = decide(mail, receipt, to, config, now());
    return { ...(await act(delivery, decision)), inquiry: id };
  }

  async function receive(event: SESMessage, isFirst: boolean, invocation: Invocation) {
    const { mail, receipt } = event;
    const raw = await rawMails.read(mail.messageId);
    if (raw === undefined) return [];
    const received = await parseMail(raw, mail.source);
    const outcomes: string[] = [];
    for (const recipient of receipt.recipients) {
      const { outcome } = await attempt(invocation, { mail: 'received' }, async (signal) =>
        handleRecipient(recipient, received, event, isFirst, signal),
      );
      if (isUnsent(outcome)) throw new Error('A mail is not handled yet.');
      outcomes.push(outcome);
    }
    // Others are read by an operator, or deleted after 7 days.
    if (!outcomes.includes('withheld')) await rawMails.remove(mail.messageId);
    return outcomes;
  }

  return async ({ Records }: SQSEvent, invocation: Invocation) => {
    const outcomes: string[] = [];
    for (const record of Records) {
      const event = parseEvent(record.body);
      if (event) outcomes.push(...(await receive(event, isFirstTime(record), invocation)));
    }
    return { outcomes };
  };
}
