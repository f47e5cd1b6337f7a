/** `npm run inbox -- erase`: what is deleted, what is recorded, and what a restore does not bring back. */
import { spawnSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createErasuresTable } from '../../inbox/erasures.ts';
import type { StoredInquiry } from '../../inbox/store.ts';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import { createTable } from '../../local/database/table.ts';
import { refusal } from '../helpers/aws.ts';
import { answer, delay, never, refuse, type Fault, type Plan } from '../helpers/fault-proxy.ts';
import { writeIdempotencyKey } from '../helpers/idempotency.ts';
import { beforehand, openInbox, parseLines, runInbox, startStage } from '../helpers/inbox.ts';
import { toEnvironment } from '../helpers/own-table.ts';
import type { IoOptions } from '../helpers/io.ts';
import { readText } from '../helpers/repository.ts';

type Row = Record<string, unknown>;

const DAY = 86_400_000;
const absent = ['aws', 'jq', 'bash'].filter((name) => spawnSync(name, ['--version']).status !== 0);
const noRunbook =
  absent.length > 0 ? `${absent.join(' and ')} cannot be run` : dynamoDbLocalUnavailableReason();
if (noRunbook !== undefined) {
  process.stdout.write(
    `\nSKIPPED: the commands of the runbook on a restored table, because ${noRunbook}.\n`,
  );
}

let own: Awaited<ReturnType<typeof openInbox>>;
let keyFile: string;
beforeEach(async () => {
  own = await openInbox();
  keyFile = join(own.folder, 'erasure-key');
});

const toResult = <Result extends { stdout: string }>(result: Result) => ({
  ...result,
  json: parseLines(result.stdout),
});
const erase = async (args: readonly string[], options?: IoOptions) =>
  toResult(await own.run(['erase', ...args], options));
const eraseUser = (sub: string, ...args: string[]) => erase(['--sub', sub, '--yes', ...args]);
/** Expects that an erasure deletes so many inquiries, and leaves no row of the user. */
const expectErased = async (sub: string, deleted: number): Promise<void> => {
  expect((await eraseUser(sub)).json.at(-1)).toMatchObject({ deleted });
  expect(await rowsOf(sub)).toEqual([]);
};
const replay = (table: string, ...args: string[]) =>
  erase(['--table', table, '--erasures', `${own.name}-erasures`, '--replay', ...args]);

/** Stores an inquiry of now. */
const post = (sub: string, email: string) => own.add(0, { cognito_sub: sub, email });
const scan = (table?: string): Promise<Row[]> => own.scan(table);
const rowsOf = async (sub: string, table = own.name): Promise<Row[]> =>
  (await scan(table)).filter(({ pk }) => String(pk).startsWith(`$inquiries#cognito_sub_${sub}#`));
const erasures = (): Promise<Row[]> => scan(`${own.name}-erasures`);
/** The key of a record, without the time. */
const toRecordKey = (key: Buffer, sub: string): string => {
  const hash = (text: string) => createHmac('sha256', key).update(text).digest('hex');
  return `${hash('key id').slice(0, 16)}#${hash(sub)}#`;
};
const writeKey = (
  inquiry: StoredInquiry,
  options: Parameters<typeof writeIdempotencyKey>[2] = {},
  table = own.name,
) => writeIdempotencyKey({ client: own.client, table }, inquiry, options);

/** A user with two inquiries under one email, one of them answered, and an expired one under another. */
async function makeUser() {
  const sub = randomUUID();
  const [email, former] = [`${sub}@example.com`, `former-${sub}@example.com`];
  const reply = { reply: 'r', respondent: 'R', reply_at: new Date().toISOString() };
  const answered = await own.add(2_000, { cognito_sub: sub, email, ...reply });
  const unanswered = await own.add(1_000, { cognito_sub: sub, email });
  const expired = await own.add(300 * DAY, { cognito_sub: sub, email: former, expires_at: 1 });
  return { sub, email, former, answered, unanswered, expired };
}

