import { INQUIRY_ID } from '../limits.ts';
import { nameOf, toMetricsLine } from '../log.ts';

/** The outcome of a mail. */
export type Outcome =
  /** SES has accepted it. */
  | 'sent'
  /** A delivery record shows that it was sent before. */
  | 'already-sent'
  /** The quota of its owner and hour, or that of all owners, is used up: it is in the next digest. */
  | 'withheld'
  /** There is nothing to put into a digest, or another invocation does it. */
  | 'idle'
  | 'answered'
  | 'expired'
  /** Deleted from the table, or never in it. */
  | 'erased'
  /** No mail can be sent to the owner's address. */
  | 'no-address'
  /** A mail to the team itself did not arrive, so that none can say so. */
  | 'undelivered'
  /** It cannot succeed and is not tried again. */
  | 'refused'
  /** It is tried again. */
  | 'failed'
  /** There was no time for it in this invocation, or SES asks for a slower pace; it is tried again. */
  | 'deferred';

export interface CompletedMail {
  readonly requestId: string | undefined;
  /** Lambda's name of the function. */
  readonly functionName: string | undefined;
  /** The id of the inquiry, as the row or the operator has it; absent for mails about none or several. */
  readonly inquiry?: unknown;
  readonly mail:
    | 'inquiry'
    | 'reply'
    | 'acknowledgement'
    | 'notice'
    | 'digest'
    | 'daily'
    | undefined;
  /** The id of the stream's record; undefined for an invocation by an operator. */
  readonly sequenceNumber?: string | undefined;
  readonly outcome: Outcome;
  /** What was thrown, if anything. */
  readonly error?: unknown;
}

const FAILURES = new Set<Outcome>(['no-address', 'refused', 'failed', 'undelivered']);

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
    mail: kind,
    // Any other text of a row could be personal data.
    ...('inquiry' in mail && {
      inquiry: typeof inquiry === 'string' && INQUIRY_ID.test(inquiry) ? inquiry : 'malformed',
    }),
    sequenceNumber,
    outcome,
    ...(error !== undefined && { errorName: nameOf(error) }),
  };
  if (FAILURES.has(outcome) && outcome !== 'failed') console.error(entry);
  else if (error !== undefined || outcome === 'deferred') console.warn(entry);
  else console.info(entry);

  writeMetrics(
    toMetricsLine(functionName, {
      MailsSent: outcome === 'sent' ? 1 : 0,
      MailFailures: FAILURES.has(outcome) ? 1 : 0,
      MailsWithheld: outcome === 'withheld' ? 1 : 0,
    }),
  );
}
