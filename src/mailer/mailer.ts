/** Decides which mails are sent, for the records of the stream and for operators. */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Inquiry } from '../contract.ts';
import { INQUIRY_ID, isTestAddress } from '../limits.ts';
import { nameOf } from '../log.ts';
import type { MailerConfig } from './config.ts';
import type { CompletedMail, Outcome } from './log.ts';
import { createDigests } from './digests.ts';
import type { DueMail } from './digests.ts';
import { toInquiryMail, toReplyMail } from './mails.ts';
import { isPace } from './ses.ts';
import type { SendMail } from './ses.ts';
import { runSideBySide } from './side-by-side.ts';
import type { MailerStore, Row } from './store.ts';

/** A direct invocation by an operator. */
export interface SendRequest {
  /** Ids of inquiries, at most 100. */
  readonly ids: readonly string[];
  /** True: also what was sent before or was withheld. */
  readonly again?: boolean;
}

type Invocation = Pick<Context, 'awsRequestId' | 'functionName' | 'getRemainingTimeInMillis'>;

interface Dependencies {
  readonly store: MailerStore;
  readonly send: SendMail;
  readonly config: MailerConfig;
  readonly log: (mail: CompletedMail) => void;
  /** Milliseconds since the epoch, for the digests. Default: the clock. */
  readonly now?: () => number;
}

/** Milliseconds that the mail of one inquiry may take, that its delivery record may take, and that remain after both. */
const MAIL_TIME = 20_000;
const RECORD_TIME = 2_000;
const RESERVE = 1_000;
/** Minimum time to start a mail. */
const MINIMUM_TIME = 3_000;

/** Milliseconds from one digest to the next, less than from one invocation for it to the next: 5 minutes. */
const DIGEST_TURN = 4 * 60_000;

const IDS_LIMIT = 100;

/** After these, a reply is not with its owner yet. */
const UNSENT = new Set<Outcome>(['no-address', 'refused', 'failed', 'deferred']);

type MailKind = 'inquiry' | 'reply';
type Image = NonNullable<DynamoDBRecord['dynamodb']>['NewImage'];

interface Result {
  readonly outcome: Outcome;
  readonly error?: unknown;
}

/** Records that a mail was sent. A record that cannot be written does not make the mail fail. */
const record = async (write: (signal: AbortSignal) => Promise<void>, outcome: Outcome): Promise<Result> =>
  write(AbortSignal.timeout(RECORD_TIME)).then(
    () => ({ outcome }),
    (error: unknown) => ({ outcome, error }),
  );

/**
 * Creates the handler. It takes a batch of the table's stream, a {@link SendRequest}, or `{ "digest": true }`
 * every few minutes.
 *
 * It sends one mail for each new inquiry and each new reply, those of one inquiry in the order of the batch, those of
 * several side by side, and goes on after a failure. What the quotas of an hour withhold is left to the digests.
 * It reports what can succeed later, and Lambda repeats the batch from the first of these; delivery records keep the
 * mails after it from being sent twice. What cannot succeed (a malformed row, a mail that SES refuses) is logged as an
 * error and not reported, so that it does not hold back what follows. docs/adr/0080
 *
 * @returns Of the handler: what Lambda expects for a batch, the outcome for each id of a {@link SendRequest}.
 * @throws Error when the event is neither.
 */