/** The same with 60 inquiries more, and with so many idempotency keys. */
async function makeBusyUser(keys: number): Promise<string> {
  const { sub, email, answered } = await makeUser();
  await Promise.all(Array.from({ length: 60 }, () => post(sub, email)));
  await Promise.all(Array.from({ length: keys }, (_, n) => writeKey(answered, { key: `${n}` })));
  return sub;
}

/** Copies the table, as a restore does. */
async function restore(): Promise<string> {
  const table = `restored-${randomUUID()}`;
  await createTable(own.engine, table);
  for (const Item of await scan()) {
    await own.client.send(new PutCommand({ TableName: table, Item }));
  }
  return table;
}

/** Meets the n-th deletion of an erasure, or its n-th request of several operations, counted from 0. */
const onWrite = (
  fault: (write: number) => ReturnType<Plan>,
  operations = ['BatchWriteItem'],
): Plan => {
  let writes = 0;
  return (_, operation) => (operations.includes(operation) ? fault(writes++) : undefined);
};
const DENIED = refuse(400, 'AccessDeniedException');
const DENIED_LINE = /^The AWS credentials do not allow [^\n]+\n$/m;
const DRY_RUN = 'This was a dry run; nothing was deleted. --yes deletes.\n';
const ELSEWHERE =
  'The local stack has no user pool of its own: the account of the user has to be deleted at its issuer.\n';

it('is a dry run without a terminal: it counts by email, deletes nothing and records nothing', async () => {
  const { sub, email, former, answered, unanswered, expired } = await makeUser();
  const { code, json, stderr } = await erase(['--sub', sub]);
  const [oldest, newest] = [answered.created_at, unanswered.created_at];
  const { created_at } = expired;
  expect(json).toEqual([
    { cognito_sub: sub, email, inquiries: 2, unanswered: 1, oldest, newest },
    {
      cognito_sub: sub,
      email: former,
      inquiries: 1,
      unanswered: 1,
      oldest: created_at,
      newest: created_at,
    },
  ]);
  expect(stderr).toBe(`${ELSEWHERE}${DRY_RUN}`);
  expect(code).toBe(0);
  expect(await rowsOf(sub)).toHaveLength(3);
  expect(readdirSync(own.folder)).toEqual(['stack.json']);
});

it('with --yes deletes every row of the user under every email, expired ones too, and nobody else’s', async () => {
  const { sub, email, answered, expired } = await makeUser();
  const stranger = await post(randomUUID(), email);
  for (const inquiry of [answered, expired, stranger]) await writeKey(inquiry);
  // Of an inquiry that is gone.
  await writeKey({ ...expired, id: answered.id.replace(/^.{8}/, '00000000') });
  for (const mail of ['inquiry', 'reply'] as const) {
    await own.deliveries
      .put({ inquiry: answered.id, mail, sent_at: answered.created_at, expires_at: 2 ** 31 })
      .go();
  }
  expect(await scan()).toHaveLength(10);
  const { code, json, stderr } = await eraseUser(`{${sub.toUpperCase()}}`);
  const erased_at = expect.any(String) as unknown;
  expect(json.at(-1)).toEqual({ cognito_sub: sub, deleted: 3, erased_at, account: 'elsewhere' });
  expect(stderr).toContain(ELSEWHERE);
  expect(code).toBe(0);
  expect(await scan()).toHaveLength(2);
  expect(await rowsOf(stranger.cognito_sub)).toHaveLength(2);
});

