import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { HOUR } from '../../src/limits.ts';
import { AddressRejected, MailRejected } from '../../src/mailer/send-mail.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY, SUB } from '../helpers/events.ts';
import { createMailerInstances, type MailerInstances } from '../helpers/mailer-instances.ts';
import { idOf, toRecord, toReply, type StreamRecord } from '../helpers/mailer.ts';
import { readTable } from '../helpers/own-table.ts';
import { SES_EXAMPLES, toBounce, toEvent } from '../helpers/ses-events.ts';

const START = Math.floor(Date.now() / HOUR) * HOUR;
const UNTIL = 4_000_000_000;
const NO = new Error('no');
const REJECTED = new MailRejected('no');
const VERIFIED = { email: 'ana@example.com', email_verified: true } as const;
const AUTOMATIC = toBounce('Transient', 'General');
const { bounce, complaint } = SES_EXAMPLES;

interface Step {
  /** Since the reply. */
  hours?: number;
  failing?: MailerInstances['failing'];
}

describeOnDynamoDbLocal('the mailer', (engine) => {
  async function open() {
    const settings = { acknowledge: true, mailsPerHour: 2, totalMailsPerHour: 4 };
    const all = await createMailerInstances(engine, { time: START, ...settings });
    const { handle, invoke } = all.create();
    const lines: string[] = [];
    /** Tells what an invocation returns, logs and sends, and what is known of replies. */
    async function tell(run: () => Promise<unknown>, { hours = 0, failing = {} }: Step = {}) {
      Object.assign(all, { time: START + hours * HOUR, failing });
      const result = await run().catch(({ message }: Error) => message);
      const failures = Object.entries(failing).map(([name, error]) => `${name} ${error?.name}`);
      lines.push([`${hours} h`, ...failures, JSON.stringify(result)].join(', '));
      const logged = all.log
        .splice(0)
        .map(({ mail = 'by id', outcome }) => `  ${mail}: ${outcome}`);
      lines.push(...logged.toSorted());
      for (const { to, subject, replyTo = 'nobody', text } of all.mails.splice(0)) {
        lines.push(`  To ${to}, reply to ${replyTo}: ${subject}`, `    ${text.split('\n')[0]}`);
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
      deliver: async (records: StreamRecord[], step?: Step) =>
        tell(async () => `${(await handle(records)).length} to repeat`, step),
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
      for (const hours of [0.9, 1.1, 1.2]) {
        await deliver([reply], { hours, failing: { reply: NO } });
      }
      await deliver([reply], { hours: 1.3 });
    },
    async 'a reply that is refused, and repeated by Lambda and an operator'(story) {
      const { all, addReply, deliver, send } = story;
      const reply = await addReply({ expires_at: UNTIL });
      await deliver([reply], { failing: { reply: REJECTED, notice: NO } });
      for (const error of [REJECTED, NO, REJECTED]) {
        await deliver([reply], { hours: 2, failing: { reply: error } });
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
    async 'a bounce of what the index may not have yet'({ all, send }) {
      const young = await all.add({ at: START });
      await all.remove(young);
      await send(toEvent(bounce, { inquiry: idOf(young), mail: 'reply' }));
    },
    async 'an event that SES sends often, and Lambda with the same message'({ send }) {
      const event = toEvent(bounce);
      const another = { Records: [{ ...event.Records[0], messageId: 'another' }] };
      await send(event, { failing: { notice: NO } });
      for (const one of [another, event, event, another]) await send(one);
    },
    async 'a bounce that is known before the delivery is recorded'(story) {
      const { all, addReply, deliver, invoke } = story;
      all.beforeSend = async ({ tags }) =>
        tags['mail'] === 'reply' && invoke(toEvent(bounce, tags));
      await deliver([await addReply()]);
    },
    async 'more bounces than mails about inquiries in an hour'({ send }) {
      for (let times = 0; times < 5; times++) await send(toEvent(bounce));
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

  it('does with each mail and event what golden says', async () => {
    const told: string[] = [];
    for (const [name, play] of Object.entries(STORIES)) {
      const story = await open();
      await play(story);
      told.push([`# ${name}`, ...story.lines].join('\n'));
    }
    const shown = told.join('\n\n').replaceAll(/[\da-f]{8}-[\da-f]{4}[\da-f-]*/g, 'REFERENCE');
    await expect(shown).toMatchFileSnapshot('golden/outcomes.txt');
  });
});
