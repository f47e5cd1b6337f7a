/** Decides which mails are sent, for the records of the stream and for operators. */
import type { DynamoDBRecord } from 'aws-lambda';
import {
  createAttempt,
  isUnsent,
  MAIL_TIME,
  recordSent,
  type Invocation,
  type Result,
} from './attempt.ts';
import type { MailerConfig } from './config.ts';
import { createDeliver } from './deliver.ts';
import { createDigests, type DueMail } from './digests.ts';
import { parseEvent } from './events.ts';
import type { CompletedMail, Outcome } from './log.ts';
import { createNotices } from './notices.ts';
import { findMailKind, isOfTest, toRow, type MailKind } from './rows.ts';
import type { SendMail } from './send-mail.ts';
import { forEachConcurrently } from './concurrency.ts';
import type { MailerStore } from './store.ts';

interface Dependencies {
  readonly store: MailerStore;
  readonly send: SendMail;
  readonly config: MailerConfig;
  readonly log: (mail: CompletedMail) => void;
  /** Milliseconds since the epoch, for digests and late replies. Default: the clock. */
  readonly now?: () => number;
}

/** Milliseconds from one digest to the next, less than from one invocation for it to the next: 5 minutes. */
const DIGEST_TURN = 4 * 60_000;

/** A trial of a deployment has not ended as a mail does. */
class TrialFailed extends Error {
  override readonly name = 'TrialFailed';
}

/**
 * Creates the handler of the events of src/mailer/handler.ts.
 *
 * It sends one mail for each new inquiry and each new reply, those of one inquiry in the order of the batch, those of several
 * side by side, and goes on after a failure. What the quotas of an hour withhold is left to the digests. It reports what can
 * succeed later, and Lambda repeats the batch from the first of these; delivery records keep the mails after it from being sent
 * twice. What cannot succeed (a malformed row, a mail that the transport rejects) is logged as an error and not reported, so
 * that it does not hold back what follows; if it is a reply, the team gets a mail, and the inbox shows it. docs/adr/0080
 *
 * @returns What Lambda expects for a batch, or the outcome for each id or event.
 * @throws Error when the event is none of these, when a trial fails, or when no mail can be sent about an event of SES, so
 * that Lambda invokes the function with it again.
 */
export function createMailer({ store, send, config, log, now = Date.now }: Dependencies) {
  const attempt = createAttempt(log);
  const deliver = createDeliver({ store, send, config, now });
  const notices = createNotices({ store, send, config, attempt, now });
  const digests = createDigests(store, config);

  async function deliverRecord(
    { dynamodb, eventName }: DynamoDBRecord,
    invocation: Invocation,
    isTrial: boolean,
  ): Promise<Outcome | undefined> {
    const row = toRow(dynamodb?.NewImage);
    const mail = findMailKind(eventName, row, toRow(dynamodb?.OldImage));
    const subject = { inquiry: row['id'], sequenceNumber: dynamodb?.SequenceNumber };
    const deliverNew = async (kind: MailKind): Promise<Result> =>
      attempt(invocation, { ...subject, mail: kind }, (signal) =>
        deliver(row, kind, { signal, isTrial }),
      );
    if (isTrial) {
      const result = mail && (await deliverNew(mail));
      if (result?.outcome === 'sent' && result.error === undefined) return 'sent';
      throw new TrialFailed(`The record ended as ${result?.outcome}.`, { cause: result?.error });
    }
    if (mail === undefined || (mail === 'reply' && isOfTest(row))) return undefined;
    const result = await deliverNew(mail);
    if (mail === 'reply') return notices.reportUnsentReply(row, result, invocation);
    const isWithTeam = result.outcome === 'sent' || result.outcome === 'already-sent';
    if (!isWithTeam || !config.acknowledge) return result.outcome;
    return (await deliverNew('acknowledgement')).outcome;
  }

  async function deliverBatch(
    records: readonly DynamoDBRecord[],
    invocation: Invocation,
    isTrial: boolean,
  ) {
    const failed = new Set<DynamoDBRecord>();
    const groups = Map.groupBy(records, ({ dynamodb }) => dynamodb?.NewImage?.['id']?.S);
    await forEachConcurrently(groups.values(), async (group) => {
      for (const record of group) {
        const outcome = await deliverRecord(record, invocation, isTrial);
        if (outcome !== undefined && isUnsent(outcome)) failed.add(record);
      }
    });
    const batchItemFailures = records
      .filter((record) => failed.has(record))
      .map(({ dynamodb }) => ({ itemIdentifier: dynamodb?.SequenceNumber ?? '' }));
    return { batchItemFailures };
  }

  /** Sends the mail that is due for each inquiry. */
  async function deliverByIds(ids: readonly string[], again: boolean, invocation: Invocation) {
    const results: { id: string; outcome: Outcome }[] = [];
    for (const id of ids) {
      const subject = { inquiry: id, mail: undefined };
      const { outcome } = await attempt(invocation, subject, async (signal) => {
        const row = await store.inquiries.find(id, signal);
        if (row === undefined || isOfTest(row)) return { outcome: 'erased' };
        const { reply, reply_at } = row;
        if (reply === undefined && reply_at !== undefined) return { outcome: 'answered' };
        return deliver(row, reply === undefined ? 'inquiry' : 'reply', { signal, again });
      });
      results.push({ id, outcome });
    }
    return { results };
  }

  /** Sends what is due of the mails about several inquiries, unless another invocation has done it or is doing it. */
  async function sendDigests(invocation: Invocation) {
    const time = now();
    const turn = await store.quotas.beginDigest(time, DIGEST_TURN, AbortSignal.timeout(MAIL_TIME));
    const sendDue = async (mail: 'digest' | 'daily'): Promise<Outcome> => {
      const work = async (signal: AbortSignal): Promise<Result> => {
        const due: DueMail | undefined = turn && (await digests[mail](turn, time, signal));
        if (due === undefined) return { outcome: 'idle' };
        await send(due.mail, signal);
        return recordSent((recordSignal) => store.quotas.saveDigest(due.state, recordSignal));
      };
      return (await attempt(invocation, { mail }, work, Infinity)).outcome;
    };
    return { digest: await sendDue('digest'), daily: await sendDue('daily') };
  }

  return async (event: unknown, invocation: Invocation) => {
    const parsed = parseEvent(event);
    if (parsed.kind === 'stream') return deliverBatch(parsed.records, invocation, parsed.isTrial);
    if (parsed.kind === 'bounces') return notices.handleBounces(parsed.records, invocation);
    if (parsed.kind === 'digest') return sendDigests(invocation);
    return deliverByIds(parsed.ids, parsed.again, invocation);
  };
}