it('records a keyed hash of the user and the time as keys of rows, and neither the user nor an email', async () => {
  const { sub, email } = await makeUser();
  const { json } = await eraseUser(sub);
  const key = Buffer.from(readFileSync(keyFile, 'utf8'), 'base64');
  expect(key).toHaveLength(32);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  // Nothing but keys: no put can change a record. The first row was written before the rows were deleted.
  const records = (await erasures()).toSorted((a, b) =>
    String(a['hash']).localeCompare(String(b['hash'])),
  );
  expect(records).toEqual([
    { hash: expect.stringContaining(toRecordKey(key, sub)) as unknown },
    { hash: `${toRecordKey(key, sub)}${String(json.at(-1)?.['erased_at'])}` },
  ]);
  expect(JSON.stringify(await erasures())).not.toContain(sub);
  expect(JSON.stringify(await erasures())).not.toContain(email);
  expect(readdirSync(own.folder).toSorted()).toEqual(['erasure-key', 'stack.json']);
});

describe('--email', () => {
  it('of several users is refused, and names them', async () => {
    const subs = [randomUUID(), randomUUID()];
    for (const sub of subs) await post(sub, 'shared@example.com');
    const { code, json, stderr } = await erase(['--email', 'shared@example.com', '--yes']);
    const refused =
      'shared@example.com was used by 2 users; nothing was deleted. Choose one with --sub.\n';
    expect([code, stderr]).toEqual([2, refused]);
    expect(new Set(json.map(({ cognito_sub }) => cognito_sub))).toEqual(new Set(subs));
    expect(await scan()).toHaveLength(2);
  });

  it('with control characters and line ends is erased, and cannot reach the terminal', async () => {
    const sub = randomUUID();
    const email = `\u001B[2J\u202E\u009B\r\n${sub}@example.com#email_x`;
    await writeKey(await post(sub, email));
    own.meet(onWrite((write) => (write % 2 === 0 ? leaveUnprocessed : undefined)));
    const { stdout, stderr } = await erase(['--email', email, '--yes']);
    for (const character of '\u001B\u202E\u009B\r') {
      expect(stdout + stderr).not.toContain(character);
    }
    expect(await rowsOf(sub)).toEqual([]);
  });
});

it('records a user without inquiries with --yes only: a restored table may have some', async () => {
  const sub = randomUUID();
  const stderr = `${ELSEWHERE}There are no inquiries of ${sub}. --yes records the erasure nevertheless.\n`;
  expect(await erase(['--sub', sub])).toMatchObject({ code: 0, json: [], stderr });
  const nobody = {
    code: 0,
    stderr: 'There are no inquiries of nobody@b.c; nothing was deleted.\n',
  };
  expect(await erase(['--email', 'nobody@b.c', '--yes'])).toMatchObject(nobody);
  expect(readdirSync(own.folder)).toEqual(['stack.json']);
  expect(await eraseUser(sub)).toMatchObject({ code: 0, json: [{ cognito_sub: sub, deleted: 0 }] });
  expect(await erasures()).toHaveLength(1);
});

/** What DynamoDB answers when it limits the requests. */
const leaveUnprocessed: Fault = async ({ receive, response }) => {
  const { RequestItems } = JSON.parse(String(await receive())) as { RequestItems: object };
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify({ UnprocessedItems: RequestItems }));
};

describe('with faults', () => {
  it('retries what DynamoDB leaves unprocessed, and deletes each row of several pages', async () => {
    own = await openInbox({ pageSize: 30 });
    const sub = await makeBusyUser(75);
    own.meet(onWrite((write) => (write % 3 === 0 ? leaveUnprocessed : undefined)));
    await expectErased(sub, 63);
  });

  it.each([
    ['recorded it, before it deleted anything', 0, 93, 63],
    ['deleted the idempotency keys', 2, 68, 63],
    ['deleted the records of mails', 4, 63, 63],
    ['deleted the inquiries', 14, 38, 38],
  ])(
    'is finished by running it again after it ended while it %s',
    async (_, writes, left, deleted) => {
      const sub = await makeBusyUser(30);
      const operations = ['PutItem', 'BatchWriteItem'];
      own.meet(onWrite((write) => (write < writes ? undefined : DENIED), operations));
      const { code, stderr } = await eraseUser(sub);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(DENIED_LINE) as unknown,
      });
      expect(await erasures()).toHaveLength(Math.min(writes, 1));
      expect(await rowsOf(sub)).toHaveLength(left);
      own.meet(never);
      await expectErased(sub, deleted);
    },
  );

  it('deletes what arrives meanwhile under another email, with its key', async () => {
    const { sub } = await makeUser();
    const arrive = beforehand(async () => writeKey(await post(sub, `new-${sub}@example.com`)));
    own.meet(onWrite((write) => (write < 3 ? arrive : undefined)));
    await expectErased(sub, 6);
  });

  it('ends with an error when the user does not stop sending', async () => {
    const { sub, email } = await makeUser();
    own.meet(onWrite(() => beforehand(() => post(sub, email))));
    const { code, stderr } = await eraseUser(sub);
    expect(stderr).toMatch(
      /^\d+ inquiries deleted, but new ones keep arriving; run it again\.\n$/m,
    );
    expect(code).toBe(1);
  });
});

