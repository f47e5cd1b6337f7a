import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { always, answer, first, never, refuse, RESET, type Plan } from '../helpers/fault-proxy.ts';
import { INQUIRY, SUB } from '../helpers/events.ts';
import {
  idOf,
  INBOX,
  refuseMail,
  sequenceOf,
  startMailer,
  toRecord,
  toReply,
  type Mailer,
  type Row,
  type StreamRecord,
} from '../helpers/mailer.ts';
import { readTable } from '../helpers/own-table.ts';
import { SES_EXAMPLES, toEvent } from '../helpers/ses-events.ts';

const SMOKE_TEST = 'smoke-test-1@inquiries.invalid';
const failing =
  (failed: string, fault = refuse(500, 'InternalServerError')): Plan =>
  (_, operation) =>
    operation === failed ? fault : undefined;
const overQuota = refuseMail(429, 'TooManyRequestsException', 'Daily message quota exceeded.');
const unverified = refuseMail(400, 'MessageRejected', 'Email address is not verified.');
const rejected = refuseMail(400, 'MessageRejected');
const html = answer(503, '<html>secret</html>', { 'content-type': 'text/html' });

describeOnDynamoDbLocal('the mailer', (engine) => {
  let mailer: Mailer;
  beforeAll(async () => {
    mailer = await startMailer(engine);
    return mailer.close;
  });
  beforeEach(() => mailer.reset());

  const absent = toRecord(
    marshall({ ...INQUIRY, email: 'trial@trial.invalid', __edb_e__: 'inquiry' }),
  );
  const write = (count: number) => mailer.write(Array.from({ length: count }, () => ({})));

  it('asks SES for the mail', async () => {
    const records = await mailer.write([{ subject: 'Lamp', body: 'It is broken.' }]);
    expect(await mailer.handle(records)).toEqual([]);
    const [inquiry = ''] = records.map(idOf);
    const named = (Name: string, Value: string) => ({ Name, Value });
    const toText = (Data: unknown) => ({ Charset: 'UTF-8', Data });
    expect(mailer.mails).toMatchObject([
      {
        FromEmailAddress: INBOX.INBOX_FROM,
        Destination: { ToAddresses: [INBOX.INBOX_TO] },
        ReplyToAddresses: ['ana@example.com'],
        ConfigurationSetName: 'inquiries-develop',
        EmailTags: [named('inquiry', inquiry), named('mail', 'inquiry')],
        Content: {
          Simple: {
            Subject: toText('[inquiries develop] Lamp'),
            Body: {
              Text: toText(expect.stringMatching(/^\| It is broken\.\n/)),
              Html: toText(expect.stringContaining('>It is broken.<')),
            },
            Headers: [
              named('References', `<${inquiry}@mail.example.com>`),
              named('Auto-Submitted', 'auto-generated'),
              named('X-Auto-Response-Suppress', 'DR, RN, NRN, OOF, AutoReply'),
            ],
          },
        },
      },
    ]);
  });

  it('mails all of a batch as large as Lambda’s payload, in 128 MB', async () => {
    const [body, reply] = ['<'.repeat(200_000), 'r'.repeat(190_000)];
    const records = await mailer.write(Array.from({ length: 10 }, () => ({ body })));
    expect(await mailer.handle(records.map((record) => toReply(record, { reply })))).toEqual([]);
    expect(mailer.mails).toHaveLength(10);
  });

  it('mails nothing of other records, smoke tests and what has expired or was erased', async () => {
    const [inquiry = toRecord({}), erased = inquiry] = await write(2);
    const { NewImage } = inquiry.dynamodb;
    const { dynamodb: dismissed } = toReply(inquiry, { reply_at: 't' });
    const { reply: _, ...unreplied } = dismissed.NewImage;
    const smoke = await mailer.write([{ email: SMOKE_TEST }]);
    await mailer.remove(erased);
    const records = [
      toRecord(unreplied, NewImage),
      toReply(toRecord(dismissed.NewImage), { reply: 'another' }),
      toRecord(dismissed.NewImage),
      toRecord(NewImage, undefined, 'REMOVE'),
      toRecord({ ...NewImage, __edb_e__: { S: 'delivery' } }),
      ...smoke,
      ...smoke.map((record) => toReply(record)),
      toRecord({ ...NewImage, expires_at: { N: '1700000000' } }),
      erased,
    ];
    expect(await mailer.handle(records)).toEqual([]);
    expect(mailer.mails).toEqual([]);
    expect((await mailer.takeLog(2)).outcomes).toEqual(['erased', 'expired']);
  });

  it('has records that expire and are in no index, and logs, without personal data', async () => {
    const canary = 'canary7b1';
    const records = await mailer.write([
      { cognito_sub: canary, email: `${canary}@example.com`, subject: canary, body: canary },
    ]);
    const [inquiry = ''] = records.map(idOf);
    await mailer.handle(records);
    const rows = await readTable(mailer.client, mailer.table);
    const own = rows.filter((row) => row['__edb_e__'] !== 'inquiry');
    expect(own).toContainEqual(expect.objectContaining({ __edb_e__: 'delivery', inquiry }));
    for (const row of own) {
      expect(row['expires_at']).toBeGreaterThan(Date.now() / 1_000 + 2 * 86_400 - 3_600);
      // A key of the index.
      expect(row).not.toHaveProperty('id');
      expect(JSON.stringify(row)).not.toContain(canary);
    }
    const { text } = await mailer.takeLog(1);
    expect(text).not.toMatch(/canary7b1|@/);
    expect(text.split('\n').map((json) => JSON.parse(json) as unknown)).toMatchObject([
      { level: 'INFO', message: { inquiry, mail: 'inquiry', outcome: 'sent' } },
      { FunctionName: 'inquiries-local', MailsSent: 1, MailFailures: 0, MailsWithheld: 0 },
    ]);
  });

  /** What SES, the database or the row does; the outcome, the log, and the mails in the end. */
  it.each<[string, { ses?: Plan; database?: Plan; row?: Row }, string, string, number]>([
    // SES has no idempotency token: an accepted mail not known as sent is sent again, here and below.
    ['SES accepts and ends the connection', { ses: first(1, RESET) }, 'sent', '', 2],
    ['SES has sent its quota', { ses: always(overQuota) }, 'failed', 'TooManyRequests', 1],
    ['SES sends HTML', { ses: always(html) }, 'failed', '"MailFailures":1', 1],
    ['SES has no identity', { ses: always(unverified) }, 'failed', 'MessageRejected', 1],
    ['SES names no id', { ses: always(answer(200, '{}')) }, 'failed', 'UnconfirmedMail', 1],
    ['SES rejects the mail', { ses: always(rejected) }, 'refused', '"level":"ERROR"', 1],
    ['the row cannot be read', { database: failing('GetItem') }, 'failed', '', 1],
    ['it cannot be counted', { database: failing('UpdateItem') }, 'failed', '', 1],
    [
      'its delivery cannot be recorded',
      { database: failing('PutItem', refuse(400, 'AccessDeniedException')) },
      'sent',
      'AccessDenied',
      2,
    ],
    ['its id is malformed', { row: { id: { S: 'p@example.com' } } }, 'refused', 'MalformedRow', 0],
    // A key would be too long.
    [
      'DynamoDB refuses it',
      { row: { email: { S: `${'a'.repeat(390_000)}@example.com` } } },
      'refused',
      'ValidationException',
      0,
    ],
  ])(
    'when %s, a mail is in the end sent or not, or tried again',
    async (_, { ses = never, database = never, row }, outcome, said, mails) => {
      const [{ dynamodb } = absent] = await write(1);
      const record = toRecord({ ...dynamodb.NewImage, ...row });
      mailer.mailFaults.plan = ses;
      mailer.databaseFaults.plan = database;
      const failed = outcome === 'failed' ? [sequenceOf(record)] : [];
      expect(await mailer.handle([record])).toEqual(failed);
      const { outcomes, text } = await mailer.takeLog(1);
      expect(outcomes).toEqual([outcome]);
      expect(text).toContain(`"sequenceNumber":"${sequenceOf(record)}"`);
      expect(text).toContain(said);
      expect(text).not.toMatch(/secret|@/);
      mailer.mailFaults.plan = never;
      if (outcome === 'failed') mailer.databaseFaults.plan = never;
      expect(await mailer.handle([record])).toEqual([]);
      expect(mailer.mails).toHaveLength(mails);
    },
  );

  const toTrial = (record: StreamRecord) => ({ Records: [record], trial: true });

  it('a trial of a deployment does everything of a mail but send it, again and again', async () => {
    for (const record of [absent, ...(await write(1))]) {
      for (const one of [record, toReply(record), toReply(record)]) {
        expect(await mailer.invoke(toTrial(one))).toMatchObject({
          result: { batchItemFailures: [] },
          mails: [expect.stringContaining('@')],
        });
      }
    }
    expect(mailer.mails).toEqual([]);
  });

  it('a trial of the timer sends no digest, and takes none from the next one', async () => {
    const at = Date.now() - 600_000;
    await mailer.handle(
      await mailer.write(Array.from({ length: 11 }, () => ({ at, cognito_sub: SUB }))),
    );
    mailer.reset();
    const before = await readTable(mailer.client, mailer.table);
    expect(await mailer.invoke({ digest: true, trial: true })).toEqual({
      result: { digest: 'sent', daily: 'idle' },
      mails: [INBOX.INBOX_TO],
    });
    expect(mailer.mails).toEqual([]);
    expect(await readTable(mailer.client, mailer.table)).toEqual(before);
  });

  it.each<[string, Row, Plan]>([
    ['the row is malformed', { body: { N: '5' } }, never],
    ['the records cannot be written', {}, failing('PutItem')],
  ])('a trial fails when %s', async (_, row, plan) => {
    mailer.databaseFaults.plan = plan;
    const trial = toTrial(toReply(toRecord({ ...absent.dynamodb.NewImage, ...row })));
    await expect(mailer.invoke(trial)).rejects.toBeInstanceOf(Error);
  });

  it('an operator sends what was not sent, by ids, and learns what failed', async () => {
    const records = await mailer.write([
      { subject: 'lost', email: 'ana\nbea@example.com' },
      ...['sent', 'dismissed', 'answered'].map((subject) => ({ subject })),
    ]);
    const ids = [...records.map(idOf), INQUIRY.id];
    const [, sent = '', dismissed = '', answered = ''] = ids;
    await mailer.handle(records.slice(1, 2));
    await mailer.answer(dismissed, { respondent: 'bea' });
    await mailer.answer(answered, { reply: 'r', respondent: 'bea' });
    const outcomes = ['sent', 'already-sent', 'answered', 'sent', 'erased'];
    const results = ids.map((id, at) => ({ id, outcome: outcomes[at] }));
    expect(await mailer.invoke({ ids })).toEqual({ results });
    const subjects = ['[inquiries develop] sent', '[inquiries develop] lost', 'Re: answered'];
    expect(mailer.mails.map(({ Content }) => Content.Simple.Subject.Data)).toEqual(subjects);
    const again = { ids: [sent], again: true };
    expect(await mailer.invoke(again)).toMatchObject({ results: [{ outcome: 'sent' }] });
    mailer.mailFaults.plan = always(refuseMail(400, 'SendingPausedException'));
    expect(await mailer.invoke(again)).toMatchObject({ results: [{ outcome: 'failed' }] });
  });

  it.each([
    ['records of S3', { Records: [{ s3: {} }] }],
    ['a malformed id', { ids: ['x'] }],
    ['too many ids', { ids: Array(101).fill(INQUIRY.id) }],
    ['another value of again', { ids: [], again: 'yes' }],
  ])('refuses %s', async (_, event) =>
    expect(mailer.invoke(event)).rejects.toMatchObject({
      cause: expect.stringContaining('The event is neither a batch of the stream nor'),
    }),
  );

  it('logs a mail to the team that came back as an error', async () => {
    await mailer.invoke(toEvent(SES_EXAMPLES.bounce, { mail: 'inquiry' }));
    expect((await mailer.takeLog(1)).text).toMatch(/"level":"ERROR".*"outcome":"undelivered"/);
  });
});
