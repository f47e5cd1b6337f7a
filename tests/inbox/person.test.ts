/** What the service has of a person: erasure and copy. */
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createErasureRecords } from '../../src/entities/erasures.ts';
import { createTable } from '../../local/database/table.ts';
import { SUB } from '../helpers/events.ts';
import { stopClock } from '../local/clock.ts';
import type { IoOptions } from '../local/io.ts';
import { openPersonStage, RIVAL, toRecordKey } from './person-stage.ts';
import { containing, parseLines } from './test-inbox.ts';

let stage: Awaited<ReturnType<typeof openPersonStage>>;
beforeEach(async () => {
  stage = await openPersonStage();
});

/** What a line prints and asks AWS. A request is listed once: with a clock that stands still, the SDK may repeat it. */
async function transcribe(line: string, options: IoOptions = {}): Promise<string> {
  stage.calls.length = 0;
  const printed = await stage.own.transcribe([[line, options]]);
  const asked = stage.calls.map(({ Value: _key, ...call }) => `AWS: ${JSON.stringify(call)}\n`);
  return printed + [...new Set(asked)].join('');
}

const findLeft = async (names: string[]): Promise<string[]> => {
  const stores = (await stage.readStores()).toLowerCase();
  return names.filter((name) => stores.includes(name.toLowerCase()));
};

