/**
 * The mailer is killed before and after each request to table and SES, and Lambda repeats the invocation: no mail is
 * lost, and none comes twice but one that SES had and that was not recorded; a follow-up is stored once. docs/adr/0080
 */
import { expect, it } from 'vitest';
import { HOUR } from '../../src/limits.ts';
import { MailRejected, type Mail } from '../../mail/send-mail.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { createMailerInstances, type MailerInstances } from '../mail/mailer-instances.ts';
import { idOf, toReply } from '../mail/test-mailer.ts';
import { readTable } from '../helpers/own-table.ts';
import { createAddress, deliverMail, RECEIVER_SETTINGS } from '../mail/received/test-mails.ts';
import { SES_EXAMPLES, toEvent } from '../mail/ses-events.ts';
import { select } from './selection.ts';

/** 06:00 UTC. */
const START = Math.floor(Date.now() / (24 * HOUR)) * 24 * HOUR + 6 * HOUR;

type Instance = ReturnType<MailerInstances['create']>;
/** @returns What Lambda does until the invocation succeeds, and again. */
type Scenario = (all: MailerInstances) => Promise<(instance: Instance) => Promise<unknown>>;

/** @returns Its id. */
async function addAnswered({ add, answer }: MailerInstances): Promise<string> {
  const id = idOf(await add({ at: START - HOUR }));
  await answer(id, 'r');
  return id;
}

const SCENARIOS: Record<string, Scenario> = {
  'new inquiries, with an acknowledgement': async ({ write }) => {
    const records = await write([
      { at: START, email_verified: true },
      { at: START + 1 },
      { at: START + 2, email: 'nobody' },
    ]);
    return ({ handle }) => handle(records);
  },
  'replies, of which one is rejected': async (all) => {
    const records = await all.write([{ at: START }, { at: START + 1 }]);
    const replies = records.map((record) => toReply(record));
    const [rejected] = replies.map(idOf);
    all.beforeSend = async ({ tags: { mail, inquiry } }) => {
      if (mail === 'reply' && inquiry === rejected) throw new MailRejected('no');
    };
    return ({ handle }) => handle(replies);
  },
  'a bounce': async (all) => {
    const inquiry = await addAnswered(all);
    const event = toEvent(SES_EXAMPLES.bounce, { inquiry, mail: 'reply' });
    return ({ invoke }) => invoke(event);
  },
  'an answer by mail with an attachment': async (all) => {
    const to = await createAddress(all, 'r', idOf(await all.add({ at: START - HOUR })));
    const headers = 'Content-Type: multipart/mixed; boundary=b\n';
    const text = '--b\n\nYes.\n--b\nContent-Type: application/x; name=a\n\n\n--b--';
    const event = deliverMail(all, to, { headers, text });
    return ({ receive }) => receive(event);
  },
  'a second answer by mail, and one passed on': async (all) => {
    const to = [await createAddress(all, 'r', await addAnswered(all)), 'x@reply.example.com'];
    const event = deliverMail(all, to, {});
    return ({ receive }) => receive(event);
  },
  'a follow-up': async (all) => {
    const from = 'ana@users.example';
    const record = await all.add({ at: START - HOUR, email: from, email_verified: true });
    const event = deliverMail(all, await createAddress(all, 'f', idOf(record)), { from });
    return ({ receive }) => receive(event);
  },
  'a digest and a daily mail': async (all) => {
    await all.add({ at: START - 96 * HOUR });
    // Before the daily mail.
    all.time = START - 2 * HOUR;
    await all.create().tick();
    all.time = START;
    await all.create().handle(await all.write([0, 1, 2, 3, 4].map((n) => ({ at: START + n }))));
    all.mails.length = 0;
    return ({ tick }) => {
      all.time += 5 * 60_000;
      return tick();
    };
  },
};

const nameOf = ({ tags: { mail, inquiry }, headers, subject }: Mail): string => {
  // An answer by mail can have two.
  if (mail === 'notice') return `${mail} ${subject}`;
  return inquiry === undefined
    ? `${headers['References']?.split('@')[0]} ${/[\d,]+/.exec(subject)?.[0]}`
    : `${mail} ${inquiry}`;
};

describeOnDynamoDbLocal('a mailer that is killed', (engine) => {
  /** The beginnings of mails that are recorded as sent. */
  const readRecorded = async ({ client, table }: MailerInstances): Promise<string[]> => {
    const rows = await readTable(client, table);
    const named = rows.flatMap(({ sent_at, mail, inquiry, daily_on, digested }) => [
      sent_at === undefined ? undefined : `${mail} ${inquiry}`,
      daily_on === undefined ? undefined : '<daily',
      digested?.[START / HOUR] === undefined ? undefined : '<digest',
    ]);
    return named.filter((name) => name !== undefined);
  };

  const start = () =>
    createMailerInstances(engine, {
      time: START,
      acknowledge: true,
      totalMailsPerHour: 3,
      answerWithin: 3,
      ...RECEIVER_SETTINGS,
      followUps: true,
      inquiriesPerHour: 2,
    });
  const countInquiries = async ({ inbox }: MailerInstances): Promise<number> =>
    (await Array.fromAsync(inbox.list())).flat().length;

  it.each(Object.entries(SCENARIOS))('at any step of %s', async (_, prepare) => {
    const whole = await start();
    const instance = whole.create();
    const run = await prepare(whole);
    await run(instance);
    const [expected, inquiries] = [whole.mails.length, await countInquiries(whole)];
    expect(expected + inquiries).toBeGreaterThan(1);
    const steps = [...Array(instance.steps() + 1).keys()].slice(1);
    // Also when all but the last request is done.
    for (const killAt of new Set([...select(steps, 7), steps.length - 1])) {
      const all = await start();
      const deliver = await prepare(all);
      await deliver(all.create(killAt)).catch(() => undefined);
      const sent = all.mails.map(nameOf);
      const recorded = await readRecorded(all);
      const unrecorded = sent.filter((name) => !recorded.some((one) => name.startsWith(one)));
      for (let again = 0; again < 2; again++) {
        all.time += 5 * 60_000;
        await deliver(all.create());
      }
      const names = all.mails.map(nameOf);
      expect(new Set(names).size, `killed at step ${killAt}`).toBe(expected);
      const twice = names.filter((name, at) => names.indexOf(name) !== at);
      expect(new Set(twice).size).toBe(twice.length);
      expect(unrecorded).toEqual(expect.arrayContaining(twice));
      expect(await countInquiries(all)).toBe(inquiries);
    }
  });
});
