import type { SESMessage, SQSEvent } from 'aws-lambda';
import { digest } from '../../src/entities/keys.ts';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import { ApiError } from '../../src/errors.ts';
import type { Inquiries } from '../../src/inquiries.ts';
import { createAttempt, isUnsent, type Invocation, type MailerParts } from '../attempt.ts';
import { createDeliver } from '../deliver.ts';
import { ERRORS, type Outcome, type Result } from '../log.ts';
import { isFirstTime, sendOnce } from '../notices.ts';
import { createReplyMail, toReplySubject } from '../owner-mails.ts';
import { parseRow } from '../rows.ts';
import { MailRejected, type Mail, type MailFile } from '../send-mail.ts';
import { isLanguage } from '../../text/languages.ts';
import type { ReceiverConfig } from './config.ts';
import { decide, decideUnread, type Decision } from './decide.ts';
import { selectFiles } from './files.ts';
import {
  createAnsweredMail,
  createFilesMail,
  createForwardedMail,
  createReturnedMail,
  type ForwardReason,
  type ReturnReason,
} from './mails.ts';
import { parseMail, type ReceivedMail } from './parse-mail.ts';

export interface RawMails {
  /** @returns undefined once it was archived. */
  read(id: string): Promise<Uint8Array | undefined>;
  /** `npm run ops` finds what is left: mails that were not handled, or of which nobody was told. */
  archive(id: string): Promise<void>;
}

export interface ReceiverParts extends MailerParts {
  config: ReceiverConfig;
  rawMails: RawMails;
  create: Inquiries['create'];
}

const KEPT = new Set<Outcome>([...ERRORS, 'withheld', 'idle']);

/** Undefined if it is not read or cannot be read, `handled` once it was archived. */
type Reading = ReceivedMail | 'handled' | undefined;

/** Milliseconds. */
const READ_TIME = 2_000;

/** Seconds, a day longer than the bucket keeps the mail, which can come again until then (receiver.tf). */
const KEY_KEPT = 15 * 86_400;

/** Errors of {@link Inquiries} that a retry would not end. */
const REFUSED = new Set(['TOO_MANY_REQUESTS', 'PAYLOAD_TOO_LARGE', 'IDEMPOTENCY_KEY_REUSED']);

/** For these reasons, a mail's sender is not known. */
const FORGED = new Set<ForwardReason>(['virus', 'spam', 'dmarc']);

/** Makes a mail of what the event tells. The event of a trial has no headers. */
function toUnread({ mail: { source, commonHeaders } }: SESMessage) {
  const { from, subject = '' }: Partial<typeof commonHeaders> = commonHeaders ?? {};
  const address = from?.[0]?.replace(/^.*<(.*)>$/s, '$1') ?? source;
  return { from: address, subject, text: '[Not read]', attachments: [] };
}

interface Delivery extends ReceiverParts {
  event: SESMessage;
  mail: ReceivedMail | undefined;
  replyAddress: string;
  /** The inquiry that the address names. It may be gone. */
  id: string | undefined;
  inquiry: StoredInquiry | undefined;
  signal: AbortSignal;
}

const notify = async (
  delivery: Delivery,
  event: string,
  why: string,
  mail: Mail,
): Promise<Result> => ({
  ...(await sendOnce(delivery, event, mail, delivery.signal)),
  why,
});

/** Forwards a mail to the team, or leaves it to the daily mail. */
async function forward(delivery: Delivery, why: ForwardReason): Promise<Result> {
  const { store, config, event, mail, id, inquiry, now, signal } = delivery;
  const { messageId } = event.mail;
  // This happens once for an inquiry, so that two programs that answer each other end.
  const isOnce = why === 'automatic' && id !== undefined;
  const key = isOnce ? digest(why, id) : digest('forwarded', mail?.messageId ?? messageId);
  const budget = FORGED.has(why) ? undefined : id;
  const isClaimed = await store.quotas.claimEvent('forwarded', key, signal, budget);
  const forwarded = createForwardedMail(mail ?? toUnread(event), why, inquiry, config);
  const result = isClaimed
    ? await notify(delivery, key, why, forwarded)
    : ({ outcome: 'withheld', why } as const);
  if (isClaimed && !(isOnce && result.outcome === 'already-sent')) return result;
  await store.quotas.recordWithheld(messageId, now(), signal);
  return { outcome: 'withheld', why };
}

