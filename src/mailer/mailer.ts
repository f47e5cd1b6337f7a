/** Decides which mails are sent, for the records of the stream and for operators. */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { timeOf } from '../contract.ts';
import { isLanguage } from '../languages.ts';
import { HOUR, INQUIRY_ID, isTestAddress } from '../limits.ts';
import { nameOf } from '../log.ts';
import { hasRecords, isSnsEvent, parseBounce } from './bounces.ts';
import type { MailerConfig } from './config.ts';
import type { CompletedMail, Outcome } from './log.ts';
import { createDigests, type DueMail } from './digests.ts';
import { toAcknowledgementMail, toInquiryMail, toNoticeMail, toReplyMail } from './mails.ts';
import type { Failure, MailedInquiry } from './mails.ts';
import { isPace, type SendMail } from './ses.ts';
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
  /** Milliseconds since the epoch, for digests and late replies. Default: the clock. */
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

/** After these, a mail is tried again. */
const UNSENT = new Set<Outcome>(['failed', 'deferred']);

/** Milliseconds until an inquiry is in the index for certain. */
const INDEX_LAG = 120_000;

type MailKind = 'inquiry' | 'reply' | 'acknowledgement';
type Image = NonNullable<DynamoDBRecord['dynamodb']>['NewImage'];

interface Result {
  readonly outcome: Outcome;
  readonly error?: unknown;
}

/** Records that a mail was sent. A record that cannot be written does not make the mail fail. */
const record = async (
  write: (signal: AbortSignal) => Promise<void>,
  outcome: Outcome,
): Promise<Result> =>
  write(AbortSignal.timeout(RECORD_TIME)).then(
    () => ({ outcome }),
    (error: unknown) => ({ outcome, error }),
  );

/**
 * Creates the handler. It takes a batch of the table's stream, SES's events about mails that did not arrive, a
 * {@link SendRequest}, or `{ "digest": true }` every few minutes.
 *
 * It sends one mail for each new inquiry and each new reply, those of one inquiry in the order of the batch, those of several
 * side by side, and goes on after a failure. What the quotas of an hour withhold is left to the digests. It reports what can
 * succeed later, and Lambda repeats the batch from the first of these; delivery records keep the mails after it from being sent
 * twice. What cannot succeed (a malformed row, a mail that SES refuses) is logged as an error and not reported, so that it does
 * not hold back what follows; if it is a reply, the team gets a mail, and the inbox shows it. docs/adr/0080
 *
 * @returns Of the handler: what Lambda expects for a batch, the outcome for each id of a {@link SendRequest}.
 * @throws Error when the event is none of these, or when no mail can be sent about an event of SES, so that Lambda
 * invokes the function with it again.
 */
