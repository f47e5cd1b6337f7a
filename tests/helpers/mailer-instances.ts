/** Instances of the mailer in this process, on one table, with a clock and an SES of the test. */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { MailerConfig } from '../../src/mailer/config.ts';
import type { CompletedMail } from '../../src/mailer/log.ts';
import { createMailer } from '../../src/mailer/mailer.ts';
import type { Mail } from '../../src/mailer/send-mail.ts';
import { createMailerStore } from '../../src/mailer/store.ts';
import { MAIL_SETTINGS } from './events.ts';
import { createWriter, readFailures, sequenceOf, type StreamRecord } from './mailer.ts';
import { createOwnTable } from './own-table.ts';

export type MailerInstances = Awaited<ReturnType<typeof createMailerInstances>>;

const forever = () => new Promise<never>(() => undefined);

export async function createMailerInstances(
  engine: string,
  { time, ...settings }: { time: number } & Partial<MailerConfig>,
) {
  const own = await createOwnTable(engine);
  const { client, name: tableName } = own;
  const config = { ...MAIL_SETTINGS, tableName, ...settings };

  /** @param killAt - The step that ends it: twice for each request to the table or to SES, before it and after it. */
  function create(killAt = Infinity) {
    let isDead = false;
    let steps = 0;
    const running: Promise<unknown>[] = [];
    const recorded: Promise<void>[] = [];
    const killed = Promise.withResolvers<void>();
    const step = async (): Promise<void> => {
      if (++steps === killAt) void Promise.allSettled(running).then(() => killed.resolve());
      // What a process does that was killed: nothing any more.
      if (steps >= killAt) await forever();
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
    const { deliveries, ...store } = createMailerStore(
      { client: stepping, name: tableName },
      config,
      () => all.time,
    );
    const record: typeof deliveries.record = async (inquiry, mail, since) => {
      // Without the mailer's limit of two seconds, which a busy machine exceeds.
      const written = deliveries.record(inquiry, mail, since, AbortSignal.timeout(60_000));
      recorded.push(written);
      return written;
    };
    const accept = async (mail: Mail, signal: AbortSignal): Promise<void> => {
      const error = await all.beforeSend(mail, signal).then(
        () => all.failing[mail.tags['mail'] ?? ''],
        (thrown: Error) => thrown,
      );
      if (isDead) await forever();
      if (error !== undefined) throw error;
      all.mails.push(mail);
    };
    const handle = createMailer({
      store: { ...store, deliveries: { ...deliveries, record } },
      send: async (mail, signal) => run(async () => accept(mail, signal)),
      config,
      log: (line) => void all.log.push(line),
      now: () => all.time,
    });
    /** @param awsRequestId - Lambda repeats a failed invocation with its id. */
    const invoke = async (event: unknown, awsRequestId: string = randomUUID()) =>
      handle(event, {
        awsRequestId,
        functionName: 'mailer',
        getRemainingTimeInMillis: () => all.remaining(),
      });
    return {
      invoke,
      /** Resolves when it was killed, and what it had sent has ended. */
      killed: killed.promise,
      steps: () => steps,
      tick: async () => invoke({ digest: true }),
      /** @returns The sequence numbers that are to be delivered again: those reported as failed; of a killed instance, all. */
      handle: async (Records: StreamRecord[]) =>
        Promise.race([
          invoke({ Records }).then(readFailures),
          killed.promise.then(() => Records.map(sequenceOf)),
        ]),
      /** SES gets no mail of it any more, and what was begun does not end, but the records of mails that SES has. */
      async kill() {
        isDead = true;
        await setImmediate();
        await Promise.allSettled(recorded);
        killed.resolve();
      },
    };
  }

  const ofKind = (kind: string) => all.mails.filter(({ tags }) => tags['mail'] === kind);
  const all = {
    ...createWriter(own),
    create,
    /** The clock of the instances, in milliseconds. */
    time,
    mails: [] as Mail[],
    log: [] as CompletedMail[],
    /** What SES answers to mails of a kind. */
    failing: {} as Partial<Record<string, Error>>,
    /** What SES does before it answers. */
    beforeSend: (async () => undefined) as (mail: Mail, signal: AbortSignal) => Promise<unknown>,
    /** Milliseconds until Lambda ends an invocation. A busy machine takes its time for a digest of two days. */
    remaining: () => 600_000,
    ofKind,
    /** Ids of the inquiries about which mails of a kind are. */
    mailed: (kind: string) => ofKind(kind).map(({ tags }) => tags['inquiry'] ?? ''),
    /** Of each digest or daily mail its count and the references that it names. */
    lists: (kind: 'digest' | 'daily') =>
      ofKind(kind).map(({ subject, text }) => ({
        count: Number(/\] ([\d,]+) inquir/.exec(subject)?.[1]?.replaceAll(',', '')),
        since: / since .*(\d\d:\d\d) UTC$/.exec(subject)?.[1],
        references: Array.from(
          text.matchAll(/^\| Reference (\S+)$/gm),
          ([, reference]) => reference,
        ),
      })),
  };
  return all;
}
