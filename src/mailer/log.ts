import { INQUIRY_ID } from '../limits.ts';
import { nameOf, toMetricsLine } from '../log.ts';

/** The outcome of a mail. */
export type Outcome =
  /** SES has accepted it. */
  | 'sent'
  /** A delivery record shows that it was sent before. */
  | 'already-sent'
  /** The quota of its owner and hour is used up. */
  | 'withheld'
  /** The same, and the mail about the limit was sent instead. */
  | 'limit-mail-sent'
  | 'answered'
  | 'expired'
  /** Deleted from the table, or never in it. */
  | 'erased'
  /** No mail can be sent to the owner's address. */
  | 'no-address'
  /** It cannot succeed and is not tried again. */
  | 'refused'
  /** It is tried again. */
  | 'failed'
  /** There was no time for it in this invocation; it is tried again. */
  | 'deferred';

export interface CompletedMail {
  readonly requestId: string | undefined;
  /** Lambda's name of the function. */
  readonly functionName: string | undefined;
  /** The id of the inquiry, as the row or the operator has it. */
  readonly inquiry: unknown;
  readonly mail: 'inquiry' | 'reply' | undefined;
  /** Of the stream's record; undefined for an invocation by an operator. */
  readonly sequenceNumber?: string | undefined;
  readonly outcome: Outcome;
  /** What was thrown, if anything. */
  readonly error?: unknown;
}

const FAILURES = new Set<Outcome>(['no-address', 'refused', 'failed']);

/**
 * Logs one line about a mail and its outcome, without addresses and texts; of an error the name alone, as
 * src/log.ts does. Only what needs an operator is logged as an error: the other failures are tried again.
 *
 * @param writeMetrics - Receives MailsSent, MailFailures (attempts that failed included) and MailsWithheld as one line
 * in CloudWatch's embedded metric format.
 */
export function logMail(mail: CompletedMail, writeMetrics: (line: string) => void): void {
  const { requestId, functionName, inquiry, mail: kind, sequenceNumber, outcome, error } = mail;
  const entry = {
    requestId,
    // Any other text of a row could be personal data.
    inquiry: typeof inquiry === 'string' && INQUIRY_ID.test(inquiry) ? inquiry : 'malformed',
    mail: kind,
    sequenceNumber,
    outcome,
    ...(error !== undefined && { errorName: nameOf(error) }),
  };
  if (outcome === 'refused' || outcome === 'no-address') console.error(entry);
  else if (error !== undefined || outcome === 'deferred') console.warn(entry);
  else console.info(entry);

  writeMetrics(
    toMetricsLine(functionName, {
      MailsSent: outcome === 'sent' || outcome === 'limit-mail-sent' ? 1 : 0,
      MailFailures: FAILURES.has(outcome) ? 1 : 0,
      MailsWithheld: outcome === 'withheld' || outcome === 'limit-mail-sent' ? 1 : 0,
    }),
  );
}
