/** The built mailer against a real table and an SES that fails in every way. */
import { paginateScan, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
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
import { INBOX, makeOwner, refuseMail, startMailer, toRecord } from '../helpers/mailer.ts';
import type { Mailer, Row, StreamRecord } from '../helpers/mailer.ts';
import { SES_EXAMPLES, toEvent } from '../helpers/ses-events.ts';

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

  /** The record of a new inquiry. */
  const insert = async (inquiry: Inquiry): Promise<StreamRecord> =>
    toRecord(await mailer.readRow(inquiry));
  const createRecord = async (): Promise<StreamRecord> => insert(await mailer.create());
  const createRecords = (count: number): Promise<StreamRecord[]> =>
    Promise.all(Array.from({ length: count }, createRecord));
  /** The record of a reply to a row. */
  const toReply = (row: Row, reply = 'r'): StreamRecord => {
    const { reply: _answered, ...OldImage } = row;
    return toRecord({ ...OldImage, reply: { S: reply } }, { eventName: 'MODIFY', OldImage });
  };
  const sequenceOf = ({ dynamodb }: StreamRecord): string => dynamodb.SequenceNumber;
  const subjects = (): string[] => mailer.mails.map(({ Content }) => Content.Simple.Subject.Data);

  describe('mails', () => {
    it('a new inquiry to the team, with the owner in Reply-To', async () => {
      const inquiry = await mailer.create(undefined, {
        subject: 'Lamp',
        body: 'It is broken.\nWhat now?',
      });
      expect(await mailer.handle([await insert(inquiry)])).toEqual([]);
      expect(mailer.mails).toEqual([
        {
          FromEmailAddress: INBOX.INBOX_FROM,
          Destination: { ToAddresses: [INBOX.INBOX_TO] },
          ReplyToAddresses: ['ana@example.com'],
          ConfigurationSetName: 'inquiries-develop',
          EmailTags: [
            { Name: 'inquiry', Value: inquiry.id },
            { Name: 'mail', Value: 'inquiry' },
          ],
          Content: {
            Simple: {
              Subject: { Charset: 'UTF-8', Data: '[inquiries develop] Lamp' },
              Body: {
                Text: {
                  Charset: 'UTF-8',
                  Data: expect.stringMatching(/^\| It is broken\.\n\| What now\?\n/),
                },
                Html: {
                  Charset: 'UTF-8',
                  Data: expect.stringContaining('It is broken.<br>\nWhat now?'),
                },
              },
              Headers: [
                { Name: 'References', Value: `<${inquiry.id}@mail.example.com>` },
                { Name: 'Auto-Submitted', Value: 'auto-generated' },
              ],
            },
          },
        },
      ]);
      expect((await mailer.takeLog(1)).outcomes).toEqual(['sent']);
    });

    it('all of a batch as large as Lambda’s payload, in 128 MB', async () => {
      const records = [];
      for (let n = 0; n < 10; n++) {
        const row = await mailer.readRow(
          await mailer.create(undefined, { body: '<'.repeat(200_000) }),
        );
        records.push(toReply(row, 'r'.repeat(190_000)));
      }
      expect(JSON.stringify(records).length).toBeGreaterThan(5_900_000);
      expect(JSON.stringify(records).length).toBeLessThan(6_291_556);
      expect(await mailer.handle(records)).toEqual([]);
      expect(mailer.mails).toHaveLength(10);
    });

    it('nothing for other records: dismissed, answered before, copied with an answer, deleted, of other entities', async () => {
      const inquiry = await mailer.create();
      const before = await mailer.readRow(inquiry);
      await mailer.inbox.answer(inquiry.id, { respondent: 'bea' });
      const dismissed = await mailer.readRow(inquiry);
      const answered = { ...dismissed, reply: { S: 'r' } };
      const records = [
        toRecord(dismissed, { eventName: 'MODIFY', OldImage: before }),
        toRecord(answered, { eventName: 'MODIFY', OldImage: { ...answered, reply: { S: 'q' } } }),
        toRecord(answered),
        toRecord(before, { eventName: 'REMOVE' }),
        toRecord({ ...before, __edb_e__: { S: 'delivery' } }),
      ];
      expect(await mailer.handle(records)).toEqual([]);
      expect(mailer.mails).toEqual([]);
    });

    it('nothing about inquiries of smoke tests: neither to the team nor to their owner, nor for an operator', async () => {
      const inquiry = await mailer.create(makeOwner('smoke-test-1@inquiries.invalid'));
      const row = await mailer.readRow(inquiry);
      expect(await mailer.handle([toRecord(row), toReply(row)])).toEqual([]);
      expect(await mailer.invoke({ ids: [inquiry.id], again: true })).toMatchObject({
        results: [{ outcome: 'erased' }],
      });
      expect(mailer.mails).toEqual([]);
    });

    it('nothing about what has expired or was erased in the meantime', async () => {
      const [expired, erased] = [await mailer.create(), await mailer.create()];
      const records = [
        toRecord({ ...(await mailer.readRow(expired)), expires_at: { N: '1700000000' } }),
        await insert(erased),
      ];
      await mailer.remove(erased);
      expect(await mailer.handle(records)).toEqual([]);
      expect(mailer.mails).toEqual([]);
      expect((await mailer.takeLog(2)).outcomes).toEqual(['expired', 'erased']);
    });
  });

  describe('sends each mail once', () => {
    it('when the delivery record cannot be written', async () => {
      const record = await createRecord();
      mailer.databaseFaults.plan = (_, operation) =>
        operation === 'PutItem' ? refuse(400, 'AccessDeniedException') : undefined;
      expect(await mailer.handle([record])).toEqual([]);
      expect(mailer.mails).toHaveLength(1);
      const { outcomes, text } = await mailer.takeLog(1);
      expect(outcomes).toEqual(['sent']);
      expect(text).toContain('"errorName":"AccessDeniedException"');
    });

    it('by delivery records without personal data, which expire, and which the operators’ index does not have', async () => {
      const inquiry = await mailer.create(makeOwner('unmistakable@example.com'));
      await mailer.handle([await insert(inquiry)]);
      const pages = await Array.fromAsync(
        paginateScan({ client: mailer.client }, { TableName: mailer.table }),
      );
      const own = pages
        .flatMap(({ Items = [] }) => Items)
        .filter((item) => item['__edb_e__'] !== 'inquiry');
      expect(new Set(own.map((item) => item['__edb_e__'] as string))).toEqual(
        new Set(['delivery', 'quota']),
      );
      const { id } = inquiry;
      expect(own).toContainEqual(
        expect.objectContaining({ __edb_e__: 'delivery', mail: 'inquiry', inquiry: id }),
      );
      for (const item of own) {
        expect(item['expires_at']).toBeGreaterThan(Date.now() / 1_000 + 2 * 86_400 - 3_600);
        expect(item).not.toHaveProperty('id');
        expect(JSON.stringify(item)).not.toMatch(/unmistakable/);
        expect(JSON.stringify(item)).not.toContain(inquiry.cognito_sub);
      }
      const index = { TableName: mailer.table, IndexName: 'by-state' };
      const { Items: listed = [] } = await mailer.client.send(new ScanCommand(index));
      expect(listed).not.toEqual([]);
      for (const item of listed) expect(item).toHaveProperty('created_at');
    });
  });

  it.each<[string, object]>([
    ['without a subject', { subject: undefined }],
    ['with a malformed id', { id: { S: 'poison@example.com' } }],
    ['with a body that is a number', { body: { N: '5' } }],
    ['with a number that JavaScript does not have', { body: { N: '9'.repeat(38) } }],
  ])('a poison row %s holds nothing back', async (_, poison) => {
    const [before, after] = [await createRecord(), await createRecord()];
    const bad = toRecord({ ...(await mailer.readRow(await mailer.create())), ...poison });
    expect(await mailer.handle([before, bad, after])).toEqual([]);
    expect(mailer.mails).toHaveLength(2);
    const { outcomes, text } = await mailer.takeLog(3);
    expect(outcomes.toSorted()).toEqual(['refused', 'sent', 'sent']);
    expect(text).toContain('"errorName":"MalformedRow"');
    expect(text).toContain(`"sequenceNumber":"${sequenceOf(bad)}"`);
    expect(text).not.toContain('@');
  });

  it('a row that DynamoDB refuses is not tried again and holds nothing back', async () => {
    const [before, after] = [await createRecord(), await createRecord()];
    // A key that has it would be too long.
    const email = { S: `${'a'.repeat(390_000)}@example.com` };
    const row = { ...(await mailer.readRow(await mailer.create())), email };
    expect(await mailer.handle([before, toRecord(row), toReply(row), after])).toEqual([]);
    // One is about the reply.
    expect(mailer.mails).toHaveLength(3);
    const { outcomes, text } = await mailer.takeLog(5);
    expect(outcomes.toSorted()).toEqual(['refused', 'refused', 'sent', 'sent', 'sent']);
    expect(text).toContain('"errorName":"ValidationException"');
  });

  describe('when SES', () => {
    const refusal = always(refuseMail(400, 'MessageRejected'));
    const tooFast = refuseMail(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.');
    const overQuota = refuseMail(429, 'TooManyRequestsException', 'Daily message quota exceeded.');
    const unverified = always(
      refuseMail(
        400,
        'MessageRejected',
        'Email address is not verified. The following identities failed',
      ),
    );

    it('never answers, the invocation ends in time and reports what it could not send', async () => {
      mailer.mailFaults.plan = always(hang);
      const records = await createRecords(12);
      const start = performance.now();
      // 3 s for ten mails, 2 s for their records and 1 s of reserve; no time for the others.
      expect(await mailer.handle(records, 6_100)).toEqual(records.map(sequenceOf));
      expect(performance.now() - start).toBeLessThan(6_100);
      const { outcomes } = await mailer.takeLog(12);
      expect(outcomes.toSorted()).toEqual(['deferred', 'deferred', ...Array(10).fill('failed')]);
    });

    it.each<[string, Plan, number]>([
      ['throttles twice', first(2, tooFast), 1],
      ['fails twice', first(2, refuseMail(500, 'InternalFailure')), 1],
      ['ends the connection', first(1, cutConnection('before', 'reset')), 1],
      // SES has no idempotency token: a mail whose acceptance was not heard of is sent again.
      ['accepts and ends the connection', first(1, cutConnection('after', 'reset')), 2],
    ])('%s, the mail is sent', async (_, plan, mails) => {
      mailer.mailFaults.plan = plan;
      const record = await createRecord();
      expect(await mailer.handle([record])).toEqual([]);
      expect(await mailer.handle([record])).toEqual([]);
      expect(mailer.mails).toHaveLength(mails);
      expect(new Set(mailer.mails.map(({ Content }) => JSON.stringify(Content))).size).toBe(1);
    });

    it.each<[string, Plan, string]>([
      ['has sent its daily quota', always(overQuota), 'TooManyRequestsException'],
      [
        'sends HTML',
        always(answer(503, '<html>secret</html>', { 'content-type': 'text/html' })),
        '',
      ],
      ['has paused', always(refuseMail(400, 'SendingPausedException')), 'SendingPausedException'],
      ['has no verified identity', unverified, 'MessageRejected'],
      ['answers without a MessageId', always(answer(200, '{}')), 'UnconfirmedMail'],
      ['is out of reach', always(cutConnection('before', 'close')), ''],
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

    it('throttles for long, the mails wait, and are reported as deferred, not as failures', async () => {
      mailer.mailFaults.plan = always(tooFast);
      const records = await createRecords(12);
      const start = performance.now();
      expect(await mailer.handle(records, 7_000)).toEqual(records.map(sequenceOf));
      expect(performance.now() - start).toBeLessThan(7_000);
      // The SDK tries three times at once; ten mails that did not wait would try hundreds of times.
      expect(mailer.mailFaults.attempts).toBeLessThan(150);
      const { outcomes, text } = await mailer.takeLog(12);
      expect(new Set(outcomes)).toEqual(new Set(['deferred']));
      expect(text).toContain('"errorName":"TooManyRequestsException"');
      expect(text).not.toContain('"MailFailures":1');
    });

    it('rejects one mail, it is logged as an error and not tried again; the others are sent', async () => {
      const records = await createRecords(3);
      mailer.mailFaults.plan = (attempt, operation) =>
        attempt === 1 ? refusal(0, operation) : undefined;
      expect(await mailer.handle(records)).toEqual([]);
      expect(mailer.mails).toHaveLength(2);
      const { outcomes, text } = await mailer.takeLog(3);
      expect(outcomes.toSorted()).toEqual(['refused', 'sent', 'sent']);
      expect(text).toMatch(/"level":"ERROR".*"refused"/);
    });
  });

  const failing =
    (failed: string): Plan =>
    (_, operation) =>
      operation === failed ? refuse(500, 'InternalServerError') : undefined;
  it.each<[string, Plan]>([
    ['throttles', always(refuse(400, 'ThrottlingException'))],
    ['cannot be read', failing('GetItem')],
    ['cannot count', failing('UpdateItem')],
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
    const lost = {
      id: '019aa0c8-6f77-70a2-a975-366ad3f1860a',
      created_at: '2025-11-20T06:11:02.647Z',
    };
    const createTrial = (kind: 'inquiry' | 'reply', row: Row = {}) => {
      const { sub, email } = makeOwner('smoke-test-7@inquiries.invalid');
      const columns = {
        ...lost,
        cognito_sub: sub,
        email,
        subject: 's',
        body: 'b',
        __edb_e__: 'inquiry',
      };
      const image = { ...marshall(columns), ...row };
      return { trial: true, Records: [kind === 'inquiry' ? toRecord(image) : toReply(image)] };
    };

    it.each(['inquiry', 'reply'] as const)(
      'does everything of a mail (%s) but send it, again and again',
      async (kind) => {
        for (let n = 0; n < 2; n++) {
          expect(await mailer.invoke(createTrial(kind))).toEqual({ batchItemFailures: [] });
        }
        expect(mailer.mails).toEqual([]);
      },
    );

    it('sends nothing, also of an inquiry of a user', async () => {
      const { NewImage } = (await createRecord()).dynamodb;
      await mailer.invoke(createTrial('inquiry', NewImage));
      await mailer.invoke(createTrial('reply', NewImage));
      expect(mailer.mails).toEqual([]);
    });

    it.each<[string, Row, Plan]>([
      ['the row is malformed', { body: { N: '5' } }, never],
      ['the address takes no mail', { email: { S: 'nobody' } }, never],
      ['the record calls for no mail', { __edb_e__: { S: 'delivery' } }, never],
      ['the table cannot be read', {}, always(refuse(400, 'AccessDeniedException'))],
      [
        'the records cannot be written',
        {},
        (_, operation) =>
          operation === 'PutItem' ? refuse(400, 'AccessDeniedException') : undefined,
      ],
    ])('fails when %s', async (_, row, plan) => {
      mailer.databaseFaults.plan = plan;
      await expect(mailer.invoke(createTrial('reply', row))).rejects.toBeInstanceOf(Error);
      expect(mailer.mails).toEqual([]);
    });
  });

  describe('an operator', () => {
    it('sends what was not sent, by ids', async () => {
      const create = (subject: string) => mailer.create(undefined, { subject });
      const [lost, sent] = [await create('lost'), await create('sent')];
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
      expect(await mailer.invoke({ ids: [sent.id], again: true })).toEqual({
        results: [{ id: sent.id, outcome: 'sent' }],
      });
      expect(subjects().at(-1)).toBe('[inquiries develop] sent');
    });

    it('finds an inquiry whose email has a line end', async () => {
      const { id } = await mailer.create(makeOwner('ana\nbea@example.com'));
      expect(await mailer.invoke({ ids: [id] })).toMatchObject({
        results: [{ id, outcome: 'sent' }],
      });
    });

    it('learns what failed', async () => {
      const { id } = await mailer.create();
      mailer.mailFaults.plan = always(refuseMail(400, 'SendingPausedException'));
      expect(await mailer.invoke({ ids: [id] })).toEqual({ results: [{ id, outcome: 'failed' }] });
    });

    it.each([
      ['a text', 'x'],
      ['records of a queue', { Records: [{ body: 'x' }] }],
      ['a malformed id', { ids: ['x'] }],
      ['too many ids', { ids: Array(101).fill('01a1f794-6f77-70a2-a975-366ad3f1860a') }],
      ['another value of again', { ids: [], again: 'yes' }],
    ])('gets an error for %s', async (_, event) => {
      await expect(mailer.invoke(event)).rejects.toMatchObject({
        cause: expect.stringContaining('The event is neither a batch of the stream nor'),
      });
    });
  });

  describe('what is not with its recipient', () => {
    const readReply = async (inquiry: string) => {
      const deliveries = createDeliveryEntity(mailer.table, mailer.client);
      return (await deliveries.get({ inquiry, mail: 'reply' }).go({ consistent: true })).data;
    };
    const asTransient = (subtype: string) =>
      SES_EXAMPLES.bounce
        .replace('"Permanent"', '"Transient"')
        .replace('"General"', `"${subtype}"`);
    const textOfFirst = () => mailer.mails[0]?.Content.Simple.Body.Text.Data;

    const rejected = first(1, refuseMail(400, 'MessageRejected'));
    it.each([
      ['no-address', 'müller@example.de', never, 'No mail can be sent to this address'],
      ['no-address', 'ana@example.com\r\nBcc: eve@example.com', never, 'was not sent'],
      ['refused', 'ana@example.com', rejected, 'SES refuses it, and it is not tried again'],
    ])(
      'a reply is known for %s (%j), and the team gets a mail',
      async (outcome, email, plan, said) => {
        const { id, ...inquiry } = await mailer.create(makeOwner(email));
        mailer.mailFaults.plan = plan;
        const row = await mailer.readRow({ id, ...inquiry });
        expect(await mailer.handle([toReply(row)])).toEqual([]);
        const undelivered = { undelivered: 'refused', expires_at: Number(row['expires_at']?.N) };
        expect(await readReply(id)).toMatchObject(undelivered);
        const { outcomes, text } = await mailer.takeLog(2);
        expect(outcomes).toEqual([outcome, 'sent']);
        expect(text).toMatch(new RegExp(`"level":"ERROR".*"outcome":"${outcome}"`));
        expect(mailer.mails.map(({ Destination }) => Destination.ToAddresses)).toEqual([
          [INBOX.INBOX_TO],
        ]);
        expect(textOfFirst()).toContain(said);
        // An operator can send it later.
        await mailer.inbox.answer(id, { reply: 'r', respondent: 'bea' });
        const later = outcome === 'refused' ? 'sent' : outcome;
        expect(await mailer.invoke({ ids: [id] })).toEqual({ results: [{ id, outcome: later }] });
        expect((await readReply(id))?.undelivered).toBe(later === 'sent' ? undefined : 'refused');
      },
    );

    it.each([
      ['bounce', SES_EXAMPLES.bounce, 'could not be delivered', '| smtp; 550 5.1.1 user unknown'],
      ['bounce', asTransient('MailboxFull'), 'could not be delivered', 'The mailbox is full.'],
      [undefined, asTransient('General'), 'may not have arrived', 'can also be an automatic reply'],
      ['complaint', SES_EXAMPLES.complaint, 'was reported as spam', '| The answer.'],
    ])(
      'a reply is known for its %s, and the team gets a mail',
      async (undelivered, message, fate, said) => {
        const inquiry = await mailer.create();
        const { id } = inquiry;
        await mailer.inbox.answer(id, { reply: 'The answer.', respondent: 'bea' });
        await mailer.handle([toReply(await mailer.readRow(inquiry))]);
        mailer.mails.length = 0;
        const event = toEvent(message, { inquiry: id, mail: 'reply' });
        expect(await mailer.invoke(event)).toEqual({ outcomes: ['sent'] });
        const delivery = await readReply(id);
        expect([delivery?.undelivered, delivery?.sent_at]).toEqual([
          undelivered,
          expect.any(String),
        ]);
        expect(mailer.mails[0]?.Destination.ToAddresses).toEqual([INBOX.INBOX_TO]);
        expect(subjects()).toEqual([`[inquiries develop] The reply to ${id.slice(0, 13)} ${fate}`]);
        expect(textOfFirst()).toContain(said);
      },
    );

    it('a mail of the user pool is in a mail to the team', async () => {
      expect(await mailer.invoke(toEvent(SES_EXAMPLES.bounce))).toEqual({ outcomes: ['sent'] });
      expect(subjects()).toEqual([
        '[inquiries develop] A mail of the user pool could not be delivered',
      ]);
      expect(textOfFirst()).toContain('To recipient@example.com');
    });

    it('a mail to the team is an error in the log and in no other mail', async () => {
      const event = toEvent(SES_EXAMPLES.bounce, { mail: 'inquiry' });
      expect(await mailer.invoke(event)).toEqual({ outcomes: ['undelivered'] });
      expect(mailer.mails).toEqual([]);
      expect((await mailer.takeLog(1)).text).toMatch(/"level":"ERROR".*"outcome":"undelivered"/);
    });

    it('nothing is said of an erased inquiry, of an automatic reply to an acknowledgement, and of SES’s test', async () => {
      const old = { inquiry: '01a1f794-6f77-70a2-a975-366ad3f1860a', mail: 'reply' };
      expect(await mailer.invoke(toEvent(SES_EXAMPLES.bounce, old))).toEqual({
        outcomes: ['erased'],
      });
      const { id } = await mailer.create();
      const automatic = toEvent(asTransient('General'), { inquiry: id, mail: 'acknowledgement' });
      expect(await mailer.invoke(automatic)).toEqual({ outcomes: ['idle'] });
      const Message = 'Successfully validated SNS topic for Amazon SES event publishing.';
      expect(await mailer.invoke({ Records: [{ Sns: { Message } }] })).toEqual({
        outcomes: ['idle'],
      });
      expect(mailer.mails).toEqual([]);
    });

    it('a malformed message ends with one line', async () => {
      const Records = [{ Sns: { Message: '{' } }];
      expect(await mailer.invoke({ Records })).toEqual({ outcomes: ['refused'] });
      expect(mailer.mails).toEqual([]);
      expect((await mailer.takeLog(1)).text).toMatch(/"level":"ERROR".*"MalformedEvent"/);
    });
  });

  it('logs and counts without a text, an address or a name', async () => {
    const canary = 'canary7b1';
    const content = { subject: canary, body: canary };
    const inquiry = await mailer.create(makeOwner(`${canary}@example.com`), content);
    await mailer.handle([await insert(inquiry)]);
    const { text } = await mailer.takeLog(1);
    const [line = '', metrics = ''] = text.split('\n');
    expect(text).not.toMatch(/canary7b1|@/);
    expect(JSON.parse(line)).toMatchObject({
      level: 'INFO',
      message: {
        inquiry: inquiry.id,
        mail: 'inquiry',
        outcome: 'sent',
        sequenceNumber: expect.any(String),
      },
    });
    const values = {
      FunctionName: 'inquiries-local',
      MailsSent: 1,
      MailFailures: 0,
      MailsWithheld: 0,
    };
    expect(JSON.parse(metrics)).toMatchObject(values);
  });
});
