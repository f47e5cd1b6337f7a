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
import { answer, delay, never, refuse, type Fault } from '../helpers/fault-proxy.ts';
import { writeIdempotencyKey } from '../helpers/idempotency.ts';
import {
  beforehand,
  onRequest,
  openInbox,
  parseLines,
  runInbox,
  startStage,
} from '../helpers/inbox.ts';
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
const erase = async (args: string | readonly string[], options?: IoOptions) =>
  toResult(
    await own.run(['erase', ...(typeof args === 'string' ? args.split(' ') : args)], options),
  );
const eraseUser = (sub: string) => erase(`--sub ${sub} --yes`);
/** Expects that an erasure deletes so many inquiries, and leaves no row of the user. */
const expectErased = async (sub: string, deleted: number): Promise<void> => {
  expect((await eraseUser(sub)).json.at(-1)).toMatchObject({ deleted });
  expect(await rowsOf(sub)).toEqual([]);
};
const replay = (table: string, yes = ' --yes') =>
  erase(`--table ${table} --erasures ${own.name}-erasures --replay${yes}`);

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

const onWrite = (fault: (write: number) => Fault | undefined) => onRequest('BatchWriteItem', fault);
const containing = (text: string) => expect.stringContaining(text) as unknown;
const DENIED = refuse(400, 'AccessDeniedException');
const DRY_RUN = 'This was a dry run; nothing was deleted. --yes deletes.\n';
const ELSEWHERE =
  'The local stack has no user pool of its own: the account of the user has to be deleted at its issuer.\n';

it('is a dry run without a terminal: it counts by email, deletes nothing and records nothing', async () => {
  const { sub, email, former, answered, unanswered, expired } = await makeUser();
  const [oldest, newest] = [answered.created_at, unanswered.created_at];
  const { created_at } = expired;
  const old = { inquiries: 1, unanswered: 1, oldest: created_at, newest: created_at };
  expect(await erase(`--sub ${sub}`)).toMatchObject({
    code: 0,
    stderr: `${ELSEWHERE}${DRY_RUN}`,
    json: [
      { cognito_sub: sub, email, inquiries: 2, unanswered: 1, oldest, newest },
      { cognito_sub: sub, email: former, ...old },
    ],
  });
  const nobody = randomUUID();
  const none = `There are no inquiries of ${nobody}. --yes records the erasure nevertheless.\n`;
  expect(await erase(`--sub ${nobody}`)).toMatchObject({
    code: 0,
    json: [],
    stderr: ELSEWHERE + none,
  });
  const unknown = 'There are no inquiries of nobody@b.c; nothing was deleted.\n';
  expect(await erase('--email nobody@b.c --yes')).toMatchObject({ code: 0, stderr: unknown });
  expect(await rowsOf(sub)).toHaveLength(3);
  expect(readdirSync(own.folder)).toEqual(['stack.json']);
  // A restored table may have some.
  expect(await eraseUser(nobody)).toMatchObject({
    code: 0,
    json: [{ cognito_sub: nobody, deleted: 0 }],
  });
  expect(await erasures()).toHaveLength(1);
});

it('with --yes deletes every row of the user under every email, nobody else’s, and records a keyed hash', async () => {
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
  const erased_at = json.at(-1)?.['erased_at'];
  expect(json.at(-1)).toEqual({ cognito_sub: sub, deleted: 3, erased_at, account: 'elsewhere' });
  expect([code, stderr]).toEqual([0, containing(ELSEWHERE)]);
  expect(await scan()).toHaveLength(2);
  expect(await rowsOf(stranger.cognito_sub)).toHaveLength(2);

  const key = Buffer.from(readFileSync(keyFile, 'utf8'), 'base64');
  expect(key).toHaveLength(32);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  // Nothing but keys: no put can change a record. The first one was written before the rows were deleted.
  const records = (await erasures()).toSorted((a, b) =>
    String(a['hash']) < String(b['hash']) ? -1 : 1,
  );
  const record = toRecordKey(key, sub);
  expect(records).toEqual([{ hash: containing(record) }, { hash: record + String(erased_at) }]);
  expect(readdirSync(own.folder).toSorted()).toEqual(['erasure-key', 'stack.json']);
});