describe('erase', () => {
  it('leaves no byte of a person in any store, and everything of others', async () => {
    const other = await stage.addPerson();
    const before = await stage.readStores();
    const { sub, email, names } = await stage.addPerson();
    // Longer addresses are those of others.
    stage.addMail('other', `From: x${email}, ${email}.example\n\nHello`);
    expect(await findLeft(names)).toEqual(names);
    const { code, stdout } = await stage.run(`erase --email ${email} --yes`);
    expect(code).toBe(0);
    const result = { cognito_sub: sub, deleted: 3, account: 'deleted', mails: 6, suppressed: 1 };
    expect(parseLines(stdout).at(-1)).toMatchObject(result);
    expect(stage.objects.delete('/mails/other')).toBe(true);
    expect(await findLeft(names)).toEqual([]);
    expect(await findLeft(other.names)).toEqual(other.names);
    // The records of the erasure stay.
    const after = (await stage.readStores()).replaceAll(/,?\{"hash":"[^"]+"\}/g, '');
    expect(after.length).toBe(before.length);
  });

  it('asks, records, deletes the inquiries, and last the account, which finds the user again', async () => {
    stopClock(Date.parse('2026-11-21T12:00:00Z'));
    const QUESTIONS = [
      'Type account to delete the account, too, or anything else to keep it: ',
      'Type develop to delete the inquiries from the table ',
    ];
    const transcripts: string[] = [];
    for (const [line, typed, failures, tags] of [
      ['', []],
      ['--yes --keep-account', []],
      ['--yes', []],
      ['', ['account', 'no']],
      ['', ['no', 'develop']],
      ['', ['account', 'develop']],
      // There is only an account.
      ['', ['no']],
      ['', ['account']],
      ['--yes', [], { AdminDeleteUser: 'UserNotFoundException' }],
      ['--yes', [], { AdminDeleteUser: 'AccessDeniedException' }],
      ['--yes', [], { ListUsers: 'AccessDeniedException' }],
      ['--yes --erasures missing', []],
      ['--yes', [], { BatchWriteItem: 'AccessDeniedException' }],
      ['--yes', [], {}, {}],
    ] as [string, string[], ...Parameters<typeof stage.fail>][]) {
      stage = await openPersonStage();
      if (typed.length === 1) stage.addAccount(SUB, 'ana@example.com');
      else await stage.addPerson(SUB);
      stage.fail(failures, tags);
      const dialogue = typed.map((text, at) => [`${QUESTIONS[at]}`, text] as const);
      const options = { isTTY: typed.length > 0, dialogue };
      const transcript = await transcribe(stage.toLine(`erase --sub ${SUB} ${line}`), options);
      transcripts.push(`${transcript}${await stage.countRows(SUB)} rows are left.\n`);
    }
    await expect(transcripts.join('\n')).toMatchFileSnapshot('golden/accounts.txt');
  });

  it('takes tables and a secret key, maybe just created, from the name of the service', async () => {
    stopClock(Date.parse('2026-11-21T12:00:00Z'));
    stage.fail({ PutParameter: 'ParameterAlreadyExists' }, { user_pool: 'none' });
    const { own } = stage;
    await createTable(own.engine, 'shop-develop');
    await createErasureRecords({ ...own, name: 'shop-develop-erasures' }).create();
    const line = `erase --sub ${SUB} --yes --stage develop --service shop`;
    await expect(await transcribe(line)).toMatchFileSnapshot('golden/other-service.txt');
    const hash = containing(toRecordKey(RIVAL, SUB));
    expect(await own.scan('shop-develop-erasures')).toEqual([{ hash }]);
  });

  it('killed at any step is finished by running it again', async () => {
    let steps = 0;
    for (let isKilled = true; isKilled; steps++) {
      const { sub, email, names } = await stage.addPerson();
      const before = await stage.countRecords();
      stage.killAfter(steps);
      await stage.run(`erase --email ${email} --yes`);
      isKilled = stage.wasKilled();
      // Recorded first: what is deleted must not come back by a restore either.
      const isWhole = (await stage.countRows(sub)) === 4;
      expect(isWhole || (await stage.countRecords()) > before).toBe(true);
      stage.killAfter(Infinity);
      const { code } = await stage.run(`erase --email ${email} --yes`);
      expect([steps, code, await findLeft(names)]).toEqual([steps, 0, []]);
    }
    // The steps are: key, record, six mails, list, account, and the rows of two emails.
    expect(steps).toBeGreaterThanOrEqual(12);
  });

  it('finds somebody with an account alone, by email', async () => {
    const [sub, email] = [randomUUID(), 'bea@example.com'];
    stage.addAccount(sub, email);
    stage.addMail('bea', `From: ${email}\n\nHello`);
    await stage.run(`erase --email ${email} --yes`);
    expect(await findLeft([sub, email])).toEqual([]);
  });

  it('finds mails and list of somebody whose inquiries have expired, without an account', async () => {
    const email = 'carl@example.com';
    stage.addMail('carl', `From: ${email}\n\nHello`);
    stage.addSuppressed(email);
    const { stdout, stderr } = await stage.run(`erase --email ${email} --yes`);
    expect(await findLeft([email])).toEqual([]);
    expect(parseLines(stdout)).toMatchObject([{ account: 'none', mails: 1, suppressed: 1 }]);
    expect(stderr).toContain(`The stage develop has no account of ${email} in its user pool.`);
    expect(stderr).toContain('The user is named in 1 received mail.');
  });

  it('lists near spellings, and of two users asks which', async () => {
    const email = 'Dora.May@example.com';
    const near = ['dora.may@example.com', 'doramay+shop@example.com', 'dora.may\u200B@example.com'];
    const subs = [email, ...near].map((address) => {
      const sub = randomUUID();
      stage.addAccount(sub, address);
      return sub;
    });
    const { stderr } = await stage.run(`erase --email ${email}`);
    for (const sub of subs.slice(1)) expect(stderr).toContain(sub);
    expect(stderr).toContain('dora.may\\u200b@example.com');
    expect(stderr).not.toContain('dorothy');
    stage.addAccount(randomUUID(), email);
    const { code, stderr: refused } = await stage.run(`erase --email ${email} --yes`);
    expect(code).toBe(2);
    expect(refused).toContain('was used by 2 users; choose one with --sub');
    expect(stage.accounts.size).toBe(5);
  });
});

describe('export', () => {
  it('of a person has all that erase would delete, and no colleague', async () => {
    await stage.addPerson();
    const { sub, email, rows } = await stage.addPerson();
    const { code, stdout } = await stage.run(`export --email ${email}`);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      cognito_sub: sub,
      account: { email },
      inquiries: rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ id }) => ({ id })),
      mails: [{ subject: 'Parcel', text: 'Where is my parcel?\n' }],
      suppressed: [email],
    });
    expect(stdout).toContain('"undelivered": "bounce"');
    expect(stdout).not.toContain('olga');
  });

  it('is a page in a file of one’s own, in which texts are no markup', async () => {
    const { sub, email } = await stage.addPerson();
    await stage.own.add(0, { cognito_sub: sub, email, body: '<script>alert(1)</script>' });
    const out = join(stage.own.folder, 'copy.html');
    await stage.run(`export --sub ${sub} --html --out '${out}'`);
    const page = readFileSync(out, 'utf8');
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(page).toContain('&#60;script&#62;');
    expect(page).not.toMatch(/<script|olga/);
  });

  it('says that there is nothing', async () => {
    const { code, stderr } = await stage.run('export --email nobody@example.com');
    expect([code, stderr]).toEqual([1, 'There is nothing of nobody@example.com.\n']);
  });
});

