/** Tells the team of mails that are not with their recipients. docs/adr/0080 */
import { timeOf } from '../contract.ts';
import { HOUR } from '../limits.ts';
import { isUnsent, recordSent, type Attempt, type Invocation, type Result } from './attempt.ts';
import { parseBounce, type Bounce, type SnsMessage } from './bounces.ts';
import type { MailerConfig } from './config.ts';
import { INDEX_LAG } from './inquiries.ts';
import type { Outcome } from './log.ts';
import { createNoticeMail } from './team-mails.ts';
import { isInquiryId, parseRow, type Row } from './rows.ts';
import type { SendMail } from './send-mail.ts';
import type { MailerStore } from './store.ts';

export interface SnsRecord {
  readonly Sns?: SnsMessage | null;
}

export function createNotices({
  store: { inquiries, deliveries, quotas },
  send,
  config,
  attempt,
  now,
}: {
  readonly store: MailerStore;
  readonly send: SendMail;
  readonly config: MailerConfig;
  readonly attempt: Attempt;
  readonly now: () => number;
}) {
  /** Handles a bounce or a complaint. About one of a mail to the team no mail is sent: it might bounce, too. */
  async function handleBounce(
    bounce: Bounce,
    invocation: Invocation,
    signal: AbortSignal,
  ): Promise<Result> {
    const { id: event, inquiry: id, mail, why } = bounce;
    // An automatic reply to an automatic mail.
    if (mail === 'acknowledgement' && why === 'maybe') return { outcome: 'idle' };
    let row: Row | undefined;
    if (id !== undefined && mail !== undefined) {
      row = await inquiries.find(id, signal);
      if (row === undefined) {
        return { outcome: timeOf(id) > now() - INDEX_LAG ? 'deferred' : 'erased' };
      }
      const { expires_at } = row;
      if (why !== 'maybe') {
        await deliveries.recordUndelivered({ inquiry: id, mail, expires_at }, why, signal);
      }
    }
    if (bounce.isToTeam) return { outcome: 'undelivered' };
    if (!(await quotas.claimNotice(event, signal))) return { outcome: 'withheld' };
    if (!(await deliveries.claimNotice(event, invocation.awsRequestId, signal))) {
      return { outcome: 'already-sent' };
    }
    const since = new Date().toISOString();
    await send(createNoticeMail(bounce, config, row && parseRow(row)), signal);
    return recordSent((recordSignal) => deliveries.record(event, 'notice', since, recordSignal));
  }

  async function handleRecord({ Sns }: SnsRecord, invocation: Invocation): Promise<Result> {
    let bounce: Bounce | undefined;
    try {
      bounce = parseBounce(Sns, config.inboxTo);
    } catch (error) {
      return attempt(invocation, { mail: 'notice' }, async () => Promise.reject(error));
    }
    if (bounce === undefined) return { outcome: 'idle' };
    const known = bounce;
    const { inquiry } = known;
    const subject = { mail: 'notice', ...(inquiry !== undefined && { inquiry }) } as const;
    return attempt(invocation, subject, (signal) => handleBounce(known, invocation, signal));
  }

  return {
    /** @throws Error when a notice cannot be sent yet, so that Lambda invokes the function with the events again. */
    async handleBounces(records: readonly SnsRecord[], invocation: Invocation) {
      const outcomes: Outcome[] = [];
      for (const record of records) {
        const { outcome } = await handleRecord(record, invocation);
        if (isUnsent(outcome)) throw new Error('A notice is not sent yet.');
        outcomes.push(outcome);
      }
      return { outcomes };
    },

    /**
     * Tells the team of a reply that is not sent: at once if it cannot be, after an hour if it is tried further.
     *
     * @returns The outcome of the reply, or of the mail about it if that is to be tried again.
     */
    async reportUnsentReply(
      row: Row,
      { outcome }: Result,
      invocation: Invocation,
    ): Promise<Outcome> {
      const { id, expires_at, reply_at } = row;
      const isGivenUp = outcome === 'no-address' || outcome === 'refused';
      const isLate = isUnsent(outcome) && Date.parse(String(reply_at)) < now() - HOUR;
      if (!isInquiryId(id) || !(isGivenUp || isLate)) return outcome;
      const notice = await attempt(invocation, { inquiry: id, mail: 'notice' }, async (signal) => {
        const why = isGivenUp ? outcome : 'late';
        const save = async (noticed: typeof why | undefined, saveSignal: AbortSignal) =>
          deliveries.recordUndelivered(
            { inquiry: id, mail: 'reply', expires_at, noticed },
            'refused',
            saveSignal,
          );
        // Lambda repeats a batch from the first record that failed, and with it what was refused before.
        const known = await deliveries.read(id, 'reply', signal);
        if (isGivenUp ? known?.noticed === why : known !== null) return { outcome: 'idle' };
        if (isGivenUp) await save(undefined, signal);
        const inquiry = parseRow(row);
        const failure = { mail: 'reply', address: inquiry.email, why } as const;
        await send(createNoticeMail(failure, config, inquiry), signal);
        return recordSent(async (recordSignal) => save(why, recordSignal));
      });
      return isUnsent(notice.outcome) ? notice.outcome : outcome;
    },
  };
}
