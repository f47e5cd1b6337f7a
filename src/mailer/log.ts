import { nameOf, writeMetrics } from '../log.ts';
import { isInquiryId, type MailKind } from './rows.ts';

export type Outcome =
  | 'sent'
  | 'already-sent'
  /** A quota of its hour is used up: it is in the next digest. */
  | 'withheld'
  /** There is nothing to send, or another invocation does it. */
  | 'idle'
  | 'answered'
  | 'expired'
  /** Deleted from the table, or never in it. */
  | 'erased'
  | 'no-address'
  /** A mail to the team did not arrive, so that none can say so. */
  | 'undelivered'
  /** It is not tried again. */
  | 'refused'
  | 'failed'
  /** It is tried again: there was no time, or SES asks for a slower pace. */
  | 'deferred';

export interface Result {
  outcome: Outcome;
  error?: unknown;
}

export interface Subject {
  /** Absent for mails about none or several. */
  inquiry?: unknown;
  mail?: MailKind | 'notice' | 'digest' | 'daily';
  /** Absent for an invocation by an operator. */
  sequenceNumber?: string | undefined;
}

export interface CompletedMail extends Subject, Result {
  requestId: string;
  functionName: string;
}

/** What needs an operator. Other failures are tried again. */
const ERRORS = new Set<Outcome>(['no-address', 'refused', 'undelivered']);

/** Logs one line about a mail, without addresses and texts, as src/log.ts does. */
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
