import { nameOf, writeMetrics } from '../log.ts';
import { isInquiryId, type MailKind } from './rows.ts';

/** The outcome of a mail. */
export type Outcome =
  /** SES has accepted it. */
  | 'sent'
  /** A delivery record shows that it was sent before. */
  | 'already-sent'
  /** The quota of its owner and hour, or that of all owners, is used up: it is in the next digest. */
  | 'withheld'
  /** There is nothing to send, or another invocation does it. */
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

export interface Result {
  outcome: Outcome;
  /** What was thrown, if anything. */
  error?: unknown;
}

/** What a mail is about. */
export interface Subject {
  /** The id of the inquiry, as the row or the operator has it; absent for mails about none or several. */
  inquiry?: unknown;
  mail?: MailKind | 'notice' | 'digest' | 'daily';
  /** The id of the stream's record; absent for an invocation by an operator. */
  sequenceNumber?: string | undefined;
}

export interface CompletedMail extends Subject, Result {
  requestId: string;
  /** Lambda's name of the function. */
  functionName: string;
}

/** Only what needs an operator is logged as an error: other failures are tried again. */
const ERRORS = new Set<Outcome>(['no-address', 'refused', 'undelivered']);

/**
 * Logs one line about a mail and its outcome, without addresses and texts; of an error the name alone, as
 * src/log.ts does.
 * The metrics are MailsSent, MailFailures (attempts that failed included) and MailsWithheld.
 */
export function logMail({ functionName, error, ...mail }: CompletedMail): void {
  const { inquiry, outcome } = mail;
  const isError = ERRORS.has(outcome);
  const isWarning = error !== undefined || outcome === 'deferred';
  console[isError ? 'error' : isWarning ? 'warn' : 'info']({
    ...mail,
    // Any other text of a row could be personal data.
    ...(inquiry !== undefined && { inquiry: isInquiryId(inquiry) ? inquiry : 'malformed' }),
    ...(error !== undefined && { errorName: nameOf(error) }),
  });
  writeMetrics(functionName, {
    MailsSent: Number(outcome === 'sent'),
    MailFailures: Number(isError || outcome === 'failed'),
    MailsWithheld: Number(outcome === 'withheld'),
  });
}
