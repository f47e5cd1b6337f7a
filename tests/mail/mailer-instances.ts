/** Instances of the mailer on one table, with the test's clock and SES. */
import { randomUUID } from 'node:crypto';
import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { SESMessage } from 'aws-lambda';
import { createClient } from '../../local/database/table.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import type { CompletedMail } from '../../mail/log.ts';
import { createMailer } from '../../mail/mailer.ts';
import type { Mail } from '../../mail/send-mail.ts';
import { createMailerStore, type MailerStore } from '../../mail/store.ts';
import { withTrial } from '../../mail/trial.ts';
import type { ReceiverConfig } from '../../mail/received/config.ts';
import { createReceiver, type ReceiverParts } from '../../mail/received/receiver.ts';
import { toTrialMails } from '../../mail/received/trial.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';
import { createWriter, readFailures, type StreamRecord } from './test-mailer.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import { RECEIVER_SETTINGS, toQueueEvent } from './received/test-mails.ts';

export type MailerInstances = Awaited<ReturnType<typeof createMailerInstances>>;

type Row = Record<string, unknown>;

function queryRows(
  rows: Row[],
  { ExpressionAttributeValues, ScanIndexForward }: QueryCommandInput,
) {
  const [inbox, first, last] = Object.values(ExpressionAttributeValues ?? {});
  const found = rows
    .filter(
      (row) => row['inbox'] === inbox && String(row['id']) >= first && String(row['id']) <= last,
    )
    .toSorted((one, other) => (String(one['id']) < String(other['id']) ? -1 : 1));
  return { Items: ScanIndexForward === false ? found.toReversed() : found };
}

export async function createMailerInstances(
  engine: string,
  { time, ...settings }: { time: number } & Partial<ReceiverConfig>,
) {
  const own = await createOwnTable(engine);
  const { client, name: tableName } = own;
  const config = { ...MAIL_SETTINGS, tableName, ...settings };

  function create() {
    let steps = 0;
    let killAt = Infinity;
    const step = (): void => {
      if (++steps >= killAt) throw new Error('The mailer is killed.');
    };
    const run = async <Result>(request: () => Promise<Result>): Promise<Result> => {
      step();
      try {
        return await request();
      } finally {
        step();
      }
    };
    const throwIfFailing = (name = ''): void => {
      if (all.failing[name] !== undefined) throw all.failing[name];
    };
    const toStepping = <Client extends Pick<typeof client, 'send'>>(of: Client): Client =>
      Object.create(of, {
        send: {
          value: async (...[command, options]: Parameters<typeof client.send>) =>
            run(async () => {
              throwIfFailing(command.constructor.name);
              const { input } = command;
              const isOfIndex = all.index !== undefined && 'IndexName' in input;
              return isOfIndex ? queryRows(all.index ?? [], input) : of.send(command, options);
            }),
        },
      });
    const table = { client: toStepping(client), name: tableName };
    const { deliveries, ...store } = all.change(createMailerStore(table, config, () => all.time));
    // Without the mailer's limit of two seconds.
    const record: typeof deliveries.record = async (inquiry, mail, since) =>
      deliveries.record(inquiry, mail, since, AbortSignal.timeout(60_000));
    const accept = async (mail: Mail, signal: AbortSignal): Promise<void> => {
      await all.beforeSend(mail, signal);
      throwIfFailing(mail.tags['mail']);
      all.mails.push(mail);
    };
    const log = (line: CompletedMail): void => void all.log.push(line);
    const parts = {
      config,
      store: { ...store, deliveries: { ...deliveries, record } },
      send: async (mail: Mail, signal: AbortSignal) => run(async () => accept(mail, signal)),
      now: () => all.time,
      log,
    };
    const handle = withTrial(createMailer, parts);
    const receiverParts: ReceiverParts = {
      ...parts,
      config: { ...config, ...RECEIVER_SETTINGS, ...settings },
      create: createInquiries(
        createInquiryStore(toStepping(createClient(engine)), tableName, { now: () => all.time }),
        { ...settings, now: () => all.time },
      ).create,
      rawMails: {
        read: async (id: string) => run(async () => all.rawMails.get(id)),
        archive: async (id: string) => run(async () => void all.rawMails.delete(id)),
      },
    };
    const receive = createReceiver(receiverParts);
    const changes = { rawMails: toTrialMails(receiverParts.rawMails) };
    const invocation = {
      awsRequestId: randomUUID(),
      functionName: 'mailer',
      getRemainingTimeInMillis: () => all.remaining(),
    };
    const invoke = async (event: object) => handle(event, invocation);
    return {
      invoke,
      receive: async (mail: SESMessage | string, times?: number) =>
        (await receive(toQueueEvent(mail, times), invocation)).outcomes,
      tryReceiver: async (mail: SESMessage) => {
        const event = { ...toQueueEvent(mail), trial: true };
        return withTrial(createReceiver, receiverParts, changes)(event, invocation);
      },
      isKilled: () => steps >= killAt,
      /** @param more - Steps after which nothing happens. Each request to table, bucket or SES is two, before and after. */
      killAfter: (more: number): void => void (killAt = steps + more),
      tick: async () => invoke({ digest: true }),
      /** @returns The sequence numbers to deliver again. */
      handle: async (Records: StreamRecord[]) => readFailures(await invoke({ Records })),
    };
  }

  const all = {
    ...createWriter(own, (): number => all.time),
    create,
    /** Milliseconds. */
    time,
    mails: [] as Mail[],
    /** As SES has stored them, by id. */
    rawMails: new Map<string, Uint8Array>(),
    log: [] as CompletedMail[],
    /** What the index has, if that is not what the table has now. */
    index: undefined as Row[] | undefined,
    /** Errors by the kind of a mail or the name of a command. */
    failing: {} as Partial<Record<string, Error>>,
    beforeSend: (async () => undefined) as (mail: Mail, signal: AbortSignal) => Promise<unknown>,
    /** Of the store, by a test that wants a fault. */
    change: (store: MailerStore): MailerStore => store,
    /** Milliseconds of an invocation; a busy machine needs time. */
    remaining: () => 600_000,
    ofKind: (kind: string) => all.mails.filter(({ tags }) => tags['mail'] === kind),
  };
  return all;
}
