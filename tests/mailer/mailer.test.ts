/** The built mailer against a real table and an SES that fails in every way. */
import { paginateScan, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import {
  always,
  answer,
  cutConnection,
  first,
  hang,
  never,
  refuse,
  type Plan,
} from '../helpers/fault-proxy.ts';
import { INQUIRY } from '../helpers/events.ts';
import { INBOX, makeOwner, refuseMail, startMailer, toRecord } from '../helpers/mailer.ts';
import type { Mailer, Row, StreamRecord } from '../helpers/mailer.ts';
import { SES_EXAMPLES, toEvent } from '../helpers/ses-events.ts';

const SMOKE_TEST = 'smoke-test-1@inquiries.invalid';

describeOnDynamoDbLocal('the mailer', (engine) => {
  let mailer: Mailer;
  beforeAll(async () => {
    mailer = await startMailer(engine);
  });
  afterAll(() => mailer.close());
  beforeEach(() => {
    mailer.mailFaults.plan = never;
    mailer.databaseFaults.plan = never;
    mailer.mails.length = 0;
    mailer.forget();
  });

  const insert = async (inquiry: Inquiry, columns: object = {}): Promise<StreamRecord> =>
    toRecord({ ...(await mailer.readRow(inquiry)), ...columns });
  /** The record of a new inquiry, with these columns. */
  const createRecord = async (columns?: object) => insert(await mailer.create(), columns);
  const createRecords = (count: number) =>
    Promise.all(Array.from({ length: count }, () => createRecord()));
  /** The record of a reply to a row. */
  const toReply = (row: Row, reply = 'r'): StreamRecord => {
    const { reply: _answered, ...OldImage } = row;
    return toRecord({ ...OldImage, reply: { S: reply } }, { eventName: 'MODIFY', OldImage });
  };
  const sequenceOf = ({ dynamodb }: StreamRecord): string => dynamodb.SequenceNumber;
  const subjects = (): string[] => mailer.mails.map(({ Content }) => Content.Simple.Subject.Data);
  const failing =
    (failed: string, fault = refuse(400, 'AccessDeniedException')): Plan =>
    (_, operation) =>
      operation === failed ? fault : undefined;

  it('asks SES for the mail', async () => {
    const inquiry = await mailer.create(undefined, { subject: 'Lamp', body: 'It is broken.' });
    expect(await mailer.handle([await insert(inquiry)])).toEqual([]);
    const named = (Name: string, Value: string) => ({ Name, Value });
    expect(mailer.mails).toMatchObject([
      {
        FromEmailAddress: INBOX.INBOX_FROM,
        Destination: { ToAddresses: [INBOX.INBOX_TO] },
        ReplyToAddresses: ['ana@example.com'],
        ConfigurationSetName: 'inquiries-develop',
        EmailTags: [named('inquiry', inquiry.id), named('mail', 'inquiry')],
        Content: {
          Simple: {
            Subject: { Charset: 'UTF-8', Data: '[inquiries develop] Lamp' },
            Body: {
              Text: { Charset: 'UTF-8', Data: expect.stringMatching(/^\| It is broken\.\n/) },
              Html: { Charset: 'UTF-8', Data: expect.stringContaining('>It is broken.<') },
            },
            Headers: [
              named('References', `<${inquiry.id}@mail.example.com>`),
              named('Auto-Submitted', 'auto-generated'),
            ],
          },
        },
      },
    ]);
  });

  it('mails all of a batch as large as Lambda’s payload, in 128 MB', async () => {
    const records = [];
    for (let n = 0; n < 10; n++) {
      const inquiry = await mailer.create(undefined, { body: '<'.repeat(200_000) });
      records.push(toReply(await mailer.readRow(inquiry), 'r'.repeat(190_000)));
    }
    expect(await mailer.handle(records)).toEqual([]);
    expect(mailer.mails).toHaveLength(10);
  });

  it('mails nothing of other records, smoke tests and what has expired or was erased', async () => {
    const inquiry = await mailer.create();
    const before = await mailer.readRow(inquiry);
    await mailer.inbox.answer(inquiry.id, { respondent: 'bea' });
    const dismissed = await mailer.readRow(inquiry);
    const answered = { ...dismissed, reply: { S: 'r' } };
    const smoke = await mailer.readRow(await mailer.create(makeOwner(SMOKE_TEST)));
    const erased = await mailer.create();
    const records = [
      toRecord(dismissed, { eventName: 'MODIFY', OldImage: before }),
      toRecord(answered, { eventName: 'MODIFY', OldImage: { ...answered, reply: { S: 'q' } } }),
      toRecord(answered),
      toRecord(before, { eventName: 'REMOVE' }),
      toRecord({ ...before, __edb_e__: { S: 'delivery' } }),
      toRecord(smoke),
      toReply(smoke),
      await createRecord({ expires_at: { N: '1700000000' } }),
      await insert(erased),
    ];
    await mailer.remove(erased);
    expect(await mailer.handle(records)).toEqual([]);
    expect(mailer.mails).toEqual([]);
    expect((await mailer.takeLog(2)).outcomes.toSorted()).toEqual(['erased', 'expired']);
  });

  it('sends a mail once when its delivery cannot be recorded', async () => {
    mailer.databaseFaults.plan = failing('PutItem');
    expect(await mailer.handle([await createRecord()])).toEqual([]);
    expect(mailer.mails).toHaveLength(1);
    const { outcomes, text } = await mailer.takeLog(1);
    expect(outcomes).toEqual(['sent']);
    expect(text).toContain('"errorName":"AccessDeniedException"');
  });

  it('has records that expire and are in no index, and logs, without personal data', async () => {
    const canary = 'canary7b1';
    const owner = makeOwner(`${canary}@example.com`);
    const inquiry = await mailer.create(owner, { subject: canary, body: canary });
    await mailer.handle([await insert(inquiry)]);
    const { client, table: TableName } = mailer;
    const pages = await Array.fromAsync(paginateScan({ client }, { TableName }));
    const rows = pages.flatMap(({ Items = [] }) => Items);
    const own = rows.filter((row) => row['__edb_e__'] !== 'inquiry');
    const delivery = { __edb_e__: 'delivery', mail: 'inquiry', inquiry: inquiry.id };
    expect(own).toContainEqual(expect.objectContaining(delivery));
    for (const row of own) {
      expect(row['expires_at']).toBeGreaterThan(Date.now() / 1_000 + 2 * 86_400 - 3_600);
      expect(row).not.toHaveProperty('id');
      expect(JSON.stringify(row)).not.toMatch(new RegExp(`${canary}|${owner.sub}`));
    }
    const index = new ScanCommand({ TableName, IndexName: 'by-state' });
    const { Items: listed = [] } = await client.send(index);
    expect(new Set(listed.map((row) => 'created_at' in row))).toEqual(new Set([true]));

    const { text } = await mailer.takeLog(1);
    expect(text).not.toMatch(/canary7b1|@/);
    const [line = '', metrics = ''] = text.split('\n');
    const message = { inquiry: inquiry.id, mail: 'inquiry', outcome: 'sent' };
    expect(JSON.parse(line)).toMatchObject({ level: 'INFO', message });
    const values = { MailsSent: 1, MailFailures: 0, MailsWithheld: 0 };
    expect(JSON.parse(metrics)).toMatchObject({ FunctionName: 'inquiries-local', ...values });
  });

  it.each<[string, object, string]>([
    ['with a malformed id', { id: { S: 'poison@example.com' } }, 'MalformedRow'],
    ['with a number that no text is', { body: { N: '9'.repeat(38) } }, 'MalformedRow'],
    // A key that has it would be too long.
    [
      'that DynamoDB refuses',
      { email: { S: `${'a'.repeat(390_000)}@example.com` } },
      'ValidationException',
    ],
  ])('a poison row %s is not tried again and holds nothing back', async (_, poison, errorName) => {
    const bad = await createRecord(poison);
    expect(await mailer.handle([bad, await createRecord()])).toEqual([]);
    expect(mailer.mails).toHaveLength(1);
    const { outcomes, text } = await mailer.takeLog(2);
    expect(outcomes.toSorted()).toEqual(['refused', 'sent']);
    expect(text).toMatch(new RegExp(`"sequenceNumber":"${sequenceOf(bad)}".*"${errorName}"`));
    expect(text).not.toContain('@');
  });

  describe('when SES', () => {
    const tooFast = refuseMail(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.');
    const overQuota = refuseMail(429, 'TooManyRequestsException', 'Daily message quota exceeded.');
    const unverified = refuseMail(400, 'MessageRejected', 'Email address is not verified.');
    const html = answer(503, '<html>secret</html>', { 'content-type': 'text/html' });

    it('never answers, the invocation ends in time and reports what it could not send', async () => {
      mailer.mailFaults.plan = always(hang);
      const records = await createRecords(12);
      const start = performance.now();
      // 3 s for ten mails, 2 s for their records and 1 s of reserve; no time for the others.
      const failed = await mailer.handle(records, 6_100);
      expect(failed.toSorted()).toEqual(records.map(sequenceOf).toSorted());
      expect(performance.now() - start).toBeLessThan(6_100);
      const { outcomes } = await mailer.takeLog(12);
      expect(outcomes.toSorted()).toEqual(['deferred', 'deferred', ...Array(10).fill('failed')]);
    });

    it.each<[string, Plan, number]>([
      ['throttles for long', first(5, tooFast), 1],
      ['fails twice', first(2, refuseMail(500, 'InternalFailure')), 1],
      // SES has no idempotency token: a mail whose acceptance was not heard of is sent again.
      ['accepts and ends the connection', first(1, cutConnection('after', 'reset')), 2],
    ])('%s, the mail is sent', async (_, plan, mails) => {
      mailer.mailFaults.plan = plan;
      const record = await createRecord();
      for (let n = 0; n < 2; n++) expect(await mailer.handle([record])).toEqual([]);
      expect(mailer.mails).toHaveLength(mails);
    });

    it.each<[string, Plan, string]>([
      ['has sent its daily quota', always(overQuota), 'TooManyRequestsException'],
      ['sends HTML', always(html), ''],
      ['has no verified identity', always(unverified), 'MessageRejected'],
      ['answers without a MessageId', always(answer(200, '{}')), 'UnconfirmedMail'],
    ])('%s, the mail is reported and sent later', async (_, plan, errorName) => {
      mailer.mailFaults.plan = plan;
      const record = await createRecord();
      expect(await mailer.handle([record])).toEqual([sequenceOf(record)]);
      const { outcomes, text } = await mailer.takeLog(1);
      expect(outcomes).toEqual(['failed']);
      expect(text).toContain(`"errorName":"${errorName}`);
      expect(text).toContain('"MailFailures":1');
      expect(text).not.toMatch(/secret|@/);
      mailer.mailFaults.plan = never;
      expect(await mailer.handle([record])).toEqual([]);
      expect(mailer.mails).toHaveLength(1);
    });

    it('throttles until the end, the mails are deferred and no failures', async () => {
      mailer.mailFaults.plan = always(tooFast);
      expect(await mailer.handle(await createRecords(12), 7_000)).toHaveLength(12);
      const { outcomes, text } = await mailer.takeLog(12);
      expect(new Set(outcomes)).toEqual(new Set(['deferred']));
      expect(text).not.toContain('"MailFailures":1');
    });

    it('rejects one mail, it is logged and not tried again; the others are sent', async () => {
      const records = await createRecords(3);
      mailer.mailFaults.plan = first(1, refuseMail(400, 'MessageRejected'));
      expect(await mailer.handle(records)).toEqual([]);
      expect(mailer.mails).toHaveLength(2);
      const { outcomes, text } = await mailer.takeLog(3);
      expect(outcomes.toSorted()).toEqual(['refused', 'sent', 'sent']);
      expect(text).toMatch(/"level":"ERROR".*"refused"/);
    });
  });

  const unavailable = refuse(500, 'InternalServerError');
  it.each<[string, Plan]>([
    ['cannot be read', failing('GetItem', unavailable)],
    ['cannot count', failing('UpdateItem', unavailable)],
  ])('when the database %s, no mail is sent, and the record is reported', async (_, plan) => {
    const record = await createRecord();
    mailer.databaseFaults.plan = plan;
    expect(await mailer.handle([record])).toEqual([sequenceOf(record)]);
    expect(mailer.mails).toEqual([]);
    mailer.databaseFaults.plan = never;
    expect(await mailer.handle([record])).toEqual([]);
    expect(mailer.mails).toHaveLength(1);
  });

  describe('a trial of a deployment', () => {
    const { sub, email } = makeOwner(SMOKE_TEST);
    const absent = { ...INQUIRY, cognito_sub: sub, email, __edb_e__: 'inquiry' };
    const toTrial = (record: StreamRecord) => ({ trial: true, Records: [record] });

    it('does everything of a mail but send it, again and again', async () => {
      const rows = [marshall(absent), await mailer.readRow(await mailer.create())];
      for (const row of rows) {
        for (const record of [toRecord(row), toReply(row), toReply(row)]) {
          expect(await mailer.invoke(toTrial(record))).toEqual({ batchItemFailures: [] });
        }
      }
      expect(mailer.mails).toEqual([]);
    });

    it.each<[string, Row, Plan]>([
      ['the row is malformed', { body: { N: '5' } }, never],
      ['the record calls for no mail', { __edb_e__: { S: 'delivery' } }, never],
      ['the records cannot be written', {}, failing('PutItem')],
    ])('fails when %s', async (_, row, plan) => {
      mailer.databaseFaults.plan = plan;
      const trial = toTrial(toReply({ ...marshall(absent), ...row }));
      await expect(mailer.invoke(trial)).rejects.toBeInstanceOf(Error);
    });
  });

  it('an operator sends what was not sent, by ids, and learns what failed', async () => {
    const create = (subject: string, email?: string) =>
      mailer.create(makeOwner(email), { subject });
    const [lost, sent] = [await create('lost', 'ana\nbea@example.com'), await create('sent')];
    const [dismissed, answered] = [await create('dismissed'), await create('answered')];
    await mailer.handle([await insert(sent)]);
    await mailer.inbox.answer(dismissed.id, { respondent: 'bea' });
    await mailer.inbox.answer(answered.id, { reply: 'r', respondent: 'bea' });
    const missing = '01a1f794-6f77-70a2-a975-366ad3f1860a';
    const ids = [lost.id, sent.id, dismissed.id, answered.id, missing];
    const outcomes = ['sent', 'already-sent', 'answered', 'sent', 'erased'];
    expect(await mailer.invoke({ ids })).toEqual({
      results: ids.map((id, index) => ({ id, outcome: outcomes[index] })),
    });
    expect(subjects()).toEqual([
      '[inquiries develop] sent',
      '[inquiries develop] lost',
      'Re: answered',
    ]);
    const again = { ids: [sent.id], again: true };
    expect(await mailer.invoke(again)).toMatchObject({ results: [{ outcome: 'sent' }] });
    mailer.mailFaults.plan = always(refuseMail(400, 'SendingPausedException'));
    expect(await mailer.invoke(again)).toMatchObject({ results: [{ outcome: 'failed' }] });
  });

  it.each([
    ['records of a queue', { Records: [{ body: 'x' }] }],
    ['a malformed id', { ids: ['x'] }],
    ['too many ids', { ids: Array(101).fill(INQUIRY.id) }],
    ['another value of again', { ids: [], again: 'yes' }],
  ])('refuses %s', async (_, event) =>
    expect(mailer.invoke(event)).rejects.toMatchObject({
      cause: expect.stringContaining('The event is neither a batch of the stream nor'),
    }),
  );

  it('logs a mail to the team that came back as an error', async () => {
    const event = toEvent(SES_EXAMPLES.bounce, { mail: 'inquiry' });
    expect(await mailer.invoke(event)).toEqual({ outcomes: ['undelivered'] });
    expect((await mailer.takeLog(1)).text).toMatch(/"level":"ERROR".*"outcome":"undelivered"/);
  });
});
