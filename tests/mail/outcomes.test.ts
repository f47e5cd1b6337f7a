import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { HOUR } from '../../src/limits.ts';
import { AddressRejected, MailRejected } from '../../mail/send-mail.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY, SUB } from '../helpers/events.ts';
import { createMailerInstances, type MailerInstances } from './mailer-instances.ts';
import { idOf, toRecord, toReply, type StreamRecord } from './test-mailer.ts';
import { readTable } from '../helpers/own-table.ts';
import { SES_EXAMPLES, toBounce, toEvent } from './ses-events.ts';

const MINUTE = 60_000;
const START = Math.floor(Date.now() / (24 * HOUR)) * 24 * HOUR + 6 * HOUR;
const SMOKE_TEST = 'smoke-test-1@inquiries.invalid';
const UNTIL = 4_000_000_000;
const NO = new Error('no');
const REJECTED = new MailRejected('no');
const VERIFIED = { email: 'ana@example.com', email_verified: true } as const;
const AUTOMATIC = toBounce('Transient', 'General');
const { bounce, complaint } = SES_EXAMPLES;

interface Step {
  minute?: number;
  failing?: MailerInstances['failing'];
}

describeOnDynamoDbLocal('the mailer', (engine) => {
  async function open() {
    const settings = { acknowledge: true, mailsPerHour: 2, totalMailsPerHour: 5, answerWithin: 3 };
    const all = await createMailerInstances(engine, { time: START, ...settings });
    const { handle, invoke } = all.create();
    const lines: string[] = [];
    let posted = 0;
    /** Tells what an invocation returns, logs and sends, and what is known of replies. */
    async function tell(run: () => Promise<unknown>, { minute = 0, failing = {} }: Step = {}) {
      Object.assign(all, { time: START + minute * MINUTE, failing });
      const result = await run().catch(({ message }: Error) => message);
      const failures = Object.entries(failing).map(([name, error]) => `${name} ${error?.name}`);
      lines.push([`minute ${minute}`, ...failures, JSON.stringify(result)].join(', '));
      const logged = all.log
        .splice(0)
        .map(({ mail = 'by id', outcome }) => `  ${mail}: ${outcome}`);
      lines.push(...logged.toSorted());
      for (const { to, subject, replyTo = 'nobody', text } of all.mails.splice(0)) {
        const [begin = ''] = text.split('\n', 1);
        const named = text.match(/(?<=^\| )s\d+$/gm) ?? [];
        lines.push(
          `  To ${to}, reply to ${replyTo}: ${subject}`,
          `    ${[begin, ...named].join(' ')}`,
        );
      }
      const rows = await readTable(all.client, all.table);
      const replies = rows.filter(({ mail }) => mail === 'reply');
      const known = replies.map(({ sent_at, undelivered, expires_at }) => {
        const kept = expires_at === UNTIL ? 'kept as the inquiry' : '';
        return `  A reply: ${[sent_at && 'sent', undelivered, kept].filter(Boolean).join(', ')}`;
      });
      lines.push(...known.toSorted());
    }
    return {
      all,
      lines,
      invoke,
      addReply: async (row: object = {}) =>
        toReply(await all.add({ at: START, ...row }), { reply_at: new Date(START).toISOString() }),
      post: async (count: number, minute = 0, row: object = {}) => {
        const at = START + minute * MINUTE;
        const rows = Array.from({ length: count }, (_, n) => ({
          at: at + n,
          subject: `s${++posted}`,
          ...row,
        }));
        return all.write(rows);
      },
      /** One by one, so that the first have the places. */
      deliver: async (records: StreamRecord[], step?: Step) =>
        tell(async () => {
          const failed: string[] = [];
          for (const record of records) failed.push(...(await handle([record])));
          return `${failed.length} to repeat`;
        }, step),
      /** The timer runs on so many instances. */
      tick: async (minute: number, { instances = 1, failing = {} } = {}) =>
        tell(
          async () =>
            void (await Promise.all(Array.from({ length: instances }, () => all.create().tick()))),
          { minute, failing },
        ),
      send: async (event: object, step?: Step) => tell(() => invoke(event), step),
    };
  }

  const STORIES: Record<string, (story: Awaited<ReturnType<typeof open>>) => Promise<void>> = {
    async 'an inquiry whose mail, row, place or record fails'({ all, deliver }) {
      for (const failing of ['inquiry', 'GetCommand', 'UpdateCommand', 'PutCommand']) {
        const records = [await all.add({ at: START })];
        await deliver(records, { failing: { [failing]: NO } });
        await deliver(records);
      }
    },
    async 'an inquiry that is refused: by SES, by its id, by DynamoDB'({ all, deliver }) {
      const record = await all.add({ at: START });
      await deliver([record], { failing: { inquiry: REJECTED } });
      const long = `${'a'.repeat(390_000)}@example.com`;
      for (const row of [{ id: { S: 'p@example.com' } }, { email: { S: long } }]) {
        await deliver([toRecord({ ...record.dynamodb.NewImage, ...row })]);
      }
    },
    async 'a reply that is late'({ addReply, deliver }) {
      const reply = await addReply();
      for (const minute of [54, 66, 72]) await deliver([reply], { minute, failing: { reply: NO } });
      await deliver([reply], { minute: 78 });
    },
    async 'a reply that is refused, and repeated by Lambda and an operator'(story) {
      const { all, addReply, deliver, send } = story;
      const reply = await addReply({ expires_at: UNTIL });
      await deliver([reply], { failing: { reply: REJECTED, notice: NO } });
      for (const error of [REJECTED, NO, REJECTED]) {
        await deliver([reply], { minute: 120, failing: { reply: error } });
      }
      await all.answer(idOf(reply), 'r');
      await send({ ids: [idOf(reply)] });
    },
    async 'a reply to an address that takes no mail'({ all, addReply, deliver, send }) {
      const reply = await addReply({ email: 'müller@example.de' });
      await deliver([reply]);
      await all.answer(idOf(reply), 'r');
      await send({ ids: [idOf(reply)] });
    },
    async 'a bounce, complaint and automatic reply to replies'({ addReply, deliver, send }) {
      for (const example of [bounce, complaint, AUTOMATIC]) {
        const reply = await addReply();
        await deliver([reply]);
        const event = toEvent(example, { inquiry: idOf(reply), mail: 'reply' });
        for (let times = 0; times < 2; times++) await send(event);
      }
    },
    async 'what is useless to tell, or might bounce'({ all, send }) {
      const inquiry = idOf(await all.add());
      await send(toEvent(bounce, { inquiry: INQUIRY.id, mail: 'reply' }));
      await send(toEvent(AUTOMATIC, { inquiry, mail: 'acknowledgement' }));
      await send(toEvent(bounce, { mail: 'inquiry' }));
      for (const body of ['Successfully validated SNS topic.', '{']) {
        await send({ Records: [{ messageId: body, body }] });
      }
    },
    async 'a bounce of what the index does not have, the first and the second time'({ send }) {
      const about = { inquiry: INQUIRY.id, mail: 'reply' };
      for (const times of [1, 2]) await send(toEvent(bounce, about, times));
    },
    async 'an event that comes often, and whose notice fails, is not recorded or is refused'({
      send,
    }) {
      const failures = [{ notice: NO }, { PutCommand: NO }, { notice: REJECTED }];
      for (const failing of failures) {
        const event = toEvent(bounce);
        await send(event, { failing });
        for (const minute of [1, 6, 12]) await send(event, { minute });
      }
    },
    async 'a bounce that is known before the delivery is recorded'(story) {
      const { all, addReply, deliver, invoke } = story;
      all.beforeSend = async ({ tags }) =>
        tags['mail'] === 'reply' && invoke(toEvent(bounce, tags));
      await deliver([await addReply()]);
    },
    async 'more bounces than mails about inquiries in an hour'({ send }) {
      for (let times = 0; times < 6; times++) await send(toEvent(bounce));
    },
    async 'acknowledgements of what is mailed, in its language'({ all, deliver }) {
      const row = { ...VERIFIED, at: START, cognito_sub: SUB, language: 'de' };
      const records = await all.write([row, row, row]);
      await deliver(records, { failing: { acknowledgement: NO } });
      for (let times = 0; times < 2; times++) await deliver(records);
    },
    async 'addresses that SES refuses or cannot take'({ all, deliver }) {
      all.beforeSend = async ({ to, replyTo }) => {
        if ([to, replyTo].includes('ana@example.com')) throw new AddressRejected('no');
      };
      for (const email of ['ana@example.com', 'müller@example.de']) {
        await deliver([await all.add({ ...VERIFIED, at: START, email })]);
      }
    },
    async 'more inquiries than mails, of which the index gets one late'(story) {
      const { all, post, deliver, tick } = story;
      await tick(0);
      const records = await post(7);
      await deliver(records);
      const late = idOf(records[6] as StreamRecord);
      all.index = (await readTable(all.client, all.table)).filter(({ id }) => id !== late);
      await tick(5);
      all.index = undefined;
      for (const minute of [10, 8 * 60]) await tick(minute);
    },
    async 'more inquiries than mails in an hour'({ all, post, deliver, tick }) {
      await tick(0);
      const records = await post(9);
      await deliver(records);
      const [first, ...others] = records.slice(5) as [StreamRecord, ...StreamRecord[]];
      // A full hour is known: each refused update would cost as much as its whole row.
      await deliver([first, ...others], { failing: { GetCommand: NO, UpdateCommand: NO } });
      // Replies have no limit, and what is answered is counted, too.
      await deliver([toReply(first)]);
      await all.answer(idOf(first));
      await tick(5, { instances: 5 });
      await deliver(await post(1, 6), { minute: 6 });
      for (const minute of [8, 10, 15, 8 * 60]) await tick(minute);
    },
    async 'more inquiries than mails of a person, in any order'({ post, deliver, tick }) {
      await tick(0);
      const eve = { cognito_sub: SUB };
      const records = await post(2, 0, eve);
      records.push(...(await post(2, 0, { ...eve, email: 'eve@example.com' })));
      for (const batch of [records.toReversed(), records]) await deliver(batch);
      await tick(5);
      // One of the digest's time belongs to it.
      for (const minute of [6, 1]) await deliver(await post(1, minute));
      await deliver(await post(1, 60, eve));
    },
    async 'mails and a digest that fail, and keep their places'({ post, deliver, tick }) {
      await tick(0);
      const records = await post(7);
      for (const failing of [{ inquiry: NO }, {}]) await deliver(records, { failing });
      await tick(5, { failing: { digest: NO } });
      await deliver(await post(1, 11));
      await tick(15);
    },
    async 'inquiries that were given up'({ all, post, deliver, tick }) {
      await tick(0);
      // Another one is never delivered.
      const [erased, answered, failing, sent] = (await post(5)) as [
        StreamRecord,
        StreamRecord,
        StreamRecord,
        StreamRecord,
      ];
      await post(1, 0, { email: `${SMOKE_TEST}.example.com` });
      await deliver([sent, ...(await post(1, 0, { email: SMOKE_TEST }))]);
      await deliver([erased, answered, failing], { failing: { inquiry: NO } });
      await all.remove(erased);
      await all.answer(idOf(answered));
      for (const minute of [8 * 60 - 5, 8 * 60, 8 * 60 + 5]) await tick(minute);
    },
    async 'an outage of days, of which a digest looks at two'({ post, deliver, tick }) {
      await tick(0);
      const end = 100 * 60;
      for (const minute of [0, end]) await deliver(await post(6, minute), { minute });
      for (const later of [10, 15, 20]) await tick(end + later);
    },
    async 'acknowledgements of what only a digest names, five an hour'({ post, deliver, tick }) {
      await tick(0);
      const owners = ['bea', 'cem', 'dan', 'eve', 'fay', 'gus', 'hal', 'ida'];
      const records: StreamRecord[] = [];
      for (const [minute, name] of owners.entries()) {
        records.push(...(await post(1, minute, { ...VERIFIED, email: `${name}@example.com` })));
      }
      await deliver(records.slice(0, 6));
      for (const minute of [15, 70]) await tick(minute, { failing: { digest: NO } });
      for (const minute of [75, 130]) await tick(minute);
      // The stream is late.
      await deliver(records, { minute: 135 });
    },
    async 'replies that the stream has lost'({ all, post, deliver, addReply, tick }) {
      await tick(0);
      await deliver([await addReply()]);
      for (const record of await post(2)) await all.answer(idOf(record), 'r');
      await all.answer(idOf(await all.add({ at: START })));
      await tick(24 * 60);
      await tick(27 * 60, { failing: { reply: NO } });
      await tick(28 * 60);
    },
    async 'inquiries that wait for days'({ all, post, tick }) {
      const day = 24 * 60;
      const [answered] = (await post(53, -4 * day)) as [StreamRecord];
      await all.answer(idOf(answered));
      await post(1, -day);
      for (const hours of [22, 24, 25, 48]) await tick(hours * 60);
    },
    async 'an operator who sends by ids, and other events'({ all, deliver, send }) {
      const at = START;
      const records = await all.write([
        { at, subject: 'lost', email: 'ana\nbea@example.com' },
        { at, subject: 'sent' },
        { at },
        { at },
      ]);
      const [lost = '', sent = '', dismissed = '', answered = ''] = records.map(idOf);
      await deliver(records.slice(1, 2));
      await all.answer(dismissed);
      await all.answer(answered, 'r');
      await send({ ids: [lost, sent, dismissed, answered, INQUIRY.id] });
      for (const failing of [{}, { inquiry: NO }]) {
        await send({ ids: [sent], again: true }, { failing });
      }
      await send({ Records: [{ s3: {} }] });
      for (const ids of [['x'], Array<string>(101).fill(INQUIRY.id)]) await send({ ids });
      await send({ ids: [], again: 'yes' });
    },
    async 'a trial of the timer, which takes nothing from it'({ post, deliver, send, tick }) {
      await deliver(await post(6));
      await send({ trial: true, digest: true }, { minute: 5 });
      await tick(5);
    },
    async 'trials, of which the last two fail'({ all, send }) {
      const row = { ...INQUIRY, email: 'trial@trial.invalid', __edb_e__: 'inquiry' };
      const absent = toRecord(marshall(row));
      for (const record of [absent, await all.add({ at: START })]) {
        for (const one of [record, toReply(record), toReply(record)]) {
          await send({ trial: true, Records: [one] });
        }
      }
      const malformed = toReply(toRecord(marshall({ ...row, body: 5 })));
      await send({ trial: true, Records: [malformed] });
      await send({ trial: true, Records: [toReply(absent)] }, { failing: { PutCommand: NO } });
    },
  };

  it.each(Object.entries(STORIES))('%s', async (_name, play) => {
    const story = await open();
    await play(story);
    const told = story.lines
      .join('\n')
      .replaceAll(/[\da-f]{8}-[\da-f]{4}[\da-f-]*/g, 'REFERENCE')
      .replaceAll(/(?<= since ).*? at /g, '');
    expect(told).toMatchSnapshot();
  });
});
