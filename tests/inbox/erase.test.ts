/** `npm run inbox -- erase`: what is deleted, what is recorded, and what a restore does not bring back. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, paginateScan, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { createTable } from '../../local/database/table.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createOwnStore, describeOnEngines } from '../helpers/engines.ts';
import { list as readList, makeCall } from '../helpers/events.ts';
import { answer, delay, hang, startFaultProxy } from '../helpers/fault-proxy.ts';
import type { Fault, Plan } from '../helpers/fault-proxy.ts';
import { skipWithoutTransactions, writeIdempotencyKey } from '../helpers/idempotency.ts';
import { bestEngine, removeRow } from '../helpers/own-table.ts';
import { readText } from '../helpers/repository.ts';

type Row = Record<string, unknown>;
interface Result {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of stdout as JSON. */
  readonly json: Row[];
}

const SCRIPT = join(import.meta.dirname, '../../inbox/main.ts');
/** util-linux: the one of BSD takes other arguments. */
const hasTerminal =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
if (!hasTerminal) {
  process.stdout.write(
    '\nSKIPPED: erase at a terminal, because the `script` command of util-linux is missing.\n',
  );
}
const missing = ['aws', 'jq', 'bash'].filter((name) => spawnSync(name, ['--version']).status !== 0);
const noRunbook =
  missing.length > 0 ? `${missing.join(' and ')} cannot be run` : dynamoDbLocalUnavailableReason();
if (noRunbook !== undefined) {
  process.stdout.write(`\nSKIPPED: the commands of the runbook on a restored table, because ${noRunbook}.\n`);
}
const QUESTION = 'Type local to delete';

const run = (args: readonly string[], env: NodeJS.ProcessEnv = process.env) =>
  new Promise<Result>((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], { env }, (error, stdout, stderr) => {
      const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
      const json = lines.map((line) => JSON.parse(line) as Row);
      resolve({ code: error?.code ?? 0, stdout, stderr, json });
    });
  });