it('--email of several users is refused and names them, one with control characters cannot reach the terminal', async () => {
  const subs = [randomUUID(), randomUUID()];
  for (const sub of subs) await post(sub, 'shared@example.com');
  const { code, json, stderr } = await erase('--email shared@example.com --yes');
  const refused =
    'shared@example.com was used by 2 users; nothing was deleted. Choose one with --sub.\n';
  expect([code, stderr]).toEqual([2, refused]);
  expect(new Set(json.map(({ cognito_sub }) => cognito_sub))).toEqual(new Set(subs));
  expect(await scan()).toHaveLength(2);

  const sub = randomUUID();
  const email = `\u001B[2J\u202E\u009B\r\n${sub}@example.com#email_x`;
  await writeKey(await post(sub, email));
  own.meet(onWrite((write) => (write % 2 === 0 ? leaveUnprocessed : undefined)));
  const printed = await erase(['--email', email, '--yes']);
  expect(printed.stdout + printed.stderr).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
  expect(await rowsOf(sub)).toEqual([]);
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
    ['deleted the inquiries', 14, 38, 38],
  ])(
    'is finished by running it again after it ended while it %s',
    async (_, writes, left, deleted) => {
      const sub = await makeBusyUser(30);
      own.meet(
        onRequest(['PutItem', 'BatchWriteItem'], (write) => (write < writes ? undefined : DENIED)),
      );
      const { code, stderr } = await eraseUser(sub);
      expect([code, stderr]).toEqual([1, containing('The AWS credentials do not allow ')]);
      expect(await erasures()).toHaveLength(Math.min(writes, 1));
      expect(await rowsOf(sub)).toHaveLength(left);
      own.meet(never);
      await expectErased(sub, deleted);
    },
  );

  it('deletes what arrives while it runs, and a key that becomes visible late, and gives up on what never ends', async () => {
    const { sub, email, answered } = await makeUser();
    const arrive = beforehand(async () => writeKey(await post(sub, `new-${sub}@example.com`)));
    own.meet(onWrite((write) => (write < 3 ? arrive : undefined)));
    await expectErased(sub, 6);

    const again = await post(sub, email);
    const writeLate: Fault = async (exchange) => {
      await delay(0)(exchange);
      await writeKey({ ...answered, id: again.id });
    };
    own.meet(onWrite((write) => (write === 0 ? writeLate : undefined)));
    await expectErased(sub, 1);

    await post(sub, email);
    own.meet(onWrite(() => beforehand(() => post(sub, email))));
    const { code, stderr } = await eraseUser(sub);
    expect(stderr).toMatch(
      /^\d+ inquiries deleted, but new ones keep arriving; run it again\.\n$/m,
    );
    expect(code).toBe(1);
  });
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
    expect(await replay(restored, '')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: containing(found),
    });
    expect(await scan(restored)).toHaveLength(total);

    const { code, json } = await replay(restored);
    expect([code, json]).toEqual([0, [{ table: restored, erasures: 2, users: 2, deleted: 6 }]]);
    expect((await replay(restored)).json).toMatchObject([{ deleted: 0 }]);
    const left = await rowsOf(erased.sub, restored);
    expect(left).toHaveLength(2);
    expect(left).toEqual(expect.arrayContaining([key, expect.objectContaining({ id: since.id })]));
    expect(await rowsOf(gone.sub, restored)).toEqual([]);
    for (const table of [restored, own.name]) expect(await rowsOf(kept.sub, table)).toHaveLength(3);
  });

  it('the latest of several erasures counts, not the one that was recorded last', async () => {
    const { sub, email } = await makeUser();
    await eraseUser(sub);
    const [second, restored] = [await post(sub, email), await restore()];
    const latest = String((await eraseUser(sub)).json.at(-1)?.['erased_at']);
    expect(latest >= second.created_at).toBe(true);
    await replay(restored);
    expect(await rowsOf(sub, restored)).toEqual([]);

    // Recorded by a machine whose clock is ahead.
    const key = Buffer.from(readFileSync(keyFile, 'utf8'), 'base64');
    const Item = { hash: `${toRecordKey(key, sub)}2999-01-01T00:00:00.000Z` };
    await own.client.send(new PutCommand({ TableName: `${own.name}-erasures`, Item }));
    await eraseUser(sub);
    await post(sub, email);
    expect((await erase('--replay --yes')).json).toMatchObject([{ erasures: 1, deleted: 1 }]);
  });

  it('--replay replays what it can and fails when the key was replaced, and names a damaged one', async () => {
    const [first, second] = [await makeUser(), await makeUser()];
    const restored = await restore();
    await eraseUser(first.sub);
    const key = readFileSync(keyFile);
    rmSync(keyFile);
    await eraseUser(second.sub);
    const line =
      '1 erasure cannot be replayed, because the key of the record was lost or replaced;';
    expect(await replay(restored)).toMatchObject({ code: 1, stderr: containing(`\n${line}`) });
    expect(await rowsOf(first.sub, restored)).toHaveLength(3);
    expect(await rowsOf(second.sub, restored)).toEqual([]);

    // The key from a backup: the erasures made with it are replayed again.
    writeFileSync(keyFile, key);
    await replay(restored);
    expect(await rowsOf(first.sub, restored)).toEqual([]);

    writeFileSync(keyFile, 'secret-text');
    const { sub } = await makeUser();
    const stderr = `${ELSEWHERE}The erasure key (${keyFile}) is damaged.\n`;
    expect(await eraseUser(sub)).toMatchObject({ code: 1, stderr });
    expect(await rowsOf(sub)).toHaveLength(3);
  });
});