export function createMailer({ store, send, config, log, now = Date.now }: Dependencies) {
  const digests = createDigests(store, config);

  /** Sends the mail to the team, without Reply-To when SES refuses the owner's address. */
  async function sendInquiry(inquiry: Inquiry, signal: AbortSignal): Promise<void> {
    const mail = toInquiryMail(inquiry, config);
    try {
      await send(mail, signal);
    } catch (error) {
      if (!isBadRequest(error) || mail.replyTo === undefined) throw error;
      await send(toInquiryMail(inquiry, config, false), signal);
    }
  }

  async function deliver(
    row: Row,
    mail: MailKind,
    { signal, again }: { signal: AbortSignal; again: boolean },
  ): Promise<Result> {
    const inquiry = parseRow(row);
    if (mail === 'inquiry' && !again && store.isRefused(inquiry)) return { outcome: 'withheld' };
    if (Number(row['expires_at']) * 1_000 <= Date.now()) return { outcome: 'expired' };
    const [exists, isDelivered] = await Promise.all([
      store.exists(inquiry, signal),
      !again && store.isDelivered(inquiry.id, mail, signal),
    ]);
    if (!exists) return { outcome: 'erased' };
    if (isDelivered) return { outcome: 'already-sent' };

    if (mail === 'reply') {
      const reply = toReplyMail(inquiry, String(row['reply']), config);
      if (reply === undefined) return { outcome: 'no-address' };
      await send(reply, signal);
    } else {
      if (!again && !(await store.claim(inquiry, signal))) return { outcome: 'withheld' };
      // It has a place in the hour, so that no digest counts it.
      if (isOfTest(row)) return { outcome: 'erased' };
      await sendInquiry(inquiry, signal);
    }
    return record((recordSignal) => store.recordDelivery(inquiry.id, mail, recordSignal), 'sent');
  }

  /** Runs the work within the time that is left, and logs its result; it never rejects. */
  async function run(
    { awsRequestId: requestId, functionName, getRemainingTimeInMillis }: Invocation,
    subject: Pick<CompletedMail, 'inquiry' | 'mail' | 'sequenceNumber'>,
    work: (signal: AbortSignal) => Promise<Result>,
    limit = MAIL_TIME,
  ): Promise<Outcome> {
    const time = Math.min(limit, getRemainingTimeInMillis() - RECORD_TIME - RESERVE);
    let result: Result = { outcome: 'deferred' };
    if (time >= MINIMUM_TIME) {
      try {
        result = await work(AbortSignal.timeout(time));
      } catch (error) {
        result = { outcome: isPace(error) ? 'deferred' : isFinal(error) ? 'refused' : 'failed', error };
      }
    }
    if (result.outcome !== 'idle') log({ requestId, functionName, ...subject, ...result });
    return result.outcome;
  }

  async function deliverRecord(
    { dynamodb, eventName }: DynamoDBRecord,
    invocation: Invocation,
  ): Promise<Outcome | undefined> {
    const [row, before] = [toRow(dynamodb?.NewImage), toRow(dynamodb?.OldImage)];
    const mail = toMailKind(eventName, row, before);
    if (mail === undefined || (mail === 'reply' && isOfTest(row))) return undefined;
    const subject = { inquiry: row['id'], mail, sequenceNumber: dynamodb?.SequenceNumber };
    const outcome = await run(invocation, subject, (signal) => deliver(row, mail, { signal, again: false }));
    if (mail === 'reply' && UNSENT.has(outcome) && isText(row['id'])) {
      await store.recordUnsentReply(row['id'], AbortSignal.timeout(RECORD_TIME)).catch(() => undefined);
    }
    return outcome;
  }

  /** Sends the mail that is due for an inquiry. */
  async function deliverById(id: string, again: boolean, invocation: Invocation): Promise<Outcome> {
    return run(invocation, { inquiry: id, mail: undefined }, async (signal) => {
      const row = await store.find(id, signal);
      if (row === undefined || isOfTest(row)) return { outcome: 'erased' };
      const { reply, reply_at } = row;
      if (reply === undefined && reply_at !== undefined) return { outcome: 'answered' };
      return deliver(row, reply === undefined ? 'inquiry' : 'reply', { signal, again });
    });
  }

  /** Sends what is due of the mails about several inquiries, unless another invocation has done it or is doing it. */
  async function sendDigests(invocation: Invocation) {
    const time = now();
    const turn = await store.beginDigest(time, DIGEST_TURN, AbortSignal.timeout(MAIL_TIME));
    const sendDue = async (mail: 'digest' | 'daily'): Promise<Outcome> => {
      const work = async (signal: AbortSignal): Promise<Result> => {
        const due: DueMail | undefined = turn && (await digests[mail](turn, time, signal));
        if (due === undefined) return { outcome: 'idle' };
        await send(due.mail, signal);
        return record((recordSignal) => store.saveDigest(due.state, recordSignal), 'sent');
      };
      return run(invocation, { mail }, work, Infinity);
    };
    return { digest: await sendDue('digest'), daily: await sendDue('daily') };
  }

  return async (event: unknown, invocation: Invocation) => {
    if (isStreamEvent(event)) {
      const failed = new Set<DynamoDBRecord>();
      const groups = Map.groupBy(event.Records, ({ dynamodb }) => dynamodb?.NewImage?.['id']?.S);
      await runSideBySide(groups.values(), async (records) => {
        for (const entry of records) {
          const outcome = await deliverRecord(entry, invocation);
          if (outcome === 'failed' || outcome === 'deferred') failed.add(entry);
        }
      });
      const batchItemFailures = event.Records.filter((entry) => failed.has(entry)).map(({ dynamodb }) => ({
        itemIdentifier: dynamodb?.SequenceNumber ?? '',
      }));
      return { batchItemFailures };
    }
    if (isDigestRequest(event)) return sendDigests(invocation);
    const { ids, again } = parseSendRequest(event);
    const results = [];
    for (const id of ids) results.push({ id, outcome: await deliverById(id, again, invocation) });
    return { results };
  };
}