describeOnEngines('erase', (endpoint, engine) => {
  const noTransactions = skipWithoutTransactions(engine, 'erase while inquiries with a key arrive');
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-erase-'));
  const keyFile = join(folder, 'erasure-key');
  const service = () => createInquiries(own.store);
  beforeEach(async () => {
    own = await createOwnStore(endpoint);
    rmSync(keyFile, { force: true });
    describeStack(endpoint);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Writes the state file of a stack whose engine is there. */
  function describeStack(address: string): void {
    const state = { pid: process.pid, issuer: '-', keysFile: '-', engine: address, table: own.table };
    writeFileSync(join(folder, 'stack.json'), JSON.stringify(state));
  }
  const erase = (...args: string[]) => run(['--data', folder, 'erase', ...args]);

  const post = async (sub: string, email: string, body = 'b'): Promise<Inquiry> =>
    (await service().create({ sub, email }, { subject: 's', body }, makeCall())).inquiry;
  const count = async (sub: string, email: string): Promise<number> =>
    (await readList(service(), { sub, email }, undefined)).list.count;
  const scan = async (table: string): Promise<Row[]> => {
    const pages = await Array.fromAsync(paginateScan({ client: own.client }, { TableName: table }));
    return pages.flatMap(({ Items = [] }) => Items);
  };
  const rowsOf = async (sub: string, table = own.table): Promise<Row[]> =>
    (await scan(table)).filter(({ pk }) => String(pk).startsWith(`$inquiries#cognito_sub_${sub}#`));
  const erasures = (): Promise<Row[]> => scan(`${own.table}-erasures`);
  /** A user with two inquiries under one email, one of them answered, and an expired one under another. */
  const makeUser = async () => {
    const sub = randomUUID();
    const [email, former] = [`${sub}@example.com`, `former-${sub}@example.com`];
    const answered = await post(sub, email);
    const unanswered = await post(sub, email);
    await createInbox(own.client, own.table).answer(answered.id, { reply: 'r', respondent: 'R' });
    const past = createInquiryStore(createDynamoDbClient({ region: 'local' }), own.entities, {
      retentionDays: 1,
    });
    const { inquiry: expired } = await createInquiries(past, { now: () => Date.UTC(2026, 0, 1) }).create(
      { sub, email: former },
      { subject: 's', body: 'b' },
      makeCall(),
    );
    return { sub, email, former, answered, unanswered, expired };
  };

  /** Copies the table, as a restore does. */
  const restore = async (): Promise<string> => {
    const table = `restored-${randomUUID()}`;
    await createTable(endpoint, table);
    for (const Item of await scan(own.table))
      await own.client.send(new PutCommand({ TableName: table, Item }));
    return table;
  };

  /** Puts a proxy between the command and the engine, until the test ends. */
  const openProxy = async (plan: Plan): Promise<void> => {
    const proxy = await startFaultProxy(endpoint);
    proxy.plan = plan;
    describeStack(proxy.url);
    onTestFinished(async () => {
      describeStack(endpoint);
      await proxy.close();
    });
  };
  const eraseThrough = async (plan: Plan, ...args: string[]): Promise<Result> => {
    await openProxy(plan);
    return erase(...args);
  };
  /** Counts the writes of a plan. */
  const onWrite = (fault: (write: number) => ReturnType<Plan>): Plan => {
    let writes = 0;
    return (_, operation) => (operation === 'BatchWriteItem' ? fault(writes++) : undefined);
  };
  /** Begins an erasure that is killed after some writes. */
  const eraseUntilKilled = async (sub: string, writes: number): Promise<void> => {
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    await openProxy(
      onWrite((write) => {
        if (write < writes) return undefined;
        resolve();
        return hang;
      }),
    );
    const child = spawn(process.execPath, [SCRIPT, '--data', folder, 'erase', '--sub', sub, '--yes']);
    await reached;
    child.kill('SIGKILL');
    describeStack(endpoint);
  };

  it('is a dry run without a terminal: it counts by email, deletes nothing and records nothing', async () => {
    const { sub, email, former, answered, unanswered, expired } = await makeUser();
    const { code, json, stderr } = await erase('--sub', sub);
    expect(json).toEqual([
      {
        cognito_sub: sub,
        email,
        inquiries: 2,
        unanswered: 1,
        oldest: answered.created_at,
        newest: unanswered.created_at,
      },
      {
        cognito_sub: sub,
        email: former,
        inquiries: 1,
        unanswered: 1,
        oldest: expired.created_at,
        newest: expired.created_at,
      },
    ]);
    expect(stderr).toBe('This was a dry run; nothing was deleted. --yes deletes.\n');
    expect(code).toBe(0);
    expect(await rowsOf(sub)).toHaveLength(3);
    expect(readdirSync(folder)).toEqual(['stack.json']);
  });

  it('with --yes deletes every row of the user under every email, expired ones too, and nobody else’s', async () => {
    const { sub, email, former, answered } = await makeUser();
    const stranger = randomUUID();
    await post(stranger, email);
    const deliveries = createDeliveryEntity(own.table);
    for (const mail of ['inquiry', 'reply'] as const) {
      const record = { inquiry: answered.id, mail, sent_at: answered.created_at, expires_at: 2 ** 31 };
      const { Item } = deliveries.put(record).params<{ Item: Row }>();
      await own.client.send(new PutCommand({ TableName: own.table, Item }));
    }

    const { code, json, stderr } = await erase('--sub', sub, '--yes');
    expect(json.at(-1)).toEqual({ cognito_sub: sub, deleted: 3, erased_at: expect.any(String) as unknown });
    expect(stderr).toContain('The account at the identity provider is not touched.');
    expect(code).toBe(0);
    expect(await rowsOf(sub)).toEqual([]);
    expect((await scan(own.table)).filter(({ inquiry }) => inquiry === answered.id)).toEqual([]);
    expect([await count(sub, email), await count(sub, former)]).toEqual([0, 0]);
    expect(await count(stranger, email)).toBe(1);

    const later = await post(sub, email);
    expect((await readList(service(), { sub, email }, undefined)).list.inquiries).toEqual([later]);
  });

  it('records a keyed hash of the user and the time, and neither the user nor an email', async () => {
    const { sub, email } = await makeUser();
    const { json } = await erase('--sub', sub, '--yes');
    const key = Buffer.from(readFileSync(keyFile, 'utf8'), 'base64');
    expect(key).toHaveLength(32);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const hash = createHmac('sha256', key).update(sub).digest('hex');
    const record = (await erasures()).find((row) => row['hash'] === hash);
    expect(record).toEqual({
      hash,
      erased_at: json.at(-1)?.['erased_at'],
      key_id: expect.stringMatching(/^[\da-f]{16}$/) as unknown,
    });
    expect(JSON.stringify(await erasures())).not.toContain(sub);
    expect(JSON.stringify(await erasures())).not.toContain(email);
    expect(readdirSync(folder).toSorted()).toEqual(['erasure-key', 'stack.json']);
  });

  describe('--email', () => {
    it('stands for the one user who has it: the other emails are erased, too', async () => {
      const { sub, former } = await makeUser();
      expect((await erase('--email', former, '--yes')).json.at(-1)).toMatchObject({ deleted: 3 });
      expect(await rowsOf(sub)).toEqual([]);
    });

    it('of several users is refused, and names them', async () => {
      const email = `shared-${randomUUID()}@example.com`;
      const subs = [randomUUID(), randomUUID()];
      for (const sub of subs) await post(sub, email);
      const { code, json, stderr } = await erase('--email', email, '--yes');
      expect(code).toBe(2);
      expect(stderr).toBe(`${email} was used by 2 users; nothing was deleted. Choose one with --sub.\n`);
      expect(new Set(json.map(({ cognito_sub }) => cognito_sub))).toEqual(new Set(subs));
      for (const sub of subs) expect(await count(sub, email)).toBe(1);
    });

    it('is compared byte for byte', async () => {
      const { sub, email } = await makeUser();
      const { code, stderr } = await erase('--email', email.toUpperCase(), '--yes');
      expect(code).toBe(0);
      expect(stderr).toBe(`There are no inquiries of ${email.toUpperCase()}; nothing was deleted.\n`);
      expect(await rowsOf(sub)).toHaveLength(3);
    });

    it('with control characters cannot reach the terminal', async () => {
      const sub = randomUUID();
      const email = `\u001B[2J\u202E\u009B${sub}@example.com`;
      await post(sub, email);
      const { stdout, stderr } = await erase('--email', email, '--yes');
      for (const character of '\u001B\u202E\u009B') expect(stdout + stderr).not.toContain(character);
      expect(await rowsOf(sub)).toEqual([]);
    });
  });

  describe('a user without inquiries', () => {
    it('is named as such, and not recorded', async () => {
      const sub = randomUUID();
      const { code, json, stderr } = await erase('--sub', sub);
      expect({ code, json, stderr }).toEqual({
        code: 0,
        json: [],
        stderr: `There are no inquiries of ${sub}. --yes records the erasure all the same.\n`,
      });
      expect(readdirSync(folder)).toEqual(['stack.json']);
    });

    it('is recorded with --yes: a restored table may have some', async () => {
      const sub = randomUUID();
      expect(await erase('--sub', sub, '--yes')).toMatchObject({
        code: 0,
        json: [{ cognito_sub: sub, deleted: 0 }],
      });
      expect(await erasures()).toHaveLength(1);
    });
  });

  it('takes the id in every notation of a UUID', async () => {
    const { sub } = await makeUser();
    const { json } = await erase('--sub', `{${sub.toUpperCase()}}`, '--yes');
    expect(json.at(-1)).toMatchObject({ cognito_sub: sub, deleted: 3 });
  });

  describe('with faults', () => {
    it('retries what DynamoDB leaves unprocessed, and deletes each row', async () => {
      const { sub, email } = await makeUser();
      for (let index = 0; index < 60; index++) await post(sub, email);
      const leaveAll: ReturnType<Plan> = async ({ request, response }) => {
        const { RequestItems } = JSON.parse(await text(request)) as { RequestItems: object };
        response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
        response.end(JSON.stringify({ UnprocessedItems: RequestItems }));
      };
      const result = await eraseThrough(
        onWrite((write) => (write % 3 === 0 ? leaveAll : undefined)),
        '--sub',
        sub,
        '--yes',
      );
      expect(result.json.at(-1)).toMatchObject({ deleted: 63 });
      expect(await rowsOf(sub)).toEqual([]);
    });

    it('is finished by running it again after it was killed half-way, and is recorded before', async () => {
      const { sub, email } = await makeUser();
      for (let index = 0; index < 60; index++) await post(sub, email);
      await eraseUntilKilled(sub, 3);
      expect(await erasures()).toHaveLength(1);
      const left = (await rowsOf(sub)).length;
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThan(63);

      expect((await erase('--sub', sub, '--yes')).json.at(-1)).toMatchObject({ deleted: left });
      expect(await rowsOf(sub)).toEqual([]);
    });

    it('deletes nothing when the erasure cannot be recorded', async () => {
      const { sub } = await makeUser();
      const denied = answer(400, JSON.stringify({ __type: 'x#AccessDeniedException', message: 'm' }));
      const result = await eraseThrough(
        (_, operation) => (operation === 'PutItem' ? denied : undefined),
        '--sub',
        sub,
        '--yes',
      );
      expect(result.code).toBe(1);
      expect(result.stderr).toMatch(/^The AWS credentials do not allow [^\n]+\n$/);
      expect(await rowsOf(sub)).toHaveLength(3);
    });

    it('deletes what arrives meanwhile under another email', async () => {
      const { sub } = await makeUser();
      const result = await eraseThrough(
        onWrite((write) => async (exchange) => {
          if (write === 0) await post(sub, `new-${sub}@example.com`);
          await delay(0)(exchange);
        }),
        '--sub',
        sub,
        '--yes',
      );
      expect(result.json.at(-1)).toMatchObject({ deleted: 4 });
      expect(await rowsOf(sub)).toEqual([]);
    });

    it('ends with an error when the user does not stop sending', async () => {
      const { sub, email } = await makeUser();
      const result = await eraseThrough(
        onWrite(() => async (exchange) => {
          await post(sub, email);
          await delay(0)(exchange);
        }),
        '--sub',
        sub,
        '--yes',
      );
      expect(result.stderr).toMatch(/^\d+ inquiries deleted, but new ones keep arriving; run it again\.\n$/);
      expect(result.code).toBe(1);
    });
  });

  it('deletes a thousand rows, and rows of several pages', async () => {
    const { sub, email } = await makeUser();
    for (let index = 0; index < 1_000; index++) await post(sub, email);
    for (let index = 0; index < 9; index++) await post(sub, `large-${email}`, 'x'.repeat(300_000));
    const { json } = await erase('--sub', sub, '--yes');
    expect(json.at(-1)).toMatchObject({ deleted: 1_012 });
    expect(await rowsOf(sub)).toEqual([]);
  });

  describe('the idempotency keys of a user', () => {
    it('are deleted under every email, expired ones too, and nobody else’s; the count is of inquiries', async () => {
      const { sub, email, answered, expired } = await makeUser();
      const stranger = await post(randomUUID(), email);
      for (const inquiry of [answered, expired, stranger]) await writeIdempotencyKey(own, inquiry);
      // Of inquiries that are gone.
      await writeIdempotencyKey(own, { ...expired, id: answered.id.replace(/^.{8}/, '00000000') });
      expect(await rowsOf(sub)).toHaveLength(6);
      const { json } = await erase('--sub', sub, '--yes');
      expect(json.at(-1)).toMatchObject({ deleted: 3 });
      expect(await rowsOf(sub)).toEqual([]);
      expect(await rowsOf(stranger.cognito_sub)).toHaveLength(2);
    });

    it('are deleted when there are more than 25, and more than a page', async () => {
      const { sub, answered } = await makeUser();
      const { TableName, Item } = { TableName: own.table, Item: await writeIdempotencyKey(own, answered) };
      for (let batch = 0; batch < 3; batch++) {
        const large = { ...Item, payload: 'x'.repeat(20_000) };
        const requests = Array.from({ length: 25 }, () => ({
          PutRequest: { Item: { ...large, sk: `$idempotency_1#key_${randomUUID()}` } },
        }));
        await own.client.send(new BatchWriteCommand({ RequestItems: { [TableName]: requests } }));
      }
      const query = { TableName, KeyConditionExpression: 'pk = :pk and begins_with(sk, :sk)' };
      const values = { ':pk': Item['pk'], ':sk': '$idempotency_1#' };
      const page = await own.client.send(
        new QueryCommand({ ...query, ExpressionAttributeValues: values, Select: 'COUNT' }),
      );
      expect(page.LastEvaluatedKey).toBeDefined();
      await erase('--sub', sub, '--yes');
      expect(await rowsOf(sub)).toEqual([]);
    });

    it.each([
      ['the keys', 1],
      ['the inquiries under one email', 4],
    ])('are deleted by running it again after it was killed while it deleted %s', async (_, writes) => {
      const { sub, email, answered } = await makeUser();
      for (let index = 0; index < 60; index++) await writeIdempotencyKey(own, answered, { key: `${index}` });
      await post(sub, email);
      await eraseUntilKilled(sub, writes);
      expect((await rowsOf(sub)).length).toBeGreaterThan(0);
      expect((await rowsOf(sub)).length).toBeLessThan(64);

      expect(await erase('--sub', sub, '--yes')).toMatchObject({ code: 0 });
      expect(await rowsOf(sub)).toEqual([]);
    });

    it('are deleted when one becomes visible after its inquiry was deleted', async () => {
      const { sub, answered, email } = await makeUser();
      const writeLate = async (exchange: Parameters<Fault>[0]): Promise<void> => {
        await delay(0)(exchange);
        await writeIdempotencyKey(own, answered);
      };
      const { json } = await eraseThrough(
        onWrite((write) => (write === 0 ? writeLate : undefined)),
        '--sub',
        sub,
        '--yes',
      );
      expect(json.at(-1)).toMatchObject({ deleted: 3 });
      expect(await count(sub, email)).toBe(0);
      expect(await rowsOf(sub)).toEqual([]);
    });

    it('are deleted by --replay, except those of inquiries that were sent since', async () => {
      const { sub, email, answered, expired } = await makeUser();
      for (const inquiry of [answered, expired]) await writeIdempotencyKey(own, inquiry);
      const restored = await restore();
      await erase('--sub', sub, '--yes');
      const since = await post(sub, email);
      const place = { client: own.client, table: restored };
      const Item = own.entity.put(since).params<{ Item: Row }>().Item;
      await own.client.send(new PutCommand({ TableName: restored, Item }));
      const kept = await writeIdempotencyKey(place, since);
      const result = await run(['--data', folder, '--table', restored, 'erase', '--replay', '--yes']);
      expect(result.json).toMatchObject([{ deleted: 3 }]);
      const left = await rowsOf(sub, restored);
      expect(left).toHaveLength(2);
      expect(left).toContainEqual(kept);
      expect(left).toContainEqual(expect.objectContaining({ id: since.id }));
    });

    it.skipIf(noTransactions)(
      'are deleted with those of inquiries that arrive meanwhile; then a key is new again',
      async () => {
        const { sub, email } = await makeUser();
        const send = async (key: string, address = email) =>
          service().create({ sub, email: address }, { subject: 's', body: 'b' }, makeCall(), key);
        const { inquiry } = await send('first');
        expect(await send('first')).toEqual({ inquiry, isReplay: true });
        const writeMore =
          (write: number): Fault =>
          async (exchange) => {
            await send(`during ${write}`);
            await send(`during ${write}`, `new-${email}`);
            await delay(0)(exchange);
          };
        const { code, json } = await eraseThrough(
          onWrite((write) => (write < 3 ? writeMore(write) : undefined)),
          '--sub',
          sub,
          '--yes',
        );
        expect(code).toBe(0);
        expect(json.at(-1)).toMatchObject({ deleted: 3 + 1 + 6 });
        expect(await rowsOf(sub)).toEqual([]);
        expect(await send('first')).toMatchObject({ isReplay: false });
      },
    );
  });

  describe('after a restore', () => {
    const replay = (table: string, ...args: string[]) =>
      run(['--data', folder, '--table', table, 'erase', '--replay', ...args]);

    it('--replay deletes who was erased, and keeps others and what was sent since', async () => {
      const [erased, kept] = [await makeUser(), await makeUser()];
      const restored = await restore();
      await erase('--sub', erased.sub, '--yes');
      const since = await post(erased.sub, erased.email);
      const Item = own.entity.put(since).params<{ Item: Row }>().Item;
      await own.client.send(new PutCommand({ TableName: restored, Item }));
      const total = (await scan(restored)).length;

      const dry = await replay(restored);
      expect(dry).toMatchObject({ code: 0, stdout: '' });
      expect(dry.stderr).toContain(
        `The table ${restored} has 3 inquiries of 1 user from before the erasure.\nThis was a dry run; nothing was deleted. --yes deletes.\n`,
      );
      expect(await scan(restored)).toHaveLength(total);

      const { code, json } = await replay(restored, '--yes');
      expect({ code, json }).toEqual({
        code: 0,
        json: [{ table: restored, erasures: 1, users: 1, deleted: 3 }],
      });
      expect(await rowsOf(erased.sub, restored)).toEqual([expect.objectContaining({ id: since.id })]);
      expect(await rowsOf(kept.sub, restored)).toHaveLength(3);
      expect(await rowsOf(kept.sub)).toHaveLength(3);

      expect((await replay(restored, '--yes')).json).toMatchObject([{ deleted: 0 }]);
      expect(await rowsOf(erased.sub, restored)).toHaveLength(1);
    });

    it('--replay deletes the rows of an erasure that found none', async () => {
      const user = await makeUser();
      const restored = await restore();
      for (const each of [user.answered, user.unanswered, user.expired])
        await removeRow(own.client, own.table, each);
      await erase('--sub', user.sub, '--yes');
      expect((await replay(restored, '--yes')).json).toMatchObject([{ deleted: 3 }]);
      expect(await rowsOf(user.sub, restored)).toEqual([]);
    });

    it('the latest of several erasures counts, not the one that was recorded last', async () => {
      const { sub, email } = await makeUser();
      await erase('--sub', sub, '--yes');
      const [second, restored] = [await post(sub, email), await restore()];
      const latest = String((await erase('--sub', sub, '--yes')).json.at(-1)?.['erased_at']);
      expect(latest >= second.created_at).toBe(true);
      await replay(restored, '--yes');
      expect(await rowsOf(sub, restored)).toEqual([]);

      // Recorded by a machine whose clock is ahead.
      const record = (await erasures()).find(({ erased_at }) => erased_at === latest);
      const ahead = { ...record, erased_at: '2999-01-01T00:00:00.000Z' };
      await own.client.send(new PutCommand({ TableName: `${own.table}-erasures`, Item: ahead }));
      expect(await erase('--sub', sub, '--yes')).toMatchObject({ code: 0 });
      expect(await erasures()).toContainEqual(ahead);
    });

    it('--replay replays what it can and fails when the key was replaced, and fails when it is lost', async () => {
      const [first, second] = [await makeUser(), await makeUser()];
      const restored = await restore();
      await erase('--sub', first.sub, '--yes');
      const key = readFileSync(keyFile);
      rmSync(keyFile);
      const lost = await replay(restored, '--yes');
      expect(lost.code).toBe(1);
      expect(lost.stderr).toMatch(
        /^1 erasure cannot be replayed, because the key of the record was lost or replaced/m,
      );
      expect(await rowsOf(first.sub, restored)).toHaveLength(3);

      await erase('--sub', second.sub, '--yes');
      expect(readFileSync(keyFile)).not.toEqual(key);
      const replaced = await replay(restored, '--yes');
      expect(replaced.code).toBe(1);
      expect(replaced.stderr).toMatch(/^1 erasure cannot be replayed/m);
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
      const { code, stderr } = await erase('--sub', sub, '--yes');
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The erasure key \([^\n]*erasure-key\) is damaged\.\n$/);
      expect(await rowsOf(sub)).toHaveLength(3);
    });
  });

  // What follows does not depend on the engine.
  if (endpoint !== bestEngine()) return;

  it.each([
    [[], 'erase takes one of --sub UUID, --email E and --replay (see --help)'],
    [
      ['--sub', randomUUID(), '--email', 'a@b'],
      'erase takes one of --sub UUID, --email E and --replay (see --help)',
    ],
    [['--replay', '--email', 'a@b'], 'erase takes one of --sub UUID, --email E and --replay (see --help)'],
    [['--sub', 'ana'], '--sub must be a UUID, not "ana".'],
    [['--sub'], "Option '--sub <value>' argument missing (see --help)"],
    [['--all'], "Unknown option '--all' (see --help)"],
  ])('refuses the arguments %j', async (args, line) => {
    expect(await erase(...args)).toMatchObject({ code: 2, stdout: '', stderr: `${line}\n` });
  });

  describe.skipIf(!hasTerminal)('on a terminal', () => {
    /** Types when the question is there. */
    const type = async (typed: string, ...args: string[]): Promise<{ code: unknown; output: string }> => {
      const line = [process.execPath, SCRIPT, '--data', folder, 'erase', ...args].map((arg) => `'${arg}'`);
      const child = spawn('script', ['-qec', line.join(' '), '/dev/null']);
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        const asked = output.includes(QUESTION);
        output += chunk.toString();
        if (!asked && output.includes(QUESTION)) child.stdin.write(typed);
      });
      const [code] = (await once(child, 'close')) as [unknown];
      return { code, output };
    };

    it('deletes when the name of the stage is typed', async () => {
      const { sub, email } = await makeUser();
      const { code, output } = await type('local\n', '--sub', sub);
      expect(output).toContain(`${QUESTION} them from the table ${own.table}:`);
      expect(output).toMatch(/EMAIL +INQUIRIES +UNANSWERED +OLDEST +NEWEST/);
      expect(output).toContain(email.slice(0, 8));
      expect(output).toContain(`Deleted 3 inquiries of ${sub}.`);
      expect(code).toBe(0);
      expect(await rowsOf(sub)).toEqual([]);
    });

    it.each([
      ['another text', 'yes\n'],
      ['nothing', '\n'],
      ['Ctrl-C', '\u0003'],
      ['Ctrl-D', '\u0004'],
    ])('deletes nothing after %s', async (_, typed) => {
      const { sub } = await makeUser();
      const { code, output } = await type(typed, '--sub', sub);
      expect(output).toContain('Nothing was deleted.');
      expect(code).toBe(1);
      expect(await rowsOf(sub)).toHaveLength(3);
    });
  });

  describe.skipIf(noRunbook !== undefined)(
    'the commands of the runbook that copy a restored table back',
    () => {
      it('bring back what is missing, byte for byte, keep what is there, and mark it as mailed', async () => {
        const { sub, email, answered, unanswered, expired } = await makeUser();
        const large = await post(sub, email, `"\\n\\\\\n${'é'.repeat(150_000)}`);
        const all = await rowsOf(sub);
        const from = await restore();
        // Keys are not copied.
        await writeIdempotencyKey({ client: own.client, table: from }, large);
        const inbox = createInbox(own.client, own.table);
        for (const each of [answered, expired, large]) await removeRow(own.client, own.table, each);
        await inbox.answer(unanswered.id, { reply: 'since', respondent: 'R' });

        const [, commands = ''] = /^(UNTIL=.*?^done)$/ms.exec(readText('docs/runbook.md')) ?? [];
        const { promise, resolve } = Promise.withResolvers<string>();
        const env = { ...process.env, AWS_DEFAULT_REGION: 'local', AWS_PAGER: '', FROM: from, TO: own.table };
        const script = `set -o pipefail\n${commands}`;
        execFile('bash', ['-c', script], { env }, (_, stdout, stderr) => resolve(stdout + stderr));
        expect(await promise).toBe('');

        const isOf = (row: Row): boolean => row['id'] !== unanswered.id;
        const sort = (rows: Row[]) => rows.toSorted((a, b) => String(a['sk']).localeCompare(String(b['sk'])));
        expect(sort((await rowsOf(sub)).filter(isOf))).toEqual(sort(all.filter(isOf)));
        expect(await inbox.get(unanswered.id)).toMatchObject({ reply: 'since' });
        const records = (await scan(own.table)).filter(({ __edb_e__ }) => __edb_e__ === 'delivery');
        const { Item } = createDeliveryEntity(own.table)
          .put({ inquiry: large.id, mail: 'inquiry', sent_at: large.created_at, expires_at: 0 })
          .params<{ Item: Row }>();
        expect(records).toContainEqual({ ...Item, expires_at: expect.any(Number) as unknown });
        expect(records.map(({ inquiry }) => inquiry)).not.toContain(unanswered.id);
      });
    },
  );

  describe('on a stage', () => {
    /** A parameter store with one parameter; `rival` is created by somebody else just before ours. */
    const startParameterStore = async ({ value, rival }: { value?: string; rival?: string } = {}) => {
      const store = { value, requests: [] as { operation: string; input: Row }[] };
      const server = createServer((request, response) => {
        const reply = async (): Promise<void> => {
          const input = JSON.parse(await text(request)) as Row;
          const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
          store.requests.push({ operation, input });
          const send = (status: number, body: object): void =>
            void response
              .writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
              .end(JSON.stringify(body));
          if (operation === 'GetParameter') {
            if (store.value === undefined) send(400, { __type: 'ParameterNotFound' });
            else send(200, { Parameter: { Name: input['Name'], Type: 'SecureString', Value: store.value } });
            return;
          }
          store.value ??= rival;
          if (store.value !== undefined && input['Overwrite'] !== true)
            send(400, { __type: 'ParameterAlreadyExists' });
          else {
            store.value = String(input['Value']);
            send(200, { Version: 1 });
          }
        };
        void reply();
      });
      const url = `http://127.0.0.1:${await listen(server, 0)}`;
      onTestFinished(() => close(server));
      return Object.assign(store, { url });
    };
    const environment = (parameterStore: string): NodeJS.ProcessEnv => ({
      PATH: process.env['PATH'],
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_ENDPOINT_URL_SSM: parameterStore,
      AWS_REGION: 'local',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    });
    beforeEach(async () => {
      const create = new CreateTableCommand({
        TableName: 'inquiries-develop-erasures',
        KeySchema: [{ AttributeName: 'hash', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'hash', AttributeType: 'S' }],
        BillingMode: 'PAY_PER_REQUEST',
      });
      await own.client.send(create).catch((error: Error) => {
        if (error.name !== 'ResourceInUseException') throw error;
      });
    });
    const eraseOnStage = (stage: string, sub: string, env: NodeJS.ProcessEnv) =>
      run(['--stage', stage, '--table', own.table, 'erase', '--sub', sub, '--yes'], env);

    it('the first erasure creates the key as a SecureString, and later ones use it', async () => {
      const store = await startParameterStore();
      for (const deleted of [3, 3]) {
        const { sub } = await makeUser();
        const { code, json, stderr } = await eraseOnStage('develop', sub, environment(store.url));
        expect(json.at(-1)).toMatchObject({ deleted });
        expect(stderr).toContain('npm run inbox -- --stage develop --table RESTORED erase --replay');
        expect(code).toBe(0);
        const hash = createHmac('sha256', Buffer.from(store.value ?? '', 'base64'))
          .update(sub)
          .digest('hex');
        expect(await scan('inquiries-develop-erasures')).toContainEqual(expect.objectContaining({ hash }));
      }
      const puts = store.requests.filter(({ operation }) => operation === 'PutParameter');
      expect(puts.map(({ input }) => input)).toEqual([
        { Name: '/inquiries-develop/erasure-key', Type: 'SecureString', Value: store.value },
      ]);
    });

    it('uses the key of who was faster to create it', async () => {
      const rival = Buffer.alloc(32, 7).toString('base64');
      const store = await startParameterStore({ rival });
      const { sub } = await makeUser();
      expect(await eraseOnStage('develop', sub, environment(store.url))).toMatchObject({ code: 0 });
      const hash = createHmac('sha256', Buffer.alloc(32, 7)).update(sub).digest('hex');
      expect(await scan('inquiries-develop-erasures')).toContainEqual(expect.objectContaining({ hash }));
      expect(store.value).toBe(rival);
    });

    it('deletes nothing without the table of erasures, and names it', async () => {
      const store = await startParameterStore();
      const { sub } = await makeUser();
      const { code, stderr } = await eraseOnStage('main', sub, environment(store.url));
      expect(stderr).toBe(
        'The table inquiries-main-erasures does not exist; deploy it with npm run deploy -- main.\n',
      );
      expect(code).toBe(1);
      expect(await rowsOf(sub)).toHaveLength(3);
    });
  });
});
