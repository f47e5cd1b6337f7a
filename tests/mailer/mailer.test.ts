import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../local/lambda/sandbox.ts';
import { startMailbox } from '../../local/mailbox.ts';
import { HOUR } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY, MAIL_SETTINGS, SUB } from '../helpers/events.ts';
import { createMailerInstances, type MailerInstances } from '../helpers/mailer-instances.ts';
import {
  createWriter,
  idOf,
  INBOX,
  readFailures,
  toRecord,
  toReply,
  type Row,
} from '../helpers/mailer.ts';
import { createOwnTable, readTable } from '../helpers/own-table.ts';

const SMOKE_TEST = 'smoke-test-1@inquiries.invalid';
const TEAM = MAIL_SETTINGS.inboxTo;
const NO = new Error('no');
const START = Math.floor(Date.now() / HOUR) * HOUR;
const VERIFIED = { email: 'ana@example.com', email_verified: true } as const;

describeOnDynamoDbLocal('the mailer', (engine) => {
  let all: MailerInstances;
  let mailer: ReturnType<MailerInstances['create']>;
  beforeEach(async () => {
    all = await createMailerInstances(engine, { time: START });
    mailer = all.create();
  });

  const absent = toRecord(
    marshall({ ...INQUIRY, email: 'trial@trial.invalid', __edb_e__: 'inquiry' }),
  );
  const write = (count: number, row: object = {}) =>
    all.write(Array.from({ length: count }, () => ({ at: START, ...row })));

  it('is built to mail a batch as large as Lambda’s payload in 128 MB, and logs no text', async () => {
    const own = await createOwnTable(engine);
    const ses = await startMailbox(0);
    onTestFinished(ses.close);
    const lines: string[] = [];
    const sandbox = await startSandbox({
      module: new URL('../../dist/mailer.mjs', import.meta.url).href,
      environment: {
        ...own.environment(),
        ...INBOX,
        STAGE: 'develop',
        AWS_ENDPOINT_URL_SESV2: ses.url,
      },
      timeout: 600_000,
      log: (line) => void lines.push(line),
    });
    onTestFinished(sandbox.close);
    const inquiries = Array.from({ length: 10 }, () => ({ body: '<'.repeat(200_000) }));
    const records = await createWriter(own).write(inquiries);
    const Records = records.map((record) => toReply(record, { reply: 'r'.repeat(190_000) }));
    const { result } = await sandbox.invoke(JSON.stringify({ Records }));
    expect(readFailures(JSON.parse(result))).toEqual([]);
    expect(ses.mails).toHaveLength(10);
    await expect.poll(() => lines).toHaveLength(20);
    expect(lines.join('\n')).not.toMatch(/<|rr|@/);
  });

  it('mails nothing of other records, smoke tests and what has expired or was erased', async () => {
    const [inquiry = toRecord({}), erased = inquiry] = await write(2);
    const { NewImage } = inquiry.dynamodb;
    const { dynamodb: dismissed } = toReply(inquiry, { reply_at: 't' });
    const { reply: _, ...unreplied } = dismissed.NewImage;
    const smoke = await all.write([{ email: SMOKE_TEST }]);
    await all.remove(erased);
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
    expect(all.mails).toEqual([]);
    expect(all.log.map(({ outcome }) => outcome).toSorted()).toEqual(['erased', 'expired']);
  });

  it('has records that expire and are in no index, without personal data', async () => {
    const canary = 'canary7b1';
    const records = await all.write([
      { cognito_sub: canary, email: `${canary}@example.com`, subject: canary, body: canary },
    ]);
    const [inquiry = ''] = records.map(idOf);
    await mailer.handle(records);
    const rows = await readTable(all.client, all.table);
    const own = rows.filter((row) => row['__edb_e__'] !== 'inquiry');
    expect(own).toContainEqual(expect.objectContaining({ __edb_e__: 'delivery', inquiry }));
    for (const row of own) {
      expect(row['expires_at']).toBeGreaterThan(Date.now() / 1_000 + 2 * 86_400 - 3_600);
      // A key of the index.
      expect(row).not.toHaveProperty('id');
      expect(JSON.stringify(row)).not.toContain(canary);
    }
  });

  it('acknowledges to no unverified address, and to one address three times an hour', async () => {
    all = await createMailerInstances(engine, { time: START, acknowledge: true });
    mailer = all.create();
    const records = await write(5, VERIFIED);
    records.push(...(await write(5, { ...VERIFIED, email: 'Ana@example.com' })));
    records.push(...(await write(2, { email: 'bea@example.com' })));
    for (let n = 0; n < 2; n++) expect(await mailer.handle(records)).toEqual([]);
    const addresses = all.ofKind('acknowledgement').map(({ to }) => to.toLowerCase());
    expect(addresses).toEqual(Array(3).fill('ana@example.com'));
    await mailer.handle(await write(1, { ...VERIFIED, at: START + HOUR }));
    expect(all.ofKind('acknowledgement')).toHaveLength(4);
  });

  it('a trial of a deployment does everything of a mail but send it, again and again', async () => {
    for (const record of [absent, ...(await write(1))]) {
      for (const one of [record, toReply(record), toReply(record)]) {
        expect(await mailer.invoke({ trial: true, Records: [one] })).toMatchObject({
          result: { batchItemFailures: [] },
          mails: [expect.stringContaining('@')],
        });
      }
    }
    expect(all.mails).toEqual([]);
  });

  it('a trial of the timer sends no digest, and takes none from the next one', async () => {
    const at = START - 600_000;
    const flood = Array.from({ length: 11 }, () => ({ at, cognito_sub: SUB }));
    await mailer.handle(await all.write(flood));
    const before = await readTable(all.client, all.table);
    expect(await mailer.invoke({ trial: true, digest: true })).toEqual({
      result: { digest: 'sent', daily: 'idle' },
      mails: [TEAM],
    });
    expect(all.ofKind('digest')).toEqual([]);
    expect(await readTable(all.client, all.table)).toEqual(before);
  });

  it.each<[string, Row, Partial<Record<string, Error>>]>([
    ['the row is malformed', { body: { N: '5' } }, {}],
    ['the records cannot be written', {}, { PutCommand: NO }],
  ])('a trial fails when %s', async (_, row, failing) => {
    all.failing = failing;
    const record = toReply(toRecord({ ...absent.dynamodb.NewImage, ...row }));
    await expect(mailer.invoke({ trial: true, Records: [record] })).rejects.toThrow(
      'The trial failed.',
    );
  });

  it('an operator sends what was not sent, by ids, and learns what failed', async () => {
    const records = await all.write([
      { subject: 'lost', email: 'ana\nbea@example.com' },
      ...['sent', 'dismissed', 'answered'].map((subject) => ({ subject })),
    ]);
    const ids = [...records.map(idOf), INQUIRY.id];
    const [, sent = '', dismissed = '', answered = ''] = ids;
    await mailer.handle(records.slice(1, 2));
    await all.answer(dismissed);
    await all.answer(answered, 'r');
    const outcomes = ['sent', 'already-sent', 'answered', 'sent', 'erased'];
    const results = ids.map((id, at) => ({ id, outcome: outcomes[at] }));
    expect(await mailer.invoke({ ids })).toEqual({ results });
    const subjects = ['[inquiries develop] sent', '[inquiries develop] lost', 'Re: answered'];
    expect(all.mails.map(({ subject }) => subject)).toEqual(subjects);
    const again = { ids: [sent], again: true };
    expect(await mailer.invoke(again)).toMatchObject({ results: [{ outcome: 'sent' }] });
    all.failing = { inquiry: NO };
    expect(await mailer.invoke(again)).toMatchObject({ results: [{ outcome: 'failed' }] });
  });

  it.each([
    ['records of S3', { Records: [{ s3: {} }] }],
    ['a malformed id', { ids: ['x'] }],
    ['too many ids', { ids: Array(101).fill(INQUIRY.id) }],
    ['another value of again', { ids: [], again: 'yes' }],
  ])('refuses %s', async (_, event) =>
    expect(mailer.invoke(event)).rejects.toThrow('The event is neither a batch of the stream nor'),
  );
});