async function sendBack(
  delivery: Delivery,
  mail: Pick<ReceivedMail, 'text'> & { attachments: { name: string }[] },
  row: StoredInquiry,
  from: string,
  why: ReturnReason,
): Promise<Result> {
  const { store, config, replyAddress, signal } = delivery;
  const kind = digest('returned', row.id, from, why);
  const event = digest(kind, mail.text);
  const isClaimed = await store.quotas.claimReturned(kind, event, signal);
  if (!isClaimed) return forward(delivery, 'repeated');
  const returned = createReturnedMail(mail, from, why, row, config, replyAddress);
  return notify(delivery, event, why, returned);
}

/** A mail has the same key however often it comes. Programs repeat a Message-ID with another text. */
const toKey = ({ event }: Delivery, mail: ReceivedMail): string =>
  digest(mail.messageId ?? event.mail.messageId, mail.text);

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
  const options = {
    key,
    keyKept: KEY_KEPT,
    language,
    isEmailVerified: true,
    follows: inquiry.id,
  };
  try {
    const created = await create({ sub, email }, request, { signal, attempts: 0 }, options);
    if (files.length === 0) return { outcome: 'stored' };
    const { id } = created.inquiry;
    if (!(await store.quotas.claimEvent('notices', id, signal))) return { outcome: 'withheld' };
    const replyAddress = await store.addresses?.create('r', id, signal);
    const followUp = { ...created.inquiry, follows: inquiry.id };
    const sent = createFilesMail(followUp, files, config, replyAddress);
    return await notify(delivery, digest('files', id), 'files', sent);
  } catch (error) {
    const isFinal = error instanceof ApiError && REFUSED.has(error.code);
    if (!isFinal) throw error;
    return forward(delivery, 'refused');
  }
}

