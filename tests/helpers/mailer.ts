/** The built mailer in a sandbox on its own table, with an SES that can fail; and records of the stream. */
import { randomUUID } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { SendEmailCommandInput } from '@aws-sdk/client-sesv2';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBBatchResponse } from 'aws-lambda';
import { expect } from 'vitest';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { startSandbox } from '../../local/lambda/sandbox.ts';
import { startMailbox } from '../../local/mailbox.ts';
import type { Inquiry } from '../../src/contract.ts';
import { toShard } from '../../src/entities/keys.ts';
import { createRequests } from '../../src/entities/requests.generated.ts';
import { MAIL_SETTINGS } from './events.ts';
import { answer, never, startFaultProxy, type Fault } from './fault-proxy.ts';
import { answerById, putInquiries, type NewInquiry } from './inquiries.ts';
import { createOwnTable, removeRow, type OwnTable } from './own-table.ts';

export type Row = Record<string, AttributeValue>;

export interface StreamRecord {
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  dynamodb: {
    SequenceNumber: string;
    NewImage: Row;
    OldImage?: Row;
  };
}

let sequence = 0;

/** With a higher sequence number than before. */
export const toRecord = (
  NewImage: Row,
  OldImage?: Row,
  eventName: StreamRecord['eventName'] = OldImage ? 'MODIFY' : 'INSERT',
): StreamRecord => ({
  eventName,
  dynamodb: {
    SequenceNumber: String(++sequence).padStart(12, '0'),
    NewImage,
    ...(OldImage && { OldImage }),
  },
});

export const toReply = (
  { dynamodb: { NewImage } }: StreamRecord,
  columns: Record<string, string> = {},
): StreamRecord => {
  const added = Object.entries({ reply: 'r', ...columns }).map(([name, S]) => [name, { S }]);
  return toRecord({ ...NewImage, ...Object.fromEntries(added) }, NewImage);
};

export const idOf = ({ dynamodb }: StreamRecord): string => dynamodb.NewImage['id']?.S ?? '';
export const sequenceOf = ({ dynamodb }: StreamRecord): string => dynamodb.SequenceNumber;

export const readFailures = (answered: unknown): string[] =>
  (answered as DynamoDBBatchResponse).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);

export function createWriter(own: Pick<OwnTable, 'client' | 'name'>) {
  const { client, name: table } = own;
  const { putInquiry } = createRequests(table);
  const inbox = createStoredInquiries(own);
  return {
    client,
    table,
    inbox,
    answer: answerById(inbox),
    /** @returns The stream's records. */
    write: async (rows: NewInquiry[]) =>
      (await putInquiries(own, rows)).map((row) => {
        const inquiry = { ...row, inbox: toShard(row.id, row.reply_at !== undefined) };
        return toRecord(putInquiry({ inquiry }).Item);
      }),
    remove: async ({ dynamodb }: StreamRecord) =>
      removeRow(client, table, unmarshall(dynamodb.NewImage) as Inquiry),
  };
}

export type Mailer = Awaited<ReturnType<typeof startMailer>>;

export const INBOX = { INBOX_TO: MAIL_SETTINGS.inboxTo, INBOX_FROM: MAIL_SETTINGS.inboxFrom };

const MAILER = new URL('../../dist/mailer.mjs', import.meta.url).href;

type Whole<Part> = Part extends object
  ? { readonly [Name in keyof Part]-?: Whole<NonNullable<Part[Name]>> }
  : Part;
export type SentMail = Omit<Whole<SendEmailCommandInput>, 'ReplyToAddresses'> &
  Pick<SendEmailCommandInput, 'ReplyToAddresses'>;

export const refuseMail = (
  status: number,
  type: string,
  message = 'A message with a secret.',
): Fault =>
  answer(status, JSON.stringify({ message }), {
    'content-type': 'application/json',
    'x-amzn-errortype': type,
  });

interface Line {
  message?: { requestId?: string; outcome?: string };
}

export async function startMailer(engine: string) {
  const own = await createOwnTable(engine);
  const ses = await startMailbox(0);
  const mails = ses.mails as SentMail[];
  const mailFaults = await startFaultProxy(ses.url);
  const databaseFaults = await startFaultProxy(engine);
  const lines: string[] = [];
  const sandbox = await startSandbox({
    module: MAILER,
    environment: {
      ...own.environment(databaseFaults.url),
      STAGE: 'develop',
      CONFIGURATION_SET: 'inquiries-develop',
      TOTAL_MAILS_PER_HOUR: '1000',
      ...INBOX,
      AWS_ENDPOINT_URL_SESV2: mailFaults.url,
    },
    timeout: 600_000,
    log: (line) => void lines.push(line),
  });

  let requestIds: string[] = [];
  const invoke = async (event: unknown, remaining?: number): Promise<unknown> => {
    const requestId = randomUUID();
    requestIds.push(requestId);
    const { result } = await sandbox.invoke(JSON.stringify(event), { requestId, remaining });
    return JSON.parse(result);
  };
  const readLog = (): string[] =>
    lines.flatMap((line, at) => {
      const { message } = JSON.parse(line) as Line;
      const isOurs = requestIds.includes(message?.requestId ?? '');
      return isOurs ? lines.slice(at, at + 2) : [];
    });

  return {
    ...createWriter(own),
    mails,
    mailFaults,
    databaseFaults,
    invoke,
    handle: async (Records: StreamRecord[], remaining = 60_000) =>
      readFailures(await invoke({ Records }, remaining)),
    reset(): void {
      mails.length = 0;
      requestIds = [];
      for (const faults of [mailFaults, databaseFaults]) faults.plan = never;
    },
    /** Waits for the lines about so many mails. @returns Their outcomes, sorted, and all lines, with metrics. */
    async takeLog(count: number) {
      await expect.poll(readLog).toHaveLength(2 * count);
      const log = readLog();
      requestIds = [];
      const outcomes = log.flatMap((line) => (JSON.parse(line) as Line).message?.outcome ?? []);
      return { outcomes: outcomes.toSorted(), text: log.join('\n') };
    },
    async close(): Promise<void> {
      await sandbox.close();
      await mailFaults.close();
      await databaseFaults.close();
      await ses.close();
    },
  };
}
