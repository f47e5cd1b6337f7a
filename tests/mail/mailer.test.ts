import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../local/lambda/sandbox.ts';
import { startMailbox } from '../../local/mail/mailbox.ts';
import { HOUR } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { createMailerInstances, type MailerInstances } from './mailer-instances.ts';
import { idOf, INBOX, readFailures, toRecord, toReply } from './test-mailer.ts';
import { readTable, toEnvironment } from '../helpers/own-table.ts';

const SMOKE_TEST = 'smoke-test-1@inquiries.invalid';
const START = Math.floor(Date.now() / HOUR) * HOUR;
const VERIFIED = { email: 'ana@example.com', email_verified: true } as const;

describeOnDynamoDbLocal('the mailer', (engine) => {
  let all: MailerInstances;
  let mailer: ReturnType<MailerInstances['create']>;
  beforeEach(async () => {
    all = await createMailerInstances(engine, { time: START });
    mailer = all.create();
  });

  const write = (count: number, row: object = {}) =>
    all.write(Array.from({ length: count }, () => ({ at: START, ...row })));

  it('is built to mail a batch as large as Lambda’s payload in 128 MB, and logs no text', async () => {
    const ses = await startMailbox(0);
    onTestFinished(ses.close);
    const lines: string[] = [];
    const sandbox = await startSandbox({
      module: new URL('../../dist/mailer.mjs', import.meta.url).href,
      environment: {
        ...toEnvironment(engine),
        ...INBOX,
        TABLE_NAME: all.table,
        STAGE: 'develop',
        AWS_ENDPOINT_URL_SESV2: ses.url,
      },
      timeout: 600_000,
      log: (line) => void lines.push(line),
    });
    onTestFinished(sandbox.close);
    const inquiries = Array.from({ length: 10 }, () => ({ body: '<'.repeat(200_000) }));
    const records = await all.write(inquiries);
    const Records = records.map((record) => toReply(record, { reply: 'r'.repeat(190_000) }));
    const { result } = await sandbox.invoke(JSON.stringify({ Records }));
    expect(readFailures(JSON.parse(result))).toEqual([]);
    expect(ses.mails).toHaveLength(10);
    await expect.poll(() => lines).toHaveLength(20);
    expect(lines.join('\n')).not.toMatch(/<|rr|@/);
  });

  it('mails nothing of other records, smoke tests and what has expired or was erased', async () => {
    const [inquiry, erased] = [await all.add(), await all.add()];
    const { NewImage } = inquiry.dynamodb;
    const { dynamodb: dismissed } = toReply(inquiry, { reply_at: 't' });
    const { reply: _, ...unreplied } = dismissed.NewImage;
    const smoke = await all.add({ email: SMOKE_TEST });
    await all.remove(erased);
    const records = [
      toRecord(unreplied, NewImage),
      toReply(toRecord(dismissed.NewImage), { reply: 'another' }),
      toRecord(dismissed.NewImage),
      toRecord({ ...dismissed.NewImage, files: { L: [{ S: 'a.pdf' }] } }, NewImage),
      toRecord(NewImage, undefined, 'REMOVE'),
      toRecord({ ...NewImage, __edb_e__: { S: 'delivery' } }),
      smoke,
      toReply(smoke),
      toRecord({ ...NewImage, expires_at: { N: '1700000000' } }),
      erased,
    ];
    expect(await mailer.handle(records)).toEqual([]);
    expect(all.mails).toEqual([]);
    expect(all.log.map(({ outcome }) => outcome).toSorted()).toEqual(['erased', 'expired']);
  });

  it('has records that expire and are in no index, without personal data', async () => {
    const canary = 'canary7b1';
    const texts = { email: `${canary}@example.com`, subject: canary, body: canary };
    const record = await all.add({ cognito_sub: canary, ...texts });
    const inquiry = idOf(record);
    await mailer.handle([record]);
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
});
