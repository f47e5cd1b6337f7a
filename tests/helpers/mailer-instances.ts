/** Instances of the mailer in this process, on one table, with a clock and an SES of the test. */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { createInbox } from '../../inbox/store.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { createRequests } from '../../src/entities/requests.ts';
import { toFirstId } from '../../src/entities/keys.ts';
import type { Language } from '../../src/languages.ts';
import type { MailerConfig } from '../../src/mailer/config.ts';
import type { CompletedMail } from '../../src/mailer/log.ts';
import { createMailer } from '../../src/mailer/mailer.ts';
import type { Mail } from '../../src/mailer/send-mail.ts';
import { createMailerStore } from '../../src/mailer/store.ts';
import { createOwnStore } from './engines.ts';
import { MAIL_SETTINGS } from './events.ts';
import { makeOwner, readFailures, toRecord, type StreamRecord } from './mailer.ts';

export type MailerInstances = Awaited<ReturnType<typeof createMailerInstances>>;

export async function createMailerInstances(
  engine: string,
  { time, ...settings }: { time: number } & Partial<MailerConfig>,
) {
  const { client, table: tableName } = await createOwnStore(engine);
  const { putInquiry } = createRequests(tableName);
  const config = { ...MAIL_SETTINGS, tableName, ...settings };
  const ofKind = (kind: string) => all.mails.filter(({ tags }) => tags['mail'] === kind);
  const all = {
    client,
    table: tableName,
    inbox: createInbox(client, tableName),
    mails: [] as Mail[],
    log: [] as CompletedMail[],
    /** The clock of the instances, in milliseconds. */
    time,
    /** What SES answers to mails of a kind. */
    failing: {} as Partial<Record<string, Error>>,
    /** What SES does before it accepts a mail. */
    beforeSend: (async () => undefined) as (mail: Mail) => Promise<void>,
    ofKind,
    /** Each with its count and the references that it names. */
    digests: () => ofKind('digest').map(toList),
    dailies: () => ofKind('daily').map(toList),
    /** Ids of the inquiries, or of the replies, that were mailed one by one. */
    mailed: (kind: string) => ofKind(kind).map(({ tags }) => tags['inquiry'] ?? ''),
    /** @param killAt - The step that ends it: twice for each request to the table or to SES, before it and after it. */
    create(killAt = Infinity) {
      let isDead = false;
      let steps = 0;
      const running: Promise<unknown>[] = [];
      const recorded: Promise<void>[] = [];
      const killed = Promise.withResolvers<void>();
      const step = async (): Promise<void> => {
        if (++steps === killAt) void Promise.allSettled(running).then(() => killed.resolve());
        // What a process does that was killed: nothing any more.
        if (steps >= killAt) await new Promise(() => undefined);
      };
      const run = async <Result>(request: () => Promise<Result>): Promise<Result> => {
        await step();
        const result = request();
        running.push(result);
        await Promise.allSettled([result]);
        await step();
        return result;
      };
      const stepping: typeof client = Object.create(client, {
        send: {
          value: async (...[command, options]: Parameters<typeof client.send>) =>
            run(async () => client.send(command, options)),
        },
      });
      const store = createMailerStore(stepping, config);
      const deliveries: typeof store.deliveries = {
        ...store.deliveries,
        async record(inquiry, mail, since) {
          // Without the mailer's limit of two seconds, which a busy machine exceeds.
          const limit = AbortSignal.timeout(60_000);
          recorded.push(store.deliveries.record(inquiry, mail, since, limit));
          return recorded.at(-1);
        },
      };
      const accept = async (mail: Mail): Promise<void> => {
        try {
          await all.beforeSend(mail);
          const error = all.failing[mail.tags['mail'] ?? ''];
          if (error !== undefined) throw error;
        } finally {
          if (isDead) await new Promise(() => undefined);
        }
        all.mails.push(mail);
      };
      const handle = createMailer({
        store: { ...store, deliveries },
        send: async (mail) => run(async () => accept(mail)),
        config,
        log: (line) => void all.log.push(line),
        now: () => all.time,
      });
      /** @param awsRequestId - Lambda repeats a failed invocation with its id. */
      const invoke = async (event: unknown, awsRequestId: string = randomUUID()) =>
        handle(event, {
          awsRequestId,
          functionName: 'mailer',
          getRemainingTimeInMillis: () => 60_000,
        });
      return {
        invoke,
        /** Resolves when it was killed, and what it had sent has ended. */
        killed: killed.promise,
        /** How many steps it has taken. */
        steps: () => steps,
        tick: async () => invoke({ digest: true }),
        /** @returns The sequence numbers that are to be delivered again: those reported as failed; of a killed instance, all. */
        handle: async (Records: readonly StreamRecord[]) =>
          Promise.race([
            invoke({ Records }).then(readFailures),
            killed.promise.then(() => Records.map(({ dynamodb }) => dynamodb.SequenceNumber)),
          ]),
        /** SES gets no mail of it any more, and what was begun does not end, but the records of mails that SES has. */
        async kill() {
          isDead = true;
          await setImmediate();
          await Promise.allSettled(recorded);
          killed.resolve();
        },
      };
    },
    /** Stores inquiries, each at its time. @returns The records of the stream. */
    async write(
      rows: readonly (Partial<Inquiry> & {
        readonly at: number;
        readonly language?: Language;
        readonly email_verified?: boolean;
      })[],
    ) {
      const inquiries = rows.map(({ at, ...row }) => {
        const { sub, email } = makeOwner();
        const id = `${toFirstId(at)}-7${randomUUID().slice(15)}`;
        const created_at = new Date(at).toISOString();
        return { cognito_sub: sub, email, subject: 's', body: 'b', ...row, id, created_at };
      });
      await createInquiryEntity(tableName, client).put(inquiries).go({ concurrent: 10 });
      return inquiries.map((inquiry) => toRecord(putInquiry({ inquiry }).Item));
    },
    close: () => client.destroy(),
  };
  return all;
}

const toList = ({ subject, text }: Mail) => ({
  count: Number(/\] ([\d,]+) inquir/.exec(subject)?.[1]?.replaceAll(',', '')),
  since: / since .*(\d\d:\d\d) UTC$/.exec(subject)?.[1],
  references: Array.from(text.matchAll(/^\| Reference (\S+)$/gm), ([, reference]) => reference),
});

/** The record of a reply to the inquiry of a record. */
export const toReply = ({ dynamodb: { NewImage = {} } }: StreamRecord): StreamRecord =>
  toRecord({ ...NewImage, reply: { S: 'r' } }, { eventName: 'MODIFY', OldImage: NewImage });

export const idOf = ({ dynamodb }: StreamRecord): string => dynamodb.NewImage?.['id']?.S ?? '';
