/** The built mailer in a sandbox, on a table of its own, with an SES that can be made to fail. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { text as read } from 'node:stream/consumers';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { SendEmailCommandInput } from '@aws-sdk/client-sesv2';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBBatchResponse } from 'aws-lambda';
import { expect } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { startSandbox } from '../../local/lambda/sandbox.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import type { Identity } from '../../src/identity.ts';
import { createOwnStore } from './engines.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { MAIL_SETTINGS, makeCall } from './events.ts';
import { answer, startFaultProxy, type Fault } from './fault-proxy.ts';
import { removeRow } from './own-table.ts';

export type Row = Record<string, AttributeValue>;

export interface StreamRecord {
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  readonly dynamodb: {
    readonly SequenceNumber: string;
    readonly NewImage?: Row;
    readonly OldImage?: Row;
  };
}

export type Mailer = Awaited<ReturnType<typeof startMailer>>;

export const INBOX = { INBOX_TO: MAIL_SETTINGS.inboxTo, INBOX_FROM: MAIL_SETTINGS.inboxFrom };

const MAILER = new URL('../../dist/mailer.mjs', import.meta.url).href;

type Whole<Part> = Part extends object
  ? { readonly [Name in keyof Part]-?: Whole<NonNullable<Part[Name]>> }
  : Part;
/** The body of a SendEmail request. */
export type SentMail = Omit<Whole<SendEmailCommandInput>, 'ReplyToAddresses'> &
  Pick<SendEmailCommandInput, 'ReplyToAddresses'>;

/** Imitates SES v2; `mails` are the requests that it has accepted, as they came. */
async function startSes() {
  const mails: SentMail[] = [];
  const server = createServer((request, response) => {
    const accept = (body: string): void => {
      mails.push(JSON.parse(body) as SentMail);
      response.end(JSON.stringify({ MessageId: `message-${mails.length}` }));
    };
    // A request breaks off when the mailer gives it up.
    read(request).then(accept, () => undefined);
  });
  const url = `http://127.0.0.1:${await listen(server, 0)}`;
  return { url, mails, close: () => close(server) };
}

/** An error in the form of SES v2. */
export const refuseMail = (
  status: number,
  type: string,
  message = 'A message with a secret.',
): Fault =>
  answer(status, JSON.stringify({ message }), {
    'content-type': 'application/json',
    'x-amzn-errortype': type,
  });

/** The sequence numbers that the answer to a batch reports as failed. */
export const readFailures = (answered: unknown): string[] =>
  (answered as DynamoDBBatchResponse).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);

let sequence = 0;

/** A record of the stream, with a sequence number that is higher than any before. */
export const toRecord = (
  NewImage: Row,
  {
    eventName = 'INSERT',
    OldImage,
  }: { eventName?: StreamRecord['eventName']; OldImage?: Row } = {},
): StreamRecord => ({
  eventName,
  dynamodb: {
    SequenceNumber: String(++sequence).padStart(12, '0'),
    NewImage,
    ...(OldImage !== undefined && { OldImage }),
  },
});

/** An owner with a partition of its own. */
export const makeOwner = (email = 'ana@example.com'): Identity => ({ sub: randomUUID(), email });

export async function startMailer(engine: string) {
  const { client, entity, table, environment: tableEnvironment } = await createOwnStore(engine);
  const store = createInquiryStore(createDynamoDbClient({ region: 'local' }), table, {
    retentionDays: 30,
  });
  const inquiries = createInquiries(store);
  const ses = await startSes();
  const [mailFaults, databaseFaults] = [
    await startFaultProxy(ses.url),
    await startFaultProxy(engine),
  ];
  const lines: string[] = [];
  const sandbox = await startSandbox({
    module: MAILER,
    environment: {
      ...tableEnvironment(databaseFaults.url),
      STAGE: 'develop',
      CONFIGURATION_SET: 'inquiries-develop',
      TOTAL_MAILS_PER_HOUR: '1000',
      ...INBOX,
      AWS_ENDPOINT_URL_SESV2: mailFaults.url,
    },
    timeout: 60_000,
    log: (line) => void lines.push(line),
  });

  /** Ids of the invocations since the log was read last. */
  const requestIds = new Set<string>();
  const invoke = async (event: unknown, remaining?: number): Promise<unknown> => {
    const requestId = randomUUID();
    requestIds.add(requestId);
    return JSON.parse(
      (await sandbox.invoke(JSON.stringify(event), { requestId, remaining })).result,
    );
  };
  const forget = (): void => {
    requestIds.clear();
    lines.length = 0;
  };
  /** Lines about mails of these invocations, each with that of the metrics, which follows it. */
  const readLog = (): string[] =>
    lines.flatMap((line, index) => {
      const metrics = lines[index + 1];
      const isOurs = requestIds.has(toMessage(line)?.requestId ?? '');
      return isOurs && metrics !== undefined ? [line, metrics] : [];
    });

  const readRow = async (inquiry: Inquiry): Promise<Row> => {
    const { Item } = await client.send(
      new GetCommand({ ...entity.get(inquiry).params(), ConsistentRead: true }),
    );
    if (Item === undefined) throw new Error('There is no such row.');
    return marshall(Item);
  };

  return {
    client,
    table,
    mails: ses.mails,
    mailFaults,
    databaseFaults,
    inbox: createInbox(client, table),
    remove: async (inquiry: Inquiry) => removeRow(client, table, inquiry),
    readRow,
    /** Stores an inquiry. */
    async create(
      owner = makeOwner(),
      { subject = 'A subject', body = 'A body' } = {},
    ): Promise<Inquiry> {
      return (await inquiries.create(owner, { subject, body }, makeCall())).inquiry;
    },
    /** Hands over records. @returns The sequence numbers that are reported as failed. */
    handle: async (Records: readonly StreamRecord[], remaining = 60_000) =>
      readFailures(await invoke({ Records }, remaining)),
    /** Invokes it as an operator. */
    invoke: async (event: unknown) => invoke(event),
    /**
     * Waits for the lines about this many mails since the last call, or since {@link forget}.
     *
     * @returns Their outcomes in order, and all lines, metrics included.
     */
    async takeLog(count: number): Promise<{ outcomes: string[]; text: string }> {
      await expect.poll(readLog, { timeout: 10_000 }).toHaveLength(2 * count);
      const log = readLog();
      forget();
      return {
        outcomes: log.flatMap((line) => toMessage(line)?.outcome ?? []),
        text: log.join('\n'),
      };
    },
    forget,
    async close(): Promise<void> {
      await sandbox.close();
      await mailFaults.close();
      await databaseFaults.close();
      await ses.close();
      client.destroy();
    },
  };
}

const toMessage = (line: string) =>
  (JSON.parse(line) as { message?: { requestId?: string; outcome?: string } }).message;