it('deletes an idempotency key that becomes visible after its inquiry was deleted', async () => {
  const { sub, answered } = await makeUser();
  const writeLate: Fault = async (exchange) => {
    await delay(0)(exchange);
    await writeKey(answered);
  };
  own.meet(onWrite((write) => (write === 1 ? writeLate : undefined)));
  await expectErased(sub, 3);
});

describe('after a restore', () => {
  it('--replay deletes who was erased, with or without inquiries, and keeps others and what was sent since', async () => {
    const [erased, gone, kept] = [await makeUser(), await makeUser(), await makeUser()];
    for (const inquiry of [erased.answered, erased.expired]) await writeKey(inquiry);
    const restored = await restore();
    for (const each of [gone.answered, gone.unanswered, gone.expired]) await own.remove(each);
    for (const { sub } of [erased, gone]) await eraseUser(sub);
    const since = await post(erased.sub, erased.email);
    const Item = (await scan()).find(({ id }) => id === since.id);
    await own.client.send(new PutCommand({ TableName: restored, Item }));
    const key = await writeKey(since, {}, restored);
    const total = (await scan(restored)).length;

    const found = `The table ${restored} has 6 inquiries of 2 users from before the erasure.\n${DRY_RUN}`;
    const stderr = expect.stringContaining(found) as unknown;
    expect(await replay(restored)).toMatchObject({ code: 0, stdout: '', stderr });
    expect(await scan(restored)).toHaveLength(total);

    const { code, json } = await replay(restored, '--yes');
    expect([code, json]).toEqual([0, [{ table: restored, erasures: 2, users: 2, deleted: 6 }]]);
    const left = await rowsOf(erased.sub, restored);
    expect(left).toHaveLength(2);
    expect(left).toContainEqual(key);
    expect(left).toContainEqual(expect.objectContaining({ id: since.id }));
    expect(await rowsOf(gone.sub, restored)).toEqual([]);
    for (const table of [restored, own.name]) expect(await rowsOf(kept.sub, table)).toHaveLength(3);
    expect((await replay(restored, '--yes')).json).toMatchObject([{ deleted: 0 }]);
    expect(await rowsOf(erased.sub, restored)).toHaveLength(2);
  });

  it('the latest of several erasures counts, not the one that was recorded last', async () => {
    const { sub, email } = await makeUser();
    await eraseUser(sub);
    const [second, restored] = [await post(sub, email), await restore()];
    const latest = String((await eraseUser(sub)).json.at(-1)?.['erased_at']);
    expect(latest >= second.created_at).toBe(true);
    await replay(restored, '--yes');
    expect(await rowsOf(sub, restored)).toEqual([]);

    // Recorded by a machine whose clock is ahead.
    const key = Buffer.from(readFileSync(keyFile, 'utf8'), 'base64');
    const Item = { hash: `${toRecordKey(key, sub)}2999-01-01T00:00:00.000Z` };
    await own.client.send(new PutCommand({ TableName: `${own.name}-erasures`, Item }));
    expect(await eraseUser(sub)).toMatchObject({ code: 0 });
    await post(sub, email);
    expect((await erase(['--replay', '--yes'])).json).toMatchObject([{ erasures: 1, deleted: 1 }]);
  });

  it('--replay replays what it can and fails when the key was replaced, and fails when it is lost', async () => {
    const [first, second] = [await makeUser(), await makeUser()];
    const restored = await restore();
    await eraseUser(first.sub);
    const key = readFileSync(keyFile);
    rmSync(keyFile);
    const line =
      '1 erasure cannot be replayed, because the key of the record was lost or replaced;';
    const failure = { code: 1, stderr: expect.stringContaining(`\n${line}`) as unknown };
    expect(await replay(restored, '--yes')).toMatchObject(failure);
    expect(await rowsOf(first.sub, restored)).toHaveLength(3);

    await eraseUser(second.sub);
    expect(readFileSync(keyFile)).not.toEqual(key);
    expect(await replay(restored, '--yes')).toMatchObject(failure);
    expect(await rowsOf(first.sub, restored)).toHaveLength(3);
    expect(await rowsOf(second.sub, restored)).toEqual([]);

    // The key from a backup: the erasures made with it are replayed again.
    writeFileSync(keyFile, key);
    await replay(restored, '--yes');
    expect(await rowsOf(first.sub, restored)).toEqual([]);
  });

  it('names a damaged key, and deletes nothing', async () => {
    const { sub } = await makeUser();
    writeFileSync(keyFile, 'secret-text');
    const stderr = `${ELSEWHERE}The erasure key (${keyFile}) is damaged.\n`;
    expect(await eraseUser(sub)).toMatchObject({ code: 1, stderr });
    expect(await rowsOf(sub)).toHaveLength(3);
  });
});

