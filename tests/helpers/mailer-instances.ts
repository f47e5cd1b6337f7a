/** Instances of the mailer in this process, on one table, with a clock and an SES of the test. */
import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { createClient } from '../../local/database/table.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createInputs } from '../../src/entities/inputs.ts';
import { toFirstId } from '../../src/entities/keys.ts';
import type { CompletedMail } from '../../src/mailer/log.ts';
import { createMailer } from '../../src/mailer/mailer.ts';
import type { Mail } from '../../src/mailer/mails.ts';
import { createMailerStore } from '../../src/mailer/store.ts';
import { runSideBySide } from '../../src/mailer/side-by-side.ts';
import { createOwnStore } from './engines.ts';
import { INBOX, makeOwner, toRecord, type StreamRecord } from './mailer.ts';

export type MailerInstances = Awaited<ReturnType<typeof createMailerInstances>>;

export async function createMailerInstances(
  engine: string,
  { time, ...settings }: { time: number; totalMailsPerHour?: number; answerWithin?: number },
) {
  const { client, table } = await createOwnStore(engine);
  const writer = createClient(engine);
  const inputs = createInputs(table);
  const config = {
    tableName: table,
    region: 'local',
    stage: 'develop',
    inboxTo: INBOX.INBOX_TO,
    inboxFrom: INBOX.INBOX_FROM,
    language: 'en',
    acknowledge: false,
    company: {},
    mailsPerHour: 10,
    totalMailsPerHour: 100,
    ...settings,
  } as const;
  const mails: Mail[] = [];
  const log: CompletedMail[] = [];
  const all = {
    client,
    table,
    mails,
    log,
    /** Of the instances, in milliseconds. */
    time,
    /** What SES does before it accepts a mail. */
    beforeSend: (async () => undefined) as (mail: Mail) => Promise<void>,
    /** Each with its count and the ids that it names. */
    digests: () => listMails(mails, 'digest'),
    dailies: () => listMails(mails, 'daily'),
    /** Ids of the inquiries, or of the replies, that were mailed one by one. */
    mailed: (kind: 'inquiry' | 'reply' | 'notice') =>
      mails.flatMap(({ tags: { mail, inquiry = '' } }) => (mail === kind ? [inquiry] : [])),
    create() {
      let isDead = false;
      const handle = createMailer({
        store: createMailerStore(client, config),
        send: async (mail) => {
          try {
            await all.beforeSend(mail);
          } finally {
            // What a process does that was killed: nothing any more.
            if (isDead) await new Promise(() => undefined);
          }
          mails.push(mail);
        },
        config,
        log: (line) => void log.push(line),
        now: () => all.time,
      });
      const invoke = async (event: unknown) =>
        handle(event, { awsRequestId: '1', functionName: 'mailer', getRemainingTimeInMillis: () => 60_000 });
      return {
        invoke,
        tick: async () => invoke({ digest: true }),
        /** @returns The sequence numbers that are reported as failed. */
        handle: async (Records: readonly StreamRecord[]) =>
          ((await invoke({ Records })) as { batchItemFailures: { itemIdentifier: string }[] }).batchItemFailures.map(
            ({ itemIdentifier }) => itemIdentifier,
          ),
        /** SES gets no mail of it any more, and what was begun does not end. */
        kill: () => void (isDead = true),
      };
    },
    /** Stores inquiries, each at its time. @returns The records of the stream. */
    async write(rows: readonly (Partial<Inquiry> & { readonly at: number })[]) {
      const items = rows.map(({ at, ...row }) => {
        const { sub, email } = makeOwner();
        const id = `${toFirstId(at)}-7${randomUUID().slice(15)}`;
        const created_at = new Date(at).toISOString();
        return inputs.putInquiry({ cognito_sub: sub, email, subject: 's', body: 'b', ...row, id, created_at }).Item;
      });
      const batches = Array.from({ length: Math.ceil(items.length / 25) }, (_, n) => items.slice(25 * n, 25 * n + 25));
      await runSideBySide(batches, async (batch) => {
        const requests = batch.map((Item) => ({ PutRequest: { Item } }));
        await writer.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
      });
      return items.map((item) => toRecord(item));
    },
    close() {
      client.destroy();
      writer.destroy();
    },
  };
  return all;
}

const listMails = (mails: readonly Mail[], name: string) =>
  mails
    .filter(({ headers }) => headers['References']?.startsWith(`<${name}@`))
    .map(({ subject, text }) => ({
      count: Number(/\] ([\d,]+) inquir/.exec(subject)?.[1]?.replaceAll(',', '')),
      since: / since (\d\d:\d\d) UTC$/.exec(subject)?.[1],
      ids: [...text.matchAll(/UTC {2}([\da-f-]{36})\n/g)].map(([, id = '']) => id),
    }));

/** The record of a reply to the inquiry of a record. */
export const toReply = ({ dynamodb: { NewImage = {} } }: StreamRecord): StreamRecord =>
  toRecord({ ...NewImage, reply: { S: 'r' } }, { eventName: 'MODIFY', OldImage: NewImage });

export const idOf = ({ dynamodb }: StreamRecord): string => dynamodb.NewImage?.['id']?.S ?? '';