export function createMailer({ store, send, config, log, now = Date.now }: Dependencies) {
  const digests = createDigests(store, config);

  /** Sends the mail to the team, without Reply-To when SES refuses the owner's address. */
  async function sendInquiry(inquiry: MailedInquiry, signal: AbortSignal): Promise<void> {
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
    { signal, again, isTrial = false }: { signal: AbortSignal; again: boolean; isTrial?: boolean },
  ): Promise<Result> {
    const inquiry = parseRow(row);
    const isUnsent = isTrial || isOfTest(row);
    if (mail === 'inquiry' && !again && store.isRefused(inquiry)) return { outcome: 'withheld' };
    if (Number(row['expires_at']) * 1_000 <= now()) return { outcome: 'expired' };
    const [exists, delivery] = await Promise.all([
      store.exists(inquiry, signal),
      again ? null : store.readDelivery(inquiry.id, mail, signal),
    ]);
    if (!exists && !isTrial) return { outcome: 'erased' };
    if (!isTrial && delivery !== null && delivery.undelivered !== 'refused') {
      return { outcome: 'already-sent' };
    }

    const since = new Date().toISOString();
    if (mail !== 'inquiry') {
      const toOwner =
        mail === 'reply'
          ? toReplyMail(inquiry, String(row['reply']), config)
          : toAcknowledgementMail(inquiry, config);
      // The mail to the team says that there is no address.
      if (toOwner === undefined) return { outcome: mail === 'reply' ? 'no-address' : 'idle' };
      if (!isUnsent) await send(toOwner, signal);
    } else {
      if (!again && !(await store.claim(inquiry, signal)) && !isTrial) {
        return { outcome: 'withheld' };
      }
      if (isTrial) toInquiryMail(inquiry, config);
      // It has a place in the hour, so that no digest counts it.
      else if (isUnsent) return { outcome: 'erased' };
      else await sendInquiry(inquiry, signal);
    }
    return record(
      (recordSignal) => store.recordDelivery(inquiry.id, mail, since, recordSignal),
      'sent',
    );
  }

  /** Runs the work within the time that is left, and logs its result; it never rejects. */
  async function run(
    { awsRequestId: requestId, functionName, getRemainingTimeInMillis }: Invocation,
    subject: Pick<CompletedMail, 'inquiry' | 'mail' | 'sequenceNumber'>,
    work: (signal: AbortSignal) => Promise<Result>,
    limit = MAIL_TIME,
  ): Promise<Result> {
    const time = Math.min(limit, getRemainingTimeInMillis() - RECORD_TIME - RESERVE);
    let result: Result = { outcome: 'deferred' };
    if (time >= MINIMUM_TIME) {
      try {
        result = await work(AbortSignal.timeout(time));
      } catch (error) {
        result = {
          outcome: isPace(error) ? 'deferred' : isFinal(error) ? 'refused' : 'failed',
          error,
        };
      }
    }
    if (result.outcome !== 'idle') log({ requestId, functionName, ...subject, ...result });
    return result;
  }

  /** Mails the team that a mail is not with its recipient. */
  const notify = async (
    failure: Failure,
    id: string | undefined,
    signal: AbortSignal,
  ): Promise<Result> => {
    await send(toNoticeMail(failure, config, id), signal);
    return { outcome: 'sent' };
  };

  /**
   * Tells the team of a reply that is not sent: at once if it cannot be, after an hour if it is tried further.
   *
   * @returns The outcome of the reply, or of the mail about it if that is to be tried again.
   */
  async function reportUnsentReply(row: Row, { outcome, error }: Result, invocation: Invocation) {
    const { id, email, expires_at, reply_at } = row;
    const isGivenUp = outcome === 'no-address' || outcome === 'refused';
    const isLate = UNSENT.has(outcome) && Date.parse(String(reply_at)) < now() - HOUR;
    if (!isText(id) || !INQUIRY_ID.test(id) || !(isGivenUp || isLate)) return outcome;
    const reason = error === undefined ? '' : nameOf(error);
    const why = isGivenUp ? outcome : 'late';
    const notice = await run(invocation, { inquiry: id, mail: 'notice' }, async (signal) => {
      const save = async () =>
        store.recordUndelivered({ inquiry: id, mail: 'reply', expires_at }, 'refused', signal);
      if (isGivenUp) await save();
      else if ((await store.readDelivery(id, 'reply', signal)) !== null) return { outcome: 'idle' };
      const sent = await notify({ mail: 'reply', address: String(email), why, reason }, id, signal);
      if (!isGivenUp) await save();
      return sent;
    });
    return UNSENT.has(notice.outcome) ? notice.outcome : outcome;
  }

  /** Handles a bounce or a complaint. About one of a mail to the team no mail is sent: it might bounce, too. */
  async function handleBounce(message: string, invocation: Invocation): Promise<Outcome> {
    const bounce = parseBounce(message, config.inboxTo);
    if (bounce === undefined) return 'idle';
    const { inquiry, mail, why, isToTeam } = bounce;
    const subject = { mail: 'notice', ...(inquiry !== undefined && { inquiry }) } as const;
    const { outcome } = await run(invocation, subject, async (signal) => {
      // An automatic reply to an automatic mail.
      if (mail === 'acknowledgement' && why === 'maybe') return { outcome: 'idle' };
      if (inquiry !== undefined && mail !== undefined) {
        const row = await store.find(inquiry, signal);
        if (row === undefined) {
          return { outcome: timeOf(inquiry) > now() - INDEX_LAG ? 'deferred' : 'erased' };
        }
        const { expires_at } = row;
        if (why !== 'maybe') {
          await store.recordUndelivered({ inquiry, mail, expires_at }, why, signal);
        }
      }
      if (isToTeam) return { outcome: 'undelivered' };
      if (!(await store.claimNotice(bounce.id, signal))) return { outcome: 'withheld' };
      return notify(bounce, inquiry, signal);
    });
    return outcome;
  }

  async function deliverRecord(
    { dynamodb, eventName }: DynamoDBRecord,
    invocation: Invocation,
    isTrial: boolean,
  ): Promise<Outcome | undefined> {
    const [row, before] = [toRow(dynamodb?.NewImage), toRow(dynamodb?.OldImage)];
    const mail = toMailKind(eventName, row, before);
    if (mail === undefined || (mail === 'reply' && !isTrial && isOfTest(row))) return undefined;
    const subject = { inquiry: row['id'], mail, sequenceNumber: dynamodb?.SequenceNumber };
    const deliverNew = async (kind: MailKind) =>
      run(invocation, { ...subject, mail: kind }, (signal) =>
        deliver(row, kind, { signal, again: false, isTrial }),
      );
    const result = await deliverNew(mail);
    if (isTrial && result.error !== undefined) throw result.error;
    if (isTrial) return result.outcome;
    if (mail === 'reply') return reportUnsentReply(row, result, invocation);
    const isWithTeam = result.outcome === 'sent' || result.outcome === 'already-sent';
    if (mail !== 'inquiry' || !isWithTeam || !config.acknowledge) return result.outcome;
    return (await deliverNew('acknowledgement')).outcome;
  }

  /** Sends the mail that is due for an inquiry. */
  async function deliverById(id: string, again: boolean, invocation: Invocation): Promise<Outcome> {
    const { outcome } = await run(invocation, { inquiry: id, mail: undefined }, async (signal) => {
      const row = await store.find(id, signal);
      if (row === undefined || isOfTest(row)) return { outcome: 'erased' };
      const { reply, reply_at } = row;
      if (reply === undefined && reply_at !== undefined) return { outcome: 'answered' };
      return deliver(row, reply === undefined ? 'inquiry' : 'reply', { signal, again });
    });
    return outcome;
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
      return (await run(invocation, { mail }, work, Infinity)).outcome;
    };
    return { digest: await sendDue('digest'), daily: await sendDue('daily') };
  }

  return async (event: unknown, invocation: Invocation) => {
    if (isStreamEvent(event)) {
      const isTrial = 'trial' in event && event.trial === true;
      const outcomes: (Outcome | undefined)[] = [];
      const failed = new Set<DynamoDBRecord>();
      const groups = Map.groupBy(event.Records, ({ dynamodb }) => dynamodb?.NewImage?.['id']?.S);
      await runSideBySide(groups.values(), async (records) => {
        for (const entry of records) {
          const outcome = await deliverRecord(entry, invocation, isTrial);
          outcomes.push(outcome);
          if (outcome !== undefined && UNSENT.has(outcome)) failed.add(entry);
        }
      });
      if (isTrial && outcomes.some((outcome) => outcome !== 'sent')) {
        throw new Error(`The trial ended with ${outcomes.join(', ')}.`);
      }
      const batchItemFailures = event.Records.filter((entry) => failed.has(entry)).map(
        ({ dynamodb }) => ({
          itemIdentifier: dynamodb?.SequenceNumber ?? '',
        }),
      );
      return { batchItemFailures };
    }
    if (isDigestRequest(event)) return sendDigests(invocation);
    if (isSnsEvent(event)) {
      const outcomes = [];
      for (const { Sns } of event.Records) {
        const outcome = await handleBounce(Sns.Message, invocation);
        if (UNSENT.has(outcome)) throw new Error('A notice is not sent yet.');
        outcomes.push(outcome);
      }
      return { outcomes };
    }
    const { ids, again } = parseSendRequest(event);
    const results = [];
    for (const id of ids) results.push({ id, outcome: await deliverById(id, again, invocation) });
    return { results };
  };
}

