import type { DynamoDBRecord } from 'aws-lambda';
import {
  createAttempt,
  isUnsent,
  MAIL_TIME,
  recordSent,
  type Invocation,
  type MailerParts,
} from './attempt.ts';
import { forEachConcurrently } from './concurrency.ts';
import { createDeliver } from './deliver.ts';
import { createDigests } from './digests.ts';
import type { Outcome, Result } from './log.ts';
import { createNotices, type EventRecord } from './notices.ts';
import { createOverdue } from './overdue.ts';
import { isInquiryId, parseRecord, type MailKind, type Row } from './rows.ts';

/** Records are all from the stream or all from the queue of SES's events. */
interface AnyEvent {
  Records?: (DynamoDBRecord & EventRecord)[];
  digest?: unknown;
  ids?: unknown;
  again?: unknown;
}

type MailerEvent =
  | { kind: 'batch'; records: DynamoDBRecord[] }
  | { kind: 'bounces'; records: EventRecord[] }
  | { kind: 'digest' }
  | { kind: 'ids'; ids: string[]; again: boolean };

/** Milliseconds, fewer than between the timer's invocations (5 minutes). */
const DIGEST_TURN = 4 * 60_000;

const IDS_LIMIT = 100;

/**
 * Handles the events of mail/handler.ts. Mails of one inquiry are sent in the batch's order, those of several
 * side by side. What can succeed later is reported, and Lambda repeats the batch from there. What cannot succeed is an
 * error in the log and not reported, so that it holds nothing back; for a reply, the team gets a mail. docs/adr/0080
 *
 * @returns What Lambda expects of a batch, or the outcome for each id or event.
 * @throws Error for another event, or when a notice cannot be sent yet, so that Lambda repeats it.
 */
export function createMailer(parts: MailerParts) {
  const { store, send, config, now, log } = parts;
  const attempt = createAttempt(log);
  const deliver = createDeliver(parts);
  const notices = createNotices(parts);
  const digests = createDigests(parts);

  async function deliverMail(
    row: Row,
    mail: MailKind,
    invocation: Invocation,
    sequenceNumber?: string,
  ): Promise<Outcome> {
    const subject = { inquiry: row['id'], mail, sequenceNumber };
    const { outcome } = await attempt(invocation, subject, (signal) =>
      deliver(row, mail, { signal }),
    );
    return mail === 'reply' ? notices.reportUnsentReply(row, outcome, invocation) : outcome;
  }

  async function deliverRecord(record: DynamoDBRecord, invocation: Invocation): Promise<Outcome> {
    const { row, kind } = parseRecord(record);
    if (kind === undefined) return 'idle';
    const number = record.dynamodb?.SequenceNumber;
    const outcome = await deliverMail(row, kind, invocation, number);
    const isWithTeam = outcome === 'sent' || outcome === 'already-sent';
    if (kind === 'reply' || !isWithTeam || !config.acknowledge) return outcome;
    return deliverMail(row, 'acknowledgement', invocation, number);
  }

  async function deliverBatch(records: DynamoDBRecord[], invocation: Invocation) {
    const failed: DynamoDBRecord[] = [];
    const groups = Map.groupBy(records, ({ dynamodb }) => dynamodb?.NewImage?.['id']?.S);
    await forEachConcurrently(groups.values(), async (group) => {
      for (const record of group) {
        if (isUnsent(await deliverRecord(record, invocation))) failed.push(record);
      }
    });
    return {
      batchItemFailures: failed.map(({ dynamodb }) => ({
        itemIdentifier: dynamodb?.SequenceNumber,
      })),
    };
  }

  async function deliverByIds(ids: string[], again: boolean, invocation: Invocation) {
    const results: { id: string; outcome: Outcome }[] = [];
    for (const id of ids) {
      const { outcome } = await attempt(invocation, { inquiry: id }, async (signal) => {
        const row = await store.inquiries.find(id, signal);
        if (row === undefined) return { outcome: 'erased' };
        const { reply, reply_at } = row;
        if (reply === undefined && reply_at !== undefined) return { outcome: 'answered' };
        return deliver(row, reply === undefined ? 'inquiry' : 'reply', { signal, again });
      });
      results.push({ id, outcome });
    }
    return { results };
  }

  async function sendDigests(invocation: Invocation) {
    const time = now();
    const { quotas } = store;
    const turn = await quotas.beginDigest(time, DIGEST_TURN, AbortSignal.timeout(MAIL_TIME));
    const sendDue = async (mail: 'digest' | 'daily') => {
      const { outcome } = await attempt(
        invocation,
        { mail },
        async (signal) => {
          const due = turn && (await digests[mail](turn, time, signal));
          if (due === undefined) return { outcome: 'idle' };
          await send(due.mail, signal);
          return recordSent((recordSignal) => quotas.saveDigest(due.state, recordSignal));
        },
        Infinity,
      );
      return outcome;
    };
    const results = { digest: await sendDue('digest'), daily: await sendDue('daily') };
    const overdue = createOverdue(parts, (row, mail) => deliverMail(row, mail, invocation));
    for (const mail of ['reply', 'acknowledgement'] as const) {
      const sendAll = async (signal: AbortSignal): Promise<Result> => {
        if (turn) await overdue[mail](turn, signal);
        return { outcome: 'idle' };
      };
      await attempt(invocation, { mail }, sendAll, Infinity);
    }
    return results;
  }

  return async (value: object, invocation: Invocation) => {
    const event = parseEvent(value);
    switch (event.kind) {
      case 'batch':
        return deliverBatch(event.records, invocation);
      case 'bounces':
        return notices.handleBounces(event.records, invocation);
      case 'digest':
        return sendDigests(invocation);
      case 'ids':
        return deliverByIds(event.ids, event.again, invocation);
    }
  };
}

function parseEvent(value: object): MailerEvent {
  const { Records: records = [], digest, ids, again = false }: AnyEvent = value;
  const [record] = records;
  if (record?.dynamodb) return { kind: 'batch', records };
  if (record?.body) return { kind: 'bounces', records };
  if (digest === true) return { kind: 'digest' };
  const areIds = Array.isArray(ids) && ids.length <= IDS_LIMIT && ids.every(isInquiryId);
  if (areIds && typeof again === 'boolean') return { kind: 'ids', ids, again };
  throw new Error(
    `The event is neither a batch of the stream nor { "ids": [at most ${IDS_LIMIT} ids of inquiries], "again": boolean }.`,
  );
}
