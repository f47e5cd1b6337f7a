import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import { createTable } from '../../local/database/table.ts';
import { stopClock } from '../local/clock.ts';
import { whyNoDynamoDbLocal } from '../helpers/engines.ts';
import { SUB } from '../helpers/events.ts';
import { always, answer, first, pass, type Fault } from '../resilience/fault-proxy.ts';
import { writeIdempotencyKey } from './idempotency.ts';
import { toRecordKey } from './person-stage.ts';
import { beforehand, containing, openInbox, parseLines, type OwnInbox } from './test-inbox.ts';
import type { IoOptions } from '../local/io.ts';
import { toEnvironment } from '../helpers/own-table.ts';
import { readText } from '../helpers/repository.ts';

type Row = Record<string, unknown>;

const NOW = Date.parse('2026-11-21T12:00:00Z');
const NOBODY = '2f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b';

const absent = ['aws', 'jq', 'bash'].filter((name) => spawnSync(name, ['--version']).status !== 0);
const noRunbook =
  absent.length > 0 ? `the runbook's commands need ${absent.join(', ')}` : whyNoDynamoDbLocal;

let own: OwnInbox;
let keyFile: string;
beforeEach(async () => {
  own = await openInbox();
  keyFile = join(own.folder, 'erasure-key');
});

async function erase(line: string, options: IoOptions = {}) {
  const result = await own.run(`erase ${line}`, options);
  const json = parseLines(result.stdout);
  return { ...result, json, last: json.at(-1) };
}
const eraseUser = (sub: string) => erase(`--sub ${sub} --yes`);
const replay = (table: string) =>
  erase(`--replay --yes --table ${table} --erasures ${own.name}-erasures`);

const post = (sub: string, email: string) => own.add(0, { cognito_sub: sub, email });
const put = (TableName: string, Item: Row | undefined) =>
  own.client.send(new PutCommand({ TableName, Item }));
const rowsOf = async (sub: string, table = own.name): Promise<Row[]> =>
  (await own.scan(table)).filter(({ pk }) =>
    String(pk).startsWith(`$inquiries#cognito_sub_${sub}#`),
  );
const rowOf = async ({ id }: StoredInquiry) => (await own.scan()).find((row) => row['id'] === id);
const erasures = () => own.scan(`${own.name}-erasures`);
const readKey = () => Buffer.from(readFileSync(keyFile, 'utf8'), 'base64');
const writeKey = (inquiry: StoredInquiry, key = inquiry.id, table = own.name) =>
  writeIdempotencyKey({ client: own.client, table }, inquiry, { key });

/** Two inquiries under one email, one answered, and an expired one under a hostile email. */
async function makeUser(sub: string = randomUUID()) {
  const [email, former] = [`${sub}@example.com`, `\u001B[2J\u202E\u009B\r\n${sub}@b.c#email_x`];
  const reply = { reply: 'r', respondent: 'R', reply_at: new Date().toISOString() };
  const rows = [
    await own.add(2_000, { cognito_sub: sub, email, ...reply }),
    await own.add(0, { cognito_sub: sub, email }),
    await own.add(9_999_999_999, { cognito_sub: sub, email: former, expires_at: 1 }),
  ] as const;
  return { sub, email, former, rows };
}

async function restore(): Promise<string> {
  const table = `${own.name}-restored`;
  await createTable(own.engine, table);
  for (const row of await own.scan()) await put(table, row);
  return table;
}