it('on a terminal deletes only when the name of the stage is typed', async () => {
  const { sub, email } = await makeUser();
  const question = 'Type local to delete the inquiries from the table ';
  const found = `${email}\n  sub     ${sub}\n  has     2 inquiries, 1 unanswered\n  oldest  2`;
  for (const [typed, code, left, outcome] of [
    ['yes', 1, 3, 'Nothing was deleted.'],
    ['\u0003', 1, 3, 'Nothing was deleted.'],
    ['local', 0, 0, `Deleted 3 inquiries of ${sub}.`],
  ] as const) {
    const options: IoOptions = { isTTY: true, columns: 40, dialogue: [[question, typed]] };
    const { stdout, stderr, ...result } = await erase(`--sub ${sub}`, options);
    expect(stderr).toContain(`${question}${own.name}:`);
    expect(stderr).toContain('The local stack has no user pool of its\nown: the account of');
    expect(stdout).toContain(found);
    expect(stdout + stderr).toContain(`\n${outcome}\n`);
    expect([result.code, (await rowsOf(sub)).length]).toEqual([code, left]);
  }
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
  const POOL = 'eu-central-1_Pool';
  /** The tag that Terraform sets; DynamoDB Local has no tags. */
  const setPool = (Value?: string, write?: Fault) => {
    const body = JSON.stringify({ Tags: Value === undefined ? [] : [{ Key: 'user_pool', Value }] });
    const faults = { ListTagsOfResource: answer(200, body), BatchWriteItem: write };
    own.meet((_, operation) => faults[operation as keyof typeof faults]);
  };
  /** A parameter store with one parameter, and a pool with these users; `rival` is created by someone else just before ours. */
  const startStores = async ({ rival, subs = [] }: { rival?: string; subs?: string[] } = {}) => {
    const { answers } = await startStage(own.url);
    const stores = {
      answers,
      key: undefined as string | undefined,
      puts: [] as Row[],
      subs,
      requests: [] as unknown[],
    };
    answers['PutParameter'] = ({ body }) => {
      const input = JSON.parse(body) as Row;
      stores.puts.push(input);
      stores.key ??= rival;
      if (stores.key !== undefined) return refusal(400, 'ParameterAlreadyExists', '');
      stores.key = String(input['Value']);
      return { status: 200, body: {} };
    };
    answers['GetParameter'] = () =>
      stores.key === undefined
        ? refusal(400, 'ParameterNotFound', '')
        : { status: 200, body: { Parameter: { Value: stores.key } } };
    answers['ListUsers'] = ({ body }) => {
      const { Filter, ...input } = JSON.parse(body) as { Filter: string };
      stores.requests.push(input);
      const found = stores.subs.filter((sub) => Filter === `sub = "${sub}"`);
      return { status: 200, body: { Users: found.map((sub) => ({ Username: `name-${sub}` })) } };
    };
    answers['AdminDeleteUser'] = ({ body }) => {
      const { Username } = JSON.parse(body) as { Username: string };
      const left = stores.subs.filter((sub) => Username !== `name-${sub}`);
      if (left.length === stores.subs.length) return refusal(400, 'UserNotFoundException', '');
      stores.subs = left;
      return { status: 200, body: {} };
    };
    return stores;
  };
  const runOnStage = async (args: string, options?: IoOptions, erasuresTable = ERASURES) => {
    const place = `--stage develop --table ${own.name} --erasures ${erasuresTable}`;
    return toResult(await runInbox(`${place} erase ${args}`.split(' '), options));
  };
  const eraseOnStage = (sub: string) => runOnStage(`--sub ${sub} --yes`);
  const recordOf = (key: string | undefined, sub: string) => ({
    hash: containing(toRecordKey(Buffer.from(key ?? '', 'base64'), sub)),
  });
  beforeEach(async () => {
    await createErasuresTable(own.client, ERASURES);
    setPool('none');
  });

  it('with an issuer of its own: the first erasure creates the key as a SecureString, and later ones use it', async () => {
    const stores = await startStores();
    for (let user = 0; user < 2; user++) {
      const { sub } = await makeUser();
      const { code, json, stderr } = await eraseOnStage(sub);
      expect([code, json.at(-1)]).toMatchObject([0, { deleted: 3, account: 'elsewhere' }]);
      const replaying = `npm run inbox -- --stage develop --table RESTORED --erasures ${ERASURES} erase --replay`;
      expect(stderr).toContain(replaying);
      expect(stderr).toContain(ELSEWHERE.replace('The local stack', 'The stage develop'));
      expect(await scan(ERASURES)).toContainEqual(recordOf(stores.key, sub));
    }
    const Name = '/inquiries-develop/erasure-key';
    expect(stores.puts).toEqual([{ Name, Type: 'SecureString', Value: stores.key }]);
  });

  it('takes the tables and the key from the name of the service, and the key that someone else has just created', async () => {
    const rival = Buffer.alloc(32, 7).toString('base64');
    const stores = await startStores({ rival });
    await createTable(own.engine, 'shop-develop');
    await createErasuresTable(own.client, 'shop-develop-erasures');
    const sub = randomUUID();
    const args = `--stage develop --service shop erase --sub ${sub} --yes`.split(' ');
    const { code, stderr } = await runInbox(args);
    expect([code, stderr]).toEqual([0, containing('--stage develop --service shop --table')]);
    expect(stores.puts).toMatchObject([{ Name: '/shop-develop/erasure-key' }]);
    expect(await scan('shop-develop-erasures')).toEqual([recordOf(rival, sub)]);
  });

  describe('with a user pool', () => {
    const DELETE = 'Type account to delete the account, too, or anything else to keep it: ';
    const STAGE = 'Type develop to delete the inquiries from the table ';
    /** A user with inquiries and an account. */
    const startUser = async () => {
      const made = await makeUser();
      const stores = await startStores({ subs: [made.sub] });
      setPool(POOL);
      return { ...made, stores };
    };

    it('has a line for the account in the dry run, and keeps it then and with --keep-account', async () => {
      const { sub, stores } = await startUser();
      const { stderr, json } = await runOnStage(`--sub ${sub}`);
      const account = `The stage develop has an account of ${sub} in its user pool ${POOL}.\n`;
      expect([stderr, json.length]).toEqual([account + DRY_RUN, 2]);
      expect(await rowsOf(sub)).toHaveLength(3);
      const kept = await runOnStage(`--sub ${sub} --yes --keep-account`);
      expect(kept.json.at(-1)).toMatchObject({ deleted: 3, account: 'kept' });
      expect(kept.stderr).toContain('The account of the user is kept.\n');
      // Only of the dry run.
      expect(stores.requests).toEqual([{ UserPoolId: POOL, AttributesToGet: ['sub'] }]);
    });

    it('deletes the account with --yes, is finished by running it again, and says when there is none', async () => {
      const { sub, former, stores } = await startUser();
      setPool(POOL, DENIED);
      expect(await runOnStage(`--email ${former} --yes`)).toMatchObject({ code: 1 });
      expect([stores.subs, (await rowsOf(sub)).length]).toEqual([[], 3]);
      setPool(POOL);
      stores.subs = [sub];
      // Its user deletes it at the same moment.
      const { ListUsers: list } = stores.answers;
      stores.answers['ListUsers'] = (request) => {
        const found = list?.(request);
        stores.subs = [];
        return found;
      };
      const { json } = await runOnStage(`--email ${former} --yes`);
      expect(json.at(-1)).toMatchObject({ deleted: 3, account: 'deleted' });
      expect(await rowsOf(sub)).toEqual([]);
      const again = await eraseOnStage(sub);
      expect(again).toMatchObject({ code: 0, json: [{ deleted: 0, account: 'none' }] });
      const none = `The stage develop has no account of ${sub} in its user pool.\n`;
      expect(again.stderr).toContain(none);
    });

    it('asks about the account first, then about the inquiries if there are any', async () => {
      for (const [isEmpty, first, second, code, account] of [
        [false, 'account', 'no', 1, undefined],
        [false, 'no', 'develop', 0, 'kept'],
        [false, 'account', 'develop', 0, 'deleted'],
        [true, '', '', 1, undefined],
        [true, 'account', '', 0, 'deleted'],
      ] as const) {
        const { sub, stores, ...user } = await startUser();
        const inquiries = [user.answered, user.unanswered, user.expired];
        if (isEmpty) for (const each of inquiries) await own.remove(each);
        const dialogue = [[DELETE, first] as const, ...(isEmpty ? [] : [[STAGE, second] as const])];
        const result = await runOnStage(`--sub ${sub} --json`, { isTTY: true, dialogue });
        expect([result.code, result.json.at(-1)?.['account']]).toEqual([code, account]);
        expect(stores.subs).toHaveLength(account === 'deleted' ? 0 : 1);
        expect(await rowsOf(sub)).toHaveLength(code === 1 && !isEmpty ? 3 : 0);
        const outcome = code === 0 ? `The account is ${account}.` : 'Nothing was deleted.';
        expect(result.stderr).toContain(`${outcome}\n`);
        expect(result.stderr.indexOf(DELETE)).toBeLessThan(
          isEmpty ? Infinity : result.stderr.indexOf(STAGE),
        );
      }
    });

    it('deletes nothing when a table, a permission or the tag of the pool is missing', async () => {
      const { sub, stores } = await startUser();
      const missing = await runOnStage(`--sub ${sub} --yes`, {}, 'missing');
      const line = 'The table missing does not exist; deploy it with npm run deploy -- develop.\n';
      expect(missing).toMatchObject({ code: 1, stderr: line });
      for (const action of ['AdminDeleteUser', 'ListUsers', 'tag']) {
        const message = `not authorized to perform: cognito-idp:${action} on`;
        stores.answers[action] = () => refusal(400, 'AccessDeniedException', message);
        if (action === 'tag') setPool();
        const text =
          action === 'tag'
            ? "has no tag user_pool, so the user's account cannot be found; deploy it with npm run deploy -- develop, or pass --keep-account.\n"
            : `The AWS credentials do not allow cognito-idp:${action};`;
        expect(await eraseOnStage(sub)).toMatchObject({ code: 1, stderr: containing(text) });
      }
      expect(await rowsOf(sub)).toHaveLength(3);
    });
  });
});
