import { nameOf, writeMetrics } from '../src/log.ts';
import { isInquiryId, type MailKind } from './rows.ts';

export type Outcome =
  | 'sent'
  | 'stored'
  | 'already-sent'
  /** A quota is full. The next digest counts the mail. */
  | 'withheld'
  /** There is nothing to send, or another invocation sends it. */
  | 'idle'
  | 'answered'
  | 'expired'
  | 'erased'
  | 'no-address'
  /** A mail to the team did not arrive, so no mail can say so. */
  | 'undelivered'
  | 'refused'
  | 'failed'
  /** There was no time, or SES throttles. Lambda tries it again. */
  | 'deferred';

export interface Result {
  outcome: Outcome;
  error?: unknown;
  inquiry?: unknown;
  why?: string | undefined;
}

export interface Subject {
  inquiry?: unknown;
  mail?: MailKind | 'notice' | 'digest' | 'daily' | 'received';
  /** Absent when an operator invokes. */
  sequenceNumber?: string | undefined;
}

export interface CompletedMail extends Subject, Result {
  requestId: string;
  functionName: string;
}

/** Outcomes that need an operator. Other failures are tried again. */
export const ERRORS = new Set<Outcome>(['no-address', 'refused', 'undelivered']);

/** Logs a line about a mail, without addresses and texts. */
export function logMail({ functionName, error, ...mail }: CompletedMail): void {
  const { inquiry, outcome } = mail;
  const isError = ERRORS.has(outcome);
  const isWarning = error !== undefined || outcome === 'deferred';
  console[isError ? 'error' : isWarning ? 'warn' : 'info']({
    ...mail,
    // Other texts of a row could be personal data.
    ...(inquiry !== undefined && { inquiry: isInquiryId(inquiry) ? inquiry : 'malformed' }),
    ...(error !== undefined && { errorName: nameOf(error) }),
  });
  writeMetrics(functionName, {
    MailsSent: Number(outcome === 'sent'),
    MailFailures: Number(isError || outcome === 'failed'),
    MailsWithheld: Number(outcome === 'withheld'),
  });
}
