import type { Context } from 'aws-lambda';
import { nameOf } from '../src/log.ts';
import { MalformedEvent } from './bounces.ts';
import type { MailerConfig } from './config.ts';
import type { CompletedMail, Outcome, Result, Subject } from './log.ts';
import { MalformedRow } from './rows.ts';
import { MailRejected, RateLimited, type SendMail } from './send-mail.ts';
import type { MailerStore } from './store.ts';

export interface MailerParts {
  store: MailerStore;
  send: SendMail;
  config: MailerConfig;
  /** Milliseconds. */
  now: () => number;
  log: (mail: CompletedMail) => void;
}

export type Invocation = Pick<
  Context,
  'awsRequestId' | 'functionName' | 'getRemainingTimeInMillis'
>;

/** Milliseconds for a mail, for its delivery record, and for what follows both. */
export const MAIL_TIME = 20_000;
const RECORD_TIME = 2_000;
const RESERVE = 1_000;
/** No mail is begun with fewer milliseconds. */
const MINIMUM_TIME = 3_000;

/** Sends a mail within the time left and logs the result. The promise never rejects. */
export const createAttempt =
  (log: MailerParts['log']) =>
  async (
    { awsRequestId: requestId, functionName, getRemainingTimeInMillis }: Invocation,
    subject: Subject,
    work: (signal: AbortSignal) => Promise<Result>,
    limit = MAIL_TIME,
  ): Promise<Result> => {
    const time = Math.min(limit, getRemainingTimeInMillis() - RECORD_TIME - RESERVE);
    let result: Result = { outcome: 'deferred' };
    if (time >= MINIMUM_TIME) {
      result = await work(AbortSignal.timeout(time)).catch((error: unknown) => ({
        outcome: outcomeOf(error),
        error,
      }));
    }
    if (result.outcome !== 'idle') log({ requestId, functionName, ...subject, ...result });
    return result;
  };

export const isUnsent = (outcome: Outcome): boolean =>
  outcome === 'failed' || outcome === 'deferred';

/** The mail was sent, so a failure is only logged. */
export const recordSent = async (write: (signal: AbortSignal) => Promise<void>): Promise<Result> =>
  write(AbortSignal.timeout(RECORD_TIME)).then(
    () => ({ outcome: 'sent' }),
    (error: unknown) => ({ outcome: 'sent', error }),
  );

function outcomeOf(error: unknown): Outcome {
  if (error instanceof RateLimited) return 'deferred';
  const isFinal =
    [MailRejected, MalformedRow, MalformedEvent].some((type) => error instanceof type) ||
    // DynamoDB refuses a value of the row, such as a long key.
    nameOf(error) === 'ValidationException';
  return isFinal ? 'refused' : 'failed';
}