it('says what there is, and deletes and records nothing before the name of the stage is typed', async () => {
  stopClock(NOW);
  const { sub, email } = await makeUser(SUB);
  const question = `Type local to delete the inquiries from the table ${own.name}: `;
  const type = (text: string) =>
    [`erase --sub ${sub}`, { isTTY: true, columns: 40, dialogue: [[question, text]] }] as const;
  const kept = await own.transcribe([
    `erase --sub ${sub}`,
    `erase --sub ${NOBODY}`,
    `erase --email ${email.toUpperCase()} --yes`,
    type('yes'),
    type('\u0003'),
  ]);
  expect(await rowsOf(sub)).toHaveLength(3);
  expect(readdirSync(own.folder)).toEqual(['stack.json']);
  const { cognito_sub: ofOneAddress } = await post(randomUUID(), email);
  const asked = { isTTY: true, dialogue: [[question, 'no']] } as const;
  expect(await erase(`--sub ${ofOneAddress}`, asked)).toMatchObject({ code: 1 });
  expect(await rowsOf(ofOneAddress)).toHaveLength(1);
  const deleted = await own.transcribe([type('local'), `erase --sub ${NOBODY} --yes`]);
  expect(await rowsOf(sub)).toEqual([]);
  await expect(`${kept}\n${deleted}`).toMatchFileSnapshot('golden/erasures.txt');
  // A restored table may have inquiries of someone who has none.
  expect(await erasures()).toContainEqual({ hash: containing(toRecordKey(readKey(), NOBODY)) });
});

it('with --yes deletes all rows of the user, nobody else’s, and records a keyed hash', async () => {
  const { sub, email, former, rows } = await makeUser();
  const [answered, , expired] = rows;
  const newest = await own.add(-60_000, { cognito_sub: sub, email });
  const stranger = await post(randomUUID(), email);
  for (const inquiry of [answered, expired, stranger]) await writeKey(inquiry);
  await writeKey({ ...expired, id: answered.id.replace(/^.{8}/, '00000000') });
  for (const mail of ['inquiry', 'reply'] as const) {
    await own.deliveries.put({ inquiry: answered.id, mail, expires_at: 2 ** 31 }).go();
  }
  const { code, last } = await erase(`--email ${former} --yes`);
  const erased_at = newest.created_at;
  expect(last).toEqual({ cognito_sub: sub, deleted: 4, erased_at, account: 'elsewhere' });
  expect(code).toBe(0);
  expect(await own.scan()).toHaveLength(2);
  expect(await rowsOf(stranger.cognito_sub)).toHaveLength(2);

  expect([readKey().length, statSync(keyFile).mode & 0o777]).toEqual([32, 0o600]);
  // A record is its key alone, so that no put can change it.
  const hash = toRecordKey(readKey(), sub) + erased_at;
  expect(await erasures()).toEqual([{ hash }]);
  expect((await eraseUser(`{${sub.toUpperCase()}}`)).last).toMatchObject({ cognito_sub: sub });
});

/** DynamoDB's answer when it throttles. */
const leaveUnprocessed: Fault = async (exchange) => {
  const { RequestItems } = JSON.parse(String(await exchange.receive())) as { RequestItems: object };
  await answer(200, JSON.stringify({ UnprocessedItems: RequestItems }))(exchange);
};

it('deletes what arrives while it runs, keys that appear late, and gives up in the end', async () => {
  const { sub, email, rows } = await makeUser();
  const arrive = beforehand(async () => writeKey(await post(sub, `new-${email}`)));
  own.meet((n) => (n < 3 ? arrive : n === 3 ? leaveUnprocessed : undefined), 'BatchWriteItem');
  expect((await eraseUser(sub)).last).toMatchObject({ deleted: 6 });

  const { id } = await post(sub, email);
  const writeLate: Fault = async (exchange) => {
    await pass(exchange);
    await writeKey({ ...rows[0], id });
  };
  own.meet(first(1, writeLate), 'BatchWriteItem');
  expect((await eraseUser(sub)).last).toMatchObject({ deleted: 1 });
  expect(await rowsOf(sub)).toEqual([]);

  await post(sub, email);
  own.meet(always(beforehand(() => post(sub, email))), 'BatchWriteItem');
  const { code, stderr } = await eraseUser(sub);
  expect(stderr).toMatch(/^\d+ inquiries deleted, but new ones keep arriving; run it again\.$/m);
  expect(code).toBe(1);
});