const isStreamEvent = (event: unknown): event is DynamoDBStreamEvent =>
  typeof event === 'object' &&
  event !== null &&
  'Records' in event &&
  Array.isArray(event.Records) &&
  event.Records.every((entry: object) => 'dynamodb' in entry);

/** What the timer of infra/terraform/mailer.tf passes. */
const isDigestRequest = (event: unknown): boolean =>
  typeof event === 'object' && event !== null && 'digest' in event && event.digest === true;

/** @throws Error unless it is a {@link SendRequest}. */
function parseSendRequest(event: unknown): Required<SendRequest> {
  const { ids, again = false } = (event ?? {}) as Partial<SendRequest>;
  const isValid = Array.isArray(ids) && ids.every((id) => typeof id === 'string' && INQUIRY_ID.test(id));
  if (isValid && ids.length <= IDS_LIMIT && typeof again === 'boolean') return { ids, again };
  throw new Error(
    `The event is neither a batch of the stream nor { "ids": [at most ${IDS_LIMIT} ids of inquiries], "again": boolean }.`,
  );
}

/**
 * Which mail a record of the stream calls for: a new inquiry, unless it was answered elsewhere (a copied row), or a
 * reply that was not there before. The function's event filters let nothing else pass.
 */
function toMailKind(eventName: string | undefined, row: Row, before: Row): MailKind | undefined {
  if (row['__edb_e__'] !== 'inquiry') return undefined;
  if (eventName === 'INSERT') return row['reply_at'] === undefined ? 'inquiry' : undefined;
  const isReply = eventName === 'MODIFY' && row['reply'] !== undefined && before['reply'] === undefined;
  return isReply ? 'reply' : undefined;
}

/** An image of the stream as a row; it does not throw, whatever the numbers are. */
const toRow = (image: Image = {}): Row =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types differ in binary values only
  unmarshall(image as Parameters<typeof unmarshall>[0], { wrapNumbers: Number });

/** Nobody reads what the smoke test has sent, and nobody receives a reply to it: no mail. */
const isOfTest = ({ email }: Row): boolean => isText(email) && isTestAddress(email);

const isText = (value: unknown): value is string => typeof value === 'string';

/** @throws MalformedRow when a column is missing or not a text, or the id is not one of this service. */
function parseRow({ id, cognito_sub, email, subject, body, created_at, reply = '' }: Row): Inquiry {
  if (
    isText(id) &&
    INQUIRY_ID.test(id) &&
    isText(cognito_sub) &&
    isText(email) &&
    isText(subject) &&
    isText(body) &&
    isText(created_at) &&
    isText(reply)
  ) {
    return { id, cognito_sub, email, subject, body, created_at };
  }
  throw Object.assign(new Error('A stored row is not an inquiry.'), { name: 'MalformedRow' });
}

/**
 * Whether an error is of this mail and would recur with every attempt. SES also rejects mails while an identity is not
 * verified, which an operator can change.
 */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'MessageRejected') return !error.message.includes('not verified');
  // DynamoDB refuses what belongs to the row, such as a key that is too long.
  return error.name === 'MalformedRow' || nameOf(error) === 'ValidationException' || isBadRequest(error);
}

const isBadRequest = (error: unknown): boolean =>
  error instanceof Error && error.name === 'BadRequestException';