describe('on a terminal', () => {
  const QUESTION = 'Type local to delete the inquiries from the table ';
  it.each([
    ['local', 0, 0],
    ['yes', 1, 3],
    ['\u0003', 1, 3],
  ])('deletes only when the name of the stage is typed: after %j', async (typed, code, left) => {
    const { sub, email } = await makeUser();
    const options: IoOptions = { isTTY: true, columns: 40, dialogue: [[QUESTION, typed]] };
    const { stdout, stderr, ...result } = await erase(['--sub', sub], options);
    expect(stderr).toContain(`${QUESTION}${own.name}:`);
    expect(stderr).toContain('The local stack has no user pool of its\nown: the account of');
    const time = String.raw`2[-\d]+ [:\d]+ \S+\n`;
    const found = `${email}\n  sub     ${sub}\n  has     2 inquiries, 1 unanswered\n`;
    expect(stdout).toMatch(new RegExp(`^${found}  oldest  ${time}  newest  ${time}`));
    const outcome = left === 0 ? `Deleted 3 inquiries of ${sub}.` : 'Nothing was deleted.';
    expect(stdout + stderr).toContain(`\n${outcome}\n`);
    expect(result.code).toBe(code);
    expect(await rowsOf(sub)).toHaveLength(left);
  });
});