describe('after a restore', () => {
  it('--replay deletes who was erased, and keeps others and what was sent since', async () => {
    stopClock(NOW);
    const [erased, gone, kept] = [await makeUser(SUB), await makeUser(NOBODY), await makeUser()];
    for (const row of erased.rows) await writeKey(row);
    const restored = await restore();
    for (const row of gone.rows) await own.remove(row);
    for (const { sub } of [erased, gone]) {
      await eraseUser(sub);
      const hash = `${toRecordKey(readKey(), sub)}2000-01-01T00:00:00.000Z`;
      await put(`${own.name}-erasures`, { hash });
    }
    vi.setSystemTime(NOW + 1);
    const since = await post(erased.sub, erased.email);
    const row = await rowOf(since);
    await put(restored, row);
    const key = await writeKey(since, 'k', restored);
    const total = (await own.scan(restored)).length;

    const line = `erase --replay --table ${restored} --erasures ${own.name}-erasures`;
    const question = `Type local to delete the inquiries from the table ${restored}: `;
    const refused = { isTTY: true, dialogue: [[question, 'no']] } as const;
    const unchanged = await own.transcribe([line, [line, refused]]);
    expect(await own.scan(restored)).toHaveLength(total);
    const replayed = await own.transcribe([`${line} --yes`, `${line} --yes`, line]);
    await expect(`${unchanged}\n${replayed}`).toMatchFileSnapshot('golden/replays.txt');
    expect(await rowsOf(erased.sub, restored)).toEqual([key, row]);
    expect(await rowsOf(gone.sub, restored)).toEqual([]);
    for (const table of [restored, own.name]) expect(await rowsOf(kept.sub, table)).toHaveLength(3);
  });

  it('--replay replays what it can and fails when the key was replaced, and names a damaged one', async () => {
    const [earlier, later] = [await makeUser(), await makeUser()];
    const restored = await restore();
    await eraseUser(earlier.sub);
    const key = readFileSync(keyFile);
    rmSync(keyFile);
    await eraseUser(later.sub);
    const lost =
      '\n1 erasure cannot be replayed, because the key of the record was lost or replaced;';
    expect(await replay(restored)).toMatchObject({ code: 1, stderr: containing(lost) });
    expect(await rowsOf(earlier.sub, restored)).toHaveLength(3);
    expect(await rowsOf(later.sub, restored)).toEqual([]);

    // With the key from a backup, its erasures are replayed again.
    writeFileSync(keyFile, key);
    await replay(restored);
    expect(await rowsOf(earlier.sub, restored)).toEqual([]);

    writeFileSync(keyFile, 'secret-text');
    const { sub } = await makeUser();
    const stderr = containing(`The erasure key (${keyFile}) is damaged.`);
    expect(await eraseUser(sub)).toMatchObject({ code: 1, stderr });
    expect(await rowsOf(sub)).toHaveLength(3);
  });

  it('the runbook’s commands bring back what is missing, byte for byte, and mark it as mailed', async ({
    skip,
  }) => {
    skip(noRunbook !== undefined, noRunbook);
    const { rows } = await makeUser();
    const [answered, unanswered, expired] = rows;
    for (const row of [answered, expired]) await own.remove(row);
    const body = `"\\n\\\\\n${'é'.repeat(150_000)}`;
    const { id: _id, created_at: _created_at, ...others } = answered;
    const missing = await own.add(0, { ...others, body, expires_at: 2 ** 32 });
    const row = await rowOf(missing);
    const from = await restore();
    await writeKey(missing, 'k', from);
    await own.remove(missing);
    await own.answer(unanswered.id, { reply: 'since', respondent: 'R' });

    const [, commands = ''] = /^(UNTIL=.*?^done)$/ms.exec(readText('docs/runbook.md')) ?? [];
    const place = { FROM: from, TO: own.name, AWS_DEFAULT_REGION: 'local', AWS_PAGER: '' };
    // Bash would complain about a locale that is not installed.
    const env = { ...process.env, LC_ALL: 'C', ...toEnvironment(own.engine), ...place };
    const options = { env, encoding: 'utf8' } as const;
    const result = spawnSync('bash', ['-c', `set -o pipefail\n${commands}`], options);
    expect(result.stdout + result.stderr).toBe('');

    expect(await rowOf(missing)).toEqual(row);
    expect(await own.inbox.get(unanswered.id)).toMatchObject({ reply: 'since' });
    const { data } = await own.deliveries.get({ inquiry: missing.id, mail: 'inquiry' }).go();
    expect(data?.sent_at).toBe(missing.created_at);
    expect(await own.scan()).toHaveLength(3);
  });
});