/** Answers or dismisses an inquiry, and tells the team in its thread. */
async function storeAnswer(
  delivery: Delivery,
  decision: Extract<Decision, { act: 'answer' }>,
): Promise<Result> {
  const { store, config, replyAddress, signal } = delivery;
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
  if (status === 'not-found') return forward(delivery, 'gone');
  if (status === 'too-large') return sendBack(delivery, own, inquiry, from, 'too-long');
  let stored = await store.inquiries.read(inquiry, signal);
  if (stored === undefined) return forward(delivery, 'gone');
  let told: Result;
  if (status === 'answered') {
    if (files.length > 0 && !(await sendWithFiles(delivery, stored, files, key))) {
      refused.push(...files.map(({ name }) => name));
      await store.inquiries.removeFiles(stored);
      stored = { ...stored, files: [] };
    }
    const answered = createAnsweredMail(stored, leftOut, config, replyAddress);
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

/** Sends a reply with its files, which only the receiver has. @returns Whether SES takes the files. */
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

async function sendAddition(
  delivery: Delivery,
  inquiry: StoredInquiry,
  files: MailFile[],
  key: string,
): Promise<Result> {
  const { store, config, signal } = delivery;
  const isFollowed = config.followUps && inquiry.email_verified === true;
  const replyAddress = isFollowed
    ? await store.addresses?.create('f', inquiry.id, signal)
    : undefined;
  const mail = createReplyMail(parseRow(inquiry), config, { replyAddress });
  if (mail === undefined) return { outcome: 'no-address' };
  return notify(delivery, toAddition(inquiry, key), 'addition', { ...mail, files });
}

async function act(delivery: Delivery, decision: Decision): Promise<Result> {
  switch (decision.act) {
    case 'forward':
      return forward(delivery, decision.why);
    case 'return':
      return sendBack(delivery, decision.mail, decision.inquiry, decision.from, decision.why);
    case 'store':
      return storeFollowUp(delivery, decision);
    case 'answer':
      return storeAnswer(delivery, decision);
  }
}

/**
 * Parses SES's notice of a mail.
 *
 * Source: SES Developer Guide, "Notification contents for Amazon SES email receiving".
 *
 * @returns undefined for any other text, such as that SES has validated the topic.
 */
function parseEvent(body: string): SESMessage | undefined {
  if (!body.startsWith('{')) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only SES publishes to the topic
  const { mail, receipt } = JSON.parse(body) as Partial<SESMessage>;
  return mail && receipt && { mail, receipt };
}

/**
 * Handles SES's events about mails to the domain of answers. A mail is answered, stored, sent back or forwarded once.
 * docs/adr/0085
 *
 * @throws Error when something can succeed later, so that Lambda repeats the event.
 */
export function createReceiver(parts: ReceiverParts) {
  const { store, config, log, now, rawMails } = parts;
  const { inquiries, addresses, quotas } = store;
  const attempt = createAttempt(log);

  async function handleRecipient(
    recipient: string,
    event: SESMessage,
    read: (signal: AbortSignal) => Promise<Reading>,
    isFirst: boolean,
    signal: AbortSignal,
  ): Promise<Result> {
    const replyAddress = recipient.toLowerCase();
    const address = addresses && (await addresses.parse(replyAddress, signal));
    const { id } = address ?? {};
    const inquiry = id === undefined ? undefined : await inquiries.find(id, signal);
    if (id !== undefined && inquiry === undefined && isFirst) {
      return { outcome: 'deferred', inquiry: id };
    }
    const { receipt } = event;
    const isUnread = decideUnread(receipt, address !== undefined) !== undefined;
    const mail = isUnread ? undefined : await read(signal);
    if (mail === 'handled') return { outcome: 'idle' };
    const delivery = { ...parts, event, mail, replyAddress, id, inquiry, signal };
    const before =
      inquiry?.follows === undefined
        ? undefined
        : await inquiries.read({ ...inquiry, id: inquiry.follows }, signal);
    const to = address && { ...address, address: replyAddress, inquiry, before };
    const decision = decide(mail, receipt, to, config, now());
    return { ...(await act(delivery, decision)), inquiry: id };
  }

  /** A mail that has ended three invocations is not read again. A fault of AWS ends none. */
  async function readMail(
    { mail: { messageId, source } }: SESMessage,
    request: string,
    signal: AbortSignal,
  ): Promise<Reading> {
    if (!(await quotas.beginReading(messageId, request, signal))) return undefined;
    const raw = await rawMails.read(messageId);
    return raw === undefined ? 'handled' : parseMail(raw, source);
  }

  async function receive(event: SESMessage, isFirst: boolean, invocation: Invocation) {
    const { messageId } = event.mail;
    const { awsRequestId: request } = invocation;
    let reading: Promise<Reading> | undefined;
    const read = async (signal: AbortSignal): Promise<Reading> =>
      (reading ??= readMail(event, request, signal));
    const outcomes: Outcome[] = [];
    try {
      for (const recipient of event.receipt.recipients) {
        const { outcome } = await attempt(invocation, { mail: 'received' }, async (signal) =>
          handleRecipient(recipient, event, read, isFirst, signal),
        );
        if (isUnsent(outcome)) throw new Error('A mail is not handled yet.');
        outcomes.push(outcome);
      }
    } finally {
      if (reading) await quotas.endReading(messageId, request, AbortSignal.timeout(READ_TIME));
    }
    if (outcomes.every((outcome) => !KEPT.has(outcome))) await rawMails.archive(messageId);
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