it.skipIf(noRunbook !== undefined)(
  'the commands of the runbook bring back what is missing, byte for byte, and mark it as mailed',
  async () => {
    const { sub, email, answered, unanswered, expired } = await makeUser();
    for (const each of [answered, expired]) await own.remove(each);
    const { reply, respondent, reply_at } = answered;
    const body = `"\\n\\\\\n${'é'.repeat(150_000)}`;
    const missing = {
      cognito_sub: sub,
      email,
      body,
      expires_at: 2 ** 32,
      reply,
      respondent,
      reply_at,
    };
    const { id, created_at } = await own.add(0, missing as Partial<StoredInquiry>);
    const row = (await scan()).find((each) => each['id'] === id);
    const from = await restore();
    // Keys are not copied.
    await writeKey({ ...answered, id }, {}, from);
    await own.remove({ ...answered, id });
    await own.inbox.answer(unanswered.id, { reply: 'since', respondent: 'R' });

    const [, commands = ''] = /^(UNTIL=.*?^done)$/ms.exec(readText('docs/runbook.md')) ?? [];
    const aws = { ...toEnvironment(own.engine), AWS_DEFAULT_REGION: 'local', AWS_PAGER: '' };
    const { stdout, stderr } = spawnSync('bash', ['-c', `set -o pipefail\n${commands}`], {
      env: { ...process.env, ...aws, FROM: from, TO: own.name },
      encoding: 'utf8',
    });
    expect(stdout + stderr).toBe('');

    expect(await own.inbox.get(unanswered.id)).toMatchObject({ reply: 'since' });
    const { Item } = own.deliveries
      .put({ inquiry: id, mail: 'inquiry', sent_at: created_at, expires_at: 0 })
      .params<{ Item: Row }>();
    const record = { ...Item, expires_at: expect.any(Number) as unknown };
    const others = (await scan()).filter((each) => each['id'] !== unanswered.id);
    expect(others).toHaveLength(2);
    expect(others).toEqual(expect.arrayContaining([row, record]));
  },
);