describe('expire', () => {
  const DAY = 86_400_000;

  it('deletes old inquiries after a dry run, whoever sent them', async () => {
    const { sub, email, names } = await stage.addPerson();
    const dry = await stage.run('expire --older-than 100d');
    expect(dry.stderr).toMatch(/has 1 inquiry of 1 user from before .*, 1 unanswered\.\n.*dry run/);
    expect(await findLeft(names)).toEqual(names);
    const { stdout } = await stage.run('expire --older-than 100d --yes');
    expect(parseLines(stdout)).toMatchObject([{ deleted: 1 }]);
    const copy = await stage.run(`export --email ${email}`);
    expect(JSON.parse(copy.stdout)).toMatchObject({ cognito_sub: sub, inquiries: [{}, {}] });
  });

  it('--accounts lists and deletes those that are old and have sent nothing since', async () => {
    const sender = await stage.addPerson();
    const [old, recent] = [randomUUID(), randomUUID()];
    stage.addAccount(old, 'old@example.com', Date.now() - 400 * DAY);
    stage.addAccount(recent, 'recent@example.com', Date.now() - 300 * DAY);
    for (const account of stage.accounts.values()) {
      if (account.sub === sender.sub) account.created = Date.now() - 500 * DAY;
    }
    const dry = await stage.run('expire --older-than 365d --accounts');
    expect(parseLines(dry.stdout)).toMatchObject([{ cognito_sub: old }]);
    expect(stage.accounts.size).toBe(3);
    await stage.run('expire --older-than 365d --accounts --yes');
    expect([...stage.accounts.values()].map(({ sub }) => sub)).toEqual([sender.sub, recent]);
  });
});

it('--replay --users removes who was erased from a list of users, before an import', async () => {
  const [erased, kept] = [await stage.addPerson(), await stage.addPerson()];
  await stage.run(`erase --sub ${erased.sub} --yes`);
  const toUser = ({ sub, email }: { sub: string; email: string }) => ({
    Attributes: Object.entries({ sub, email }).map(([Name, Value]) => ({ Name, Value })),
  });
  const file = join(stage.own.folder, 'users.json');
  writeFileSync(file, JSON.stringify({ Users: [erased, kept].map(toUser) }));
  const { stdout } = await stage.run(`erase --replay --users '${file}'`);
  expect(parseLines(stdout)).toEqual([{ file, removed: 1 }]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ Users: [toUser(kept)] });
  expect(await stage.run('erase --replay --users LICENSE')).toMatchObject({ code: 2 });
});

it('--forget-before deletes old records alone, before a replay', async () => {
  const records = ['2026-01-01T00:00:00.000Z', new Date().toISOString()];
  await stage.addRecords(records.map((time) => `key#hash#${time}`));
  const forget = (line: string) => stage.run(`erase --replay --forget-before ${line}`);
  await forget('36d');
  expect(await findLeft(records)).toEqual(records);
  await forget('36d --yes');
  expect(await findLeft(records)).toEqual(records.slice(1));
});
