/** Answers by SMTP to the local stack's mail functions, on their way to record and owner's mail. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WITH_STREAM } from '../../../local/database/table.ts';
import { startMail } from '../../../local/mail/start-mail.ts';
import type { Mail } from '../../../mail/send-mail.ts';
import { createStoredInquiries } from '../../../src/entities/stored-inquiries.ts';
import { putInquiries } from '../../function/test-inquiries.ts';
import { describeOnDynamoDbLocal } from '../../helpers/engines.ts';
import { createOwnTable } from '../../helpers/own-table.ts';
import { ANSWERS } from './answers.ts';
import { FORMS, toRaw } from './forms.ts';
import golden from './golden/mails.json' with { type: 'json' };

const TEAM = 'support@example.com';
const WAIT = { timeout: 120_000, interval: 500 };

interface SentMail {
  FromEmailAddress: string;
  Destination: { ToAddresses: [string] };
  ReplyToAddresses?: [string];
  Content: {
    Simple: { Subject: { Data: string }; Body: Record<'Text' | 'Html', { Data: string }> };
  };
}
type Sent = Mail & { replyTo: string };

const toMail = (mail: SentMail): Sent =>
  ({
    from: mail.FromEmailAddress,
    to: mail.Destination.ToAddresses[0],
    replyTo: mail.ReplyToAddresses?.[0] ?? '',
    subject: mail.Content.Simple.Subject.Data,
    text: mail.Content.Simple.Body.Text.Data,
    html: mail.Content.Simple.Body.Html.Data,
  }) as Sent;

/** What a mail says, and the text that is to be recorded, or why it is not. */
type Answer = (sent: Sent, at: Date) => { raw: Buffer; right: string };

const forms = Object.entries(FORMS)
  .filter((_, at) => at % 3 === 0)
  .map(([name, write], at): [string, Answer] => {
    const [answer = ''] = [Object.values(ANSWERS)[at % Object.keys(ANSWERS).length]];
    return [
      name,
      (sent, time) => {
        const text = answer.replaceAll('{from}', sent.from);
        const mail = write(text, sent, time);
        const footer = mail.footer ?? '';
        return { raw: toRaw(mail, TEAM), right: `${text}\n\n${footer}`.trim() };
      },
    ];
  });

/** Parts, texts and programs' mails. Files are sent on by names that their types agree with. */
const parts = Object.entries(golden)
  .filter(([name]) => /^(?:part|program|issue-zammad)/.test(name))
  .map(([name, right]): [string, Answer] => [
    name,
    () => ({
      raw: Buffer.from(
        readFileSync(join(import.meta.dirname, 'mails', `${name}.eml`), 'latin1').replace(
          'olga@example.com',
          TEAM,
        ),
        'latin1',
      ),
      right: right.replaceAll(/\n\[[^\n]+\.\w+\]$/gm, ''),
    }),
  ]);

describeOnDynamoDbLocal('answers by SMTP', (engine) => {
  it('are recorded and mailed to the owner as they were written, or are not taken', async () => {
    const own = await createOwnTable(engine, WITH_STREAM);
    const mail = await startMail({
      environment: { ...own.environment(), STAGE: 'local', TOTAL_MAILS_PER_HOUR: '1000' },
      company: {},
      mailboxPort: 0,
      smtpPort: 0,
      stream: { endpoint: engine, streamArn: own.streamArn ?? '', log: () => undefined },
    });
    onTestFinished(() => mail.close());
    const readMails = async (): Promise<Sent[]> => {
      const response = await fetch(`${mail.mailboxUrl}/mails`);
      return ((await response.json()) as SentMail[]).map(toMail);
    };
    const answers = [...forms, ...parts];
    const rows = await putInquiries(
      own,
      answers.map((_, at) => ({
        at: Date.now() - at,
        email: `user${at}@users.example`,
        cognito_sub: `1f0d2c3b-4a59-4687-9a5b-${String(at).padStart(12, '0')}`,
        subject: `Parcel ${at}`,
      })),
    );
    const team = await vi.waitUntil(async () => {
      const mails = await readMails();
      return mails.length === answers.length && mails;
    }, WAIT);
    const transport = createTransport(mail.smtpUrl);
    const expected: string[] = [];
    for (const [at, [name, answer]] of answers.entries()) {
      const sent = team.find(({ subject }) => subject.endsWith(`Parcel ${at}`));
      if (sent === undefined) throw new Error(`There is no mail about ${name}.`);
      const { raw, right } = answer(sent, new Date());
      expected.push(`${name}: ${right}`);
      await transport.sendMail({ envelope: { from: TEAM, to: sent.replyTo }, raw });
    }
    const stored = createStoredInquiries(own);
    // One for each: who has answered, what came back, what is forwarded.
    const mails = await vi.waitUntil(async () => {
      const all = await readMails();
      const told = all.filter(({ to }) => to === TEAM).length - answers.length;
      const isTaken = expected.filter((one) => !/: \[[a-z]+\]$/.test(one)).length;
      const kept = await Promise.all(rows.map(async ({ id }) => stored.get(id)));
      // An answer with several notices would otherwise count for one that is not mailed yet.
      const isMailed = kept.every(
        (row) => row?.reply === undefined || all.some(({ to }) => to === row.email),
      );
      const isTold = told >= answers.length && all.length >= 2 * answers.length + isTaken;
      return isTold && isMailed && all;
    }, WAIT);
    const found = await Promise.all(
      rows.map(async (row, at) => {
        const { reply } = (await stored.get(row.id)) ?? {};
        const owners = mails.filter(({ to }) => to === row.email);
        const isMailed = owners.length === 1 && owners[0]?.text.includes(reply ?? '') === true;
        const [name, right = ''] = expected[at]?.split(/: (.*)/s) ?? [];
        if (reply === undefined) return `${name}: ${owners.length === 0 ? right : 'mailed'}`;
        return `${name}: ${isMailed ? reply : 'not mailed'}`;
      }),
    );
    // A footer is one line here.
    const toWords = (text: string): string => text.replaceAll(/\s+/g, ' ');
    expect(found.map(toWords)).toEqual(expected.map(toWords));
    expect(expected.length).toBeGreaterThan(60);
  });
});