const isStreamEvent = (event: unknown): event is DynamoDBStreamEvent =>
  hasRecords(event, 'dynamodb');

/** What the timer of infra/terraform/mailer.tf passes. */
const isDigestRequest = (event: unknown): boolean =>
  typeof event === 'object' && event !== null && 'digest' in event && event.digest === true;

/** @throws Error unless it is a {@link SendRequest}. */
function parseSendRequest(event: unknown): Required<SendRequest> {
  const { ids, again = false } = (event ?? {}) as Partial<SendRequest>;
  const isValid =
    Array.isArray(ids) && ids.every((id) => typeof id === 'string' && INQUIRY_ID.test(id));
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
  const isReply =
    eventName === 'MODIFY' && row['reply'] !== undefined && before['reply'] === undefined;
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
function parseRow(row: Row): MailedInquiry {
  const { id, cognito_sub, email, subject, body, created_at, reply = '', language } = row;
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
    const known = isText(language) && isLanguage(language) ? { language } : {};
    return { id, cognito_sub, email, subject, body, created_at, ...known };
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
  return (
    error.name === 'MalformedRow' || nameOf(error) === 'ValidationException' || isBadRequest(error)
  );
}

const isBadRequest = (error: unknown): boolean =>
  error instanceof Error && error.name === 'BadRequestException';
