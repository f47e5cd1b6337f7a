/** docs/adr/0080 */
import type { SQSRecord } from 'aws-lambda';
import { expireRecord } from '../src/entities/expiry.ts';
import type { StoredInquiry } from '../src/entities/stored-inquiries.ts';
import { HOUR } from '../src/limits.ts';
import {
  createAttempt,
  isUnsent,
  recordSent,
  type Invocation,
  type MailerParts,
} from './attempt.ts';
import { MalformedEvent, parseBounce, type Bounce } from './bounces.ts';
import type { Outcome, Result } from './log.ts';
import { isInquiryId, parseRow, type Row } from './rows.ts';
import { MailRejected, type Mail } from './send-mail.ts';
import { createNoticeMail } from './team-mails.ts';

/** Milliseconds until the index certainly has an inquiry. */
export const INDEX_LAG = 120_000;

export type EventRecord = Pick<SQSRecord, 'body'> & {
  attributes?: Partial<SQSRecord['attributes']>;
};

/**
 * Whether a queue delivers an event for the first time. What the index does not have then may be missing for minutes
 * only, or be moving from the unanswered to the answered, so it counts as gone the second time.
 */
export const isFirstTime = ({ attributes }: EventRecord): boolean =>
  attributes?.ApproximateReceiveCount === '1';

/**
 * Sends a mail about an event once. A refusal is final and recorded; after any other failure the claim lapses.
 *
 * @returns `deferred` while another invocation may be sending it.
 */
export async function sendOnce(
  { store: { deliveries }, send }: Pick<MailerParts, 'store' | 'send'>,
  event: string,
  mail: Mail,
  signal: AbortSignal,
): Promise<Result> {
  const claim = await deliveries.claimNotice(event, signal);
  if (claim !== 'granted') return { outcome: claim === 'done' ? 'already-sent' : 'deferred' };
  const since = new Date().toISOString();
  try {
    await send(mail, signal);
  } catch (error) {
    if (!(error instanceof MailRejected)) throw error;
    const refused = { mail: 'notice', undelivered: 'refused' } as const;
    await deliveries.recordUndelivered({ id: event, ...expireRecord() }, refused, signal);
    throw error;
  }
  return recordSent((recordSignal) => deliveries.record(event, 'notice', since, recordSignal));
}

export function createNotices(parts: MailerParts) {
  const { store, send, config, log, now } = parts;
  const attempt = createAttempt(log);
  const { inquiries, deliveries, quotas } = store;

  /** There is no notice of a mail to the team, since it might bounce, too. */
  async function handleBounce(
    bounce: Bounce,
    isFirstLook: boolean,
    signal: AbortSignal,
  ): Promise<Result> {
    const { id: event, inquiry: id, mail, why } = bounce;
    // This is an automatic reply to an automatic mail.
    if (mail === 'acknowledgement' && why === 'maybe') return { outcome: 'idle' };
    let row: StoredInquiry | undefined;
    if (id && mail) {
      row = await inquiries.find(id, signal);
      if (row === undefined) return { outcome: isFirstLook ? 'deferred' : 'erased' };
      if (why !== 'maybe') {
        await deliveries.recordUndelivered(row, { mail, undelivered: why }, signal);
      }
    }
    if (bounce.isToTeam) return { outcome: 'undelivered' };
    if (!(await quotas.claimEvent('notices', event, signal))) return { outcome: 'withheld' };
    const notice = createNoticeMail(bounce, config, row && parseRow(row));
    return sendOnce(parts, event, notice, signal);
  }

  async function handleRecord(record: EventRecord, invocation: Invocation): Promise<Outcome> {
    const bounce = parseBounce(record.body, config.inboxTo);
    if (bounce === undefined) return 'idle';
    const inquiry = bounce instanceof MalformedEvent ? undefined : bounce.inquiry;
    const { outcome } = await attempt(invocation, { inquiry, mail: 'notice' }, async (signal) => {
      if (bounce instanceof MalformedEvent) throw bounce;
      return handleBounce(bounce, isFirstTime(record), signal);
    });
    return outcome;
  }

  return {
    /** @throws Error when a notice cannot be sent yet, so that Lambda repeats it. */
    async handleBounces(records: EventRecord[], invocation: Invocation) {
      const outcomes: Outcome[] = [];
      for (const record of records) {
        const outcome = await handleRecord(record, invocation);
        if (isUnsent(outcome)) throw new Error('A notice is not sent yet.');
        outcomes.push(outcome);
      }
      return { outcomes };
    },

    /**
     * Tells the team of a reply that cannot be sent, and after an hour of one that is still tried.
     *
     * @returns The reply's outcome, or the notice's if that is to be tried again.
     */
    async reportUnsentReply(row: Row, outcome: Outcome, invocation: Invocation): Promise<Outcome> {
      const { id, reply_at } = row;
      const isGivenUp = outcome === 'no-address' || outcome === 'refused';
      const isLate = isUnsent(outcome) && Date.parse(String(reply_at)) < now() - HOUR;
      if (!isInquiryId(id) || !(isGivenUp || isLate)) return outcome;
      const notice = await attempt(invocation, { inquiry: id, mail: 'notice' }, async (signal) => {
        const record = async (is_noticed: boolean, recordSignal: AbortSignal) => {
          const state = { mail: 'reply', undelivered: 'refused', is_noticed } as const;
          return deliveries.recordUndelivered(row, state, recordSignal);
        };
        // A batch that Lambda repeats contains what was refused before.
        const known = await deliveries.read(id, 'reply', signal);
        if (isGivenUp ? known?.is_noticed : known !== null) return { outcome: 'idle' };
        if (isGivenUp) await record(false, signal);
        const inquiry = parseRow(row);
        const why = isGivenUp ? outcome : 'late';
        const failure = { mail: 'reply', address: inquiry.email, why } as const;
        await send(createNoticeMail(failure, config, inquiry), signal);
        return recordSent((recordSignal) => record(isGivenUp, recordSignal));
      });
      return isUnsent(notice.outcome) ? notice.outcome : outcome;
    },
  };
}