describe('on a stage', () => {
  const ERASURES = 'inquiries-develop-erasures';
  /** The tag that Terraform sets; DynamoDB Local has no tags. */
  const setPool = (Value?: string, write?: Fault) => {
    const body = JSON.stringify({ Tags: Value === undefined ? [] : [{ Key: 'user_pool', Value }] });
    const faults = { ListTagsOfResource: answer(200, body), BatchWriteItem: write };
    own.meet((_, operation) => faults[operation as keyof typeof faults]);
  };
  /** A parameter store with one parameter; `rival` is created by someone else just before ours. */
  const startParameterStore = async (rival?: string) => {
    const { answers } = await startStage(own.url);
    const store = { value: undefined as string | undefined, puts: [] as Row[], answers };
    answers['PutParameter'] = ({ body }) => {
      const input = JSON.parse(body) as Row;
      store.puts.push(input);
      store.value ??= rival;
      if (store.value !== undefined) return refusal(400, 'ParameterAlreadyExists', '');
      store.value = String(input['Value']);
      return { status: 200, body: {} };
    };
    answers['GetParameter'] = () =>
      store.value === undefined
        ? refusal(400, 'ParameterNotFound', '')
        : { status: 200, body: { Parameter: { Value: store.value } } };
    return store;
  };
  beforeEach(async () => {
    await createErasuresTable(own.client, ERASURES);
    setPool('none');
  });
  const runOnStage = async (
    args: readonly string[],
    options?: IoOptions,
    erasuresTable = ERASURES,
  ) => {
    const place = ['--stage', 'develop', '--table', own.name, '--erasures', erasuresTable];
    return toResult(await runInbox([...place, 'erase', ...args], options));
  };
  const eraseOnStage = (sub: string, ...args: string[]) =>
    runOnStage(['--sub', sub, '--yes', ...args]);
  const recordOf = (key: string | undefined, sub: string): unknown => {
    const record = toRecordKey(Buffer.from(key ?? '', 'base64'), sub);
    return { hash: expect.stringContaining(record) as unknown };
  };

  it('with an issuer of its own: the first erasure creates the key as a SecureString, and later ones use it', async () => {
    const store = await startParameterStore();
    for (let user = 0; user < 2; user++) {
      const { sub } = await makeUser();
      const { code, json, stderr } = await eraseOnStage(sub);
      expect([code, json.at(-1)]).toMatchObject([0, { deleted: 3, account: 'elsewhere' }]);
      const replaying = `npm run inbox -- --stage develop --table RESTORED --erasures ${ERASURES} erase --replay`;
      expect(stderr).toContain(replaying);
      expect(stderr).toContain(ELSEWHERE.replace('The local stack', 'The stage develop'));
      expect(await scan(ERASURES)).toContainEqual(recordOf(store.value, sub));
    }
    const Name = '/inquiries-develop/erasure-key';
    expect(store.puts).toEqual([{ Name, Type: 'SecureString', Value: store.value }]);
  });

  it('takes both tables and the key from the name of the service', async () => {
    const store = await startParameterStore();
    await createTable(own.engine, 'shop-develop');
    await createErasuresTable(own.client, 'shop-develop-erasures');
    const sub = randomUUID();
    const args = ['--stage', 'develop', '--service', 'shop', 'erase', '--sub', sub, '--yes'];
    const { code, stderr } = await runInbox(args);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('--stage develop --service shop --table'),
    ]);
    expect(store.puts).toMatchObject([{ Name: '/shop-develop/erasure-key' }]);
    expect(await scan('shop-develop-erasures')).toEqual([recordOf(store.value, sub)]);
    expect(await scan(ERASURES)).not.toContainEqual(recordOf(store.value, sub));
  });

  it('uses the key that someone else has created at the same time', async () => {
    const rival = Buffer.alloc(32, 7).toString('base64');
    const store = await startParameterStore(rival);
    const { sub } = await makeUser();
    expect(await eraseOnStage(sub)).toMatchObject({ code: 0 });
    expect(await scan(ERASURES)).toContainEqual(recordOf(rival, sub));
    expect(store.value).toBe(rival);
  });

  it('deletes nothing without the table of erasures, and names it', async () => {
    await startParameterStore();
    const { sub } = await makeUser();
    const stderr = 'The table missing does not exist; deploy it with npm run deploy -- develop.\n';
    const result = await runOnStage(['--sub', sub, '--yes'], {}, 'missing');
    expect(result).toMatchObject({ code: 1, stderr });
    expect(await rowsOf(sub)).toHaveLength(3);
  });

  describe('with a user pool', () => {
    const POOL = 'eu-central-1_Pool';
    const DELETE = 'Type account to delete the account, too, or anything else to keep it: ';
    /** A pool with one user, and the requests that it gets. */
    const startPool = async (sub: string) => {
      const { answers } = await startParameterStore();
      setPool(POOL);
      const pool = { users: [{ Username: 'olga', sub }], requests: [] as unknown[], answers };
      answers['ListUsers'] = ({ body }) => {
        const { Filter, ...input } = JSON.parse(body) as { Filter: string };
        pool.requests.push(input);
        const Users = pool.users.filter((each) => Filter === `sub = "${each.sub}"`);
        return { status: 200, body: { Users } };
      };
      answers['AdminDeleteUser'] = ({ body }) => {
        const { Username, ...input } = JSON.parse(body) as { Username: string };
        pool.requests.push(input);
        if (!pool.users.some((each) => each.Username === Username)) {
          return refusal(400, 'UserNotFoundException', 'User does not exist.');
        }
        pool.users = [];
        return { status: 200, body: {} };
      };
      return pool;
    };
    /** The same for a new user with inquiries. */
    const startUser = async () => {
      const user = await makeUser();
      return { ...user, pool: await startPool(user.sub) };
    };

    it('has a line for the account in the dry run, and keeps it then and with --keep-account', async () => {
      const { sub, pool } = await startUser();
      const { stderr, json } = await runOnStage(['--sub', sub]);
      expect(stderr).toBe(
        `The stage develop has an account of ${sub} in its user pool ${POOL}.\n${DRY_RUN}`,
      );
      expect(json).toHaveLength(2);
      expect(await rowsOf(sub)).toHaveLength(3);
      const kept = await eraseOnStage(sub, '--keep-account');
      expect(kept.json.at(-1)).toMatchObject({ deleted: 3, account: 'kept' });
      expect(kept.stderr).toContain('The account of the user is kept.\n');
      // Only of the dry run.
      expect(pool.requests).toEqual([{ UserPoolId: POOL, AttributesToGet: ['sub'] }]);
    });

    it('deletes the account with --yes, of --email and of all other emails, and says when there is none', async () => {
      const { sub, former, pool } = await startUser();
      const { json } = await runOnStage(['--email', former, '--yes']);
      expect(json.at(-1)).toMatchObject({ deleted: 3, account: 'deleted' });
      expect(pool.users).toEqual([]);
      expect(await rowsOf(sub)).toEqual([]);
      const again = await eraseOnStage(sub);
      expect(again).toMatchObject({ code: 0, json: [{ deleted: 0, account: 'none' }] });
      expect(again.stderr).toContain(
        `The stage develop has no account of ${sub} in its user pool.\n`,
      );
    });

    it.each([
      ['account', 'develop', 0, 'deleted', 0],
      ['no', 'develop', 0, 'kept', 0],
      ['account', 'no', 1, undefined, 3],
    ])(
      'asks about the account first: after %s and %s',
      async (first, second, code, account, left) => {
        const { sub, pool } = await startUser();
        const STAGE = 'Type develop to delete the inquiries from the table ';
        const dialogue = Object.entries({ [DELETE]: first, [STAGE]: second });
        const { stderr, ...result } = await runOnStage(['--sub', sub, '--json'], {
          isTTY: true,
          dialogue,
        });
        expect(stderr.indexOf(DELETE)).toBeLessThan(stderr.indexOf(STAGE));
        expect([result.code, result.json.at(-1)?.['account']]).toEqual([code, account]);
        expect(pool.users).toHaveLength(account === 'deleted' ? 0 : 1);
        expect(await rowsOf(sub)).toHaveLength(left);
        expect(stderr).toContain(
          code === 0 ? `The account is ${account}.\n` : 'Nothing was deleted.\n',
        );
      },
    );

    it.each([
      ['account', 0, [{ deleted: 0, account: 'deleted' }], 0],
      ['', 1, [], 1],
    ])(
      'asks about the account of a user without inquiries: after "%s"',
      async (typed, code, json, left) => {
        const sub = randomUUID();
        const pool = await startPool(sub);
        const options = { isTTY: true, dialogue: [[DELETE, typed] as const] };
        const result = await runOnStage(['--sub', sub, '--json'], options);
        expect(result.stderr).toContain(`There are no inquiries of ${sub}.\n`);
        expect(result).toMatchObject({ code, json });
        expect(pool.users).toHaveLength(left);
      },
    );

    it('is finished by running it again after it ended between the account and the inquiries', async () => {
      const { email, pool } = await startUser();
      setPool(POOL, DENIED);
      expect(await runOnStage(['--email', email, '--yes'])).toMatchObject({ code: 1 });
      expect(pool.users).toEqual([]);
      setPool(POOL);
      const { json } = await runOnStage(['--email', email, '--yes']);
      expect(json.at(-1)).toMatchObject({ deleted: 3, account: 'none' });
    });

    it('deletes nothing when it may not look for the account or delete it, or does not know the pool', async () => {
      const { sub, pool } = await startUser();
      const expectRefusal = async (text: string) => {
        const stderr = expect.stringContaining(text) as unknown;
        expect(await eraseOnStage(sub)).toMatchObject({ code: 1, stderr });
      };
      for (const action of ['AdminDeleteUser', 'ListUsers']) {
        const message = `not authorized to perform: cognito-idp:${action} on`;
        pool.answers[action] = () => refusal(400, 'AccessDeniedException', message);
        await expectRefusal(`The AWS credentials do not allow cognito-idp:${action};`);
      }
      setPool();
      await expectRefusal(
        "has no tag user_pool, so the user's account cannot be found; deploy it with npm run deploy -- develop, or pass --keep-account.\n",
      );
      expect(await rowsOf(sub)).toHaveLength(3);
    });

    it('takes an account that the user has deleted meanwhile for deleted', async () => {
      const { sub, pool } = await startUser();
      const { ListUsers: list } = pool.answers;
      pool.answers['ListUsers'] = (request) => {
        const found = list?.(request);
        pool.users = [];
        return found;
      };
      expect((await eraseOnStage(sub)).json.at(-1)).toMatchObject({ account: 'deleted' });
    });
  });
});
