/**
 * Random histories of inquiries, answers in the inbox and by mail, follow-ups, bounces and strangers' mails. The
 * stream, the queue and the timer invoke mailer and receiver in any order, twice, and late by up to days. Each
 * invocation may be killed at any request to table, bucket or SES; SES throttles, or fails before or after it accepts;
 * the index lags. After a calm end, each history has kept the rules of `expectKept`.
 */
import type { SESMessage, SQSRecord } from 'aws-lambda';
import { marshall } from '@aws-sdk/util-dynamodb';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { MailRejected, RateLimited, type Mail } from '../../mail/send-mail.ts';
import type { MailerStore } from '../../mail/store.ts';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import { HOUR, toReference } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { MAIL_SETTINGS } from '../mail/mail-settings.ts';
import { createMailerInstances, type MailerInstances } from '../mail/mailer-instances.ts';
import { createAddress, deliverMail, quoting, type NewMail } from '../mail/received/test-mails.ts';
import { SES_EXAMPLES, toEvent } from '../mail/ses-events.ts';
import { readTable } from '../helpers/own-table.ts';
import { idOf, sequenceOf, toRecord, type StreamRecord } from '../mail/test-mailer.ts';
import { isHard, SEED } from './selection.ts';

const MINUTE = 60_000;
const START = Math.floor(Date.now() / (24 * HOUR)) * 24 * HOUR;
const TEAM = MAIL_SETTINGS.inboxTo;
const COLLEAGUES = ['olga@example.com', 'bea@example.com'];
/** SES refuses replies to this user. The last user has no address. */
const REFUSED = 'user2@users.example';
const USERS = ['user0@users.example', 'user1@users.example', REFUSED, 'nobody'];
/** Milliseconds by which the index lags for the timer, and for a queue, which repeats after six minutes. */
const LAGS: Partial<Record<string, number>> = { timer: 40 * MINUTE, queue: 5 * MINUTE };
/** Milliseconds during which an inquiry that is being answered is under neither key of the index. */
const MOVING = 2 * MINUTE;
/** mail/mail-quotas.ts has the same. */
const ACKNOWLEDGED_PER_HOUR = 3;

const ACTS = {
  post: 5,
  answer: 2,
  'answer by mail': 3,
  'follow up': 2,
  bounce: 1,
  stranger: 1,
  stream: 8,
  queue: 8,
  timer: 3,
  wait: 3,
  'wait for hours': 1,
} as const;
const CHANGING_ACTS = new Set<string>(['post', 'answer', 'queue', 'wait for hours']);
const anyStep = fc.record({
  act: fc.oneof(
    ...Object.entries(ACTS).map(([act, weight]) => ({ weight, arbitrary: fc.constant(act) })),
  ),
  pick: fc.nat(1_000),
  killAt: fc.option(fc.integer({ min: 1, max: 40 }), { nil: Infinity, freq: 3 }),
  fault: fc.option(fc.constantFrom('throttled', 'failed', 'accepted'), { nil: undefined, freq: 4 }),
  isTwice: fc.boolean(),
  isLagging: fc.boolean(),
});
const anyHistory = fc.array(anyStep, { minLength: 200, maxLength: 200, size: 'max' });
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

const CALM = { pick: 999, killAt: Infinity, fault: undefined, isTwice: false, isLagging: false };

/** Defects of the service, and the rule that each breaks. */
const MUTANTS: Record<string, [RegExp, (store: MailerStore) => MailerStore]> = {
  'mails that are not recorded': [
    /sent twice/,
    (store) => ({
      ...store,
      deliveries: { ...store.deliveries, record: async () => undefined },
    }),
  ],
  'a claim that everybody gets': [
    /sent twice/,
    (store) => ({
      ...store,
      deliveries: { ...store.deliveries, claimNotice: async () => 'granted' },
    }),
  ],
  'a digest that finds nothing': [
    /untold/,
    (store) => ({
      ...store,
      inquiries: { ...store.inquiries, async *list() {} },
    }),
  ],
  'an answer to another inquiry': [
    /which inquiry|whose inquiry|lost| to /,
    ({ inquiries, ...store }) => ({
      ...store,
      inquiries: {
        ...inquiries,
        async find(_id, signal) {
          const pages = inquiries.list(signal && { abortSignal: signal });
          const [first] = (await Array.fromAsync(pages)).flat();
          return first && inquiries.read(first);
        },
      },
    }),
  ],
};

const plain = (text: string): NewMail => ({ text: quoting(text) });
/** A mail with one file that is sent on and one that is not. */
const attaching = (text: string): NewMail => ({
  headers: 'Content-Type: multipart/mixed; boundary=b\n',
  text: `--b\n\n${quoting(text)}\n--b\nContent-Type: text/plain; name=a.txt\n\na\n--b\nContent-Type: application/x; name=x\n\nx\n--b--`,
});

interface Sent {
  token: string;
  /** The id of the inquiry that it is about. */
  id: string;
  from: string;
}

const nameOf = ({ to, subject, tags, text, day }: Mail & { day?: number }): string =>
  `${tags['mail']} ${tags['inquiry'] ?? day} ${to} ${subject} ${text.match(/token\d+/g)?.join() ?? ''}`;

async function play(engine: string, history: Step[], change = (store: MailerStore) => store) {
  const all = await createMailerInstances(engine, {
    time: START,
    acknowledge: true,
    mailsPerHour: 4,
    totalMailsPerHour: 6,
    followUps: true,
    replyDomain: 'reply.example.com',
    answerWithin: 1,
  });
  all.change = change;
  let instance = all.create();
  const images = new Map<string, string | undefined>();
  let stream: StreamRecord[] = [];
  let queue: { event: SESMessage | ReturnType<typeof toEvent>; times: number }[] = [];
  const snapshots: { at: number; rows: StoredInquiry[] }[] = [];
  /** Undefined after a possible change. */
  let stored: StoredInquiry[] | undefined;
  const bounced = new Set<unknown>();
  const written: Sent[] = [];
  /** Mails that SES got, perhaps without the mailer's knowledge. */
  const unknown: string[] = [];
  let tokens = 0;
  const createToken = (): string => `token${++tokens}`;

  const readAll = async (): Promise<StoredInquiry[]> => {
    const rows = await readTable(all.client, all.table);
    const inquiries = rows.filter((row) => row['__edb_e__'] === 'inquiry') as StoredInquiry[];
    return inquiries.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  };
  /** Adds changes of the table to the stream. */
  async function readChanges(): Promise<StoredInquiry[]> {
    const rows = await readAll();
    for (const row of rows) {
      const { reply: _, respondent: __, reply_at, ...inserted } = row;
      if (!images.has(row.id)) stream.push(toRecord(marshall(inserted)));
      if (reply_at !== images.get(row.id)) {
        stream.push(toRecord(marshall(row), marshall(inserted)));
      }
      images.set(row.id, reply_at);
    }
    return rows;
  }

  function readIndex(lag: number): StoredInquiry[] {
    const readAt = (behind: number): StoredInquiry[] =>
      (snapshots.find(({ at }) => at + behind > all.time) ?? snapshots.at(-1))?.rows ?? [];
    const now = readAt(0);
    const isMoving = ({ id }: StoredInquiry): boolean => {
      const [one, other] = [now, readAt(Math.min(lag, MOVING))].map((rows) =>
        rows.find((row) => row.id === id),
      );
      return other !== undefined && one?.reply_at !== other.reply_at;
    };
    return readAt(lag).filter((row) => !isMoving(row));
  }

  /** @returns undefined if it was killed. */
  async function invoke<Result>(
    { act: kind, killAt, fault, isLagging }: Step,
    run: (one: ReturnType<MailerInstances['create']>) => Promise<Result>,
  ): Promise<Result | Error | undefined> {
    const before = all.mails.length;
    all.index = readIndex(isLagging ? (LAGS[kind] ?? 0) : 0);
    all.beforeSend = async (mail) => {
      Object.assign(mail, { day: Math.floor(all.time / (24 * HOUR)) });
      if (mail.to === REFUSED && mail.tags['mail'] === 'reply') throw new MailRejected('no');
      if (fault === 'accepted') all.mails.push(mail);
      if (fault === 'throttled') throw new RateLimited('429');
      if (fault !== undefined) throw new Error('500');
    };
    instance.killAfter(killAt);
    const result = await run(instance).catch((error: Error) => error);
    const isKilled = instance.isKilled();
    if (isKilled) instance = all.create();
    if (isKilled || fault === 'accepted') unknown.push(...all.mails.slice(before).map(nameOf));
    return isKilled ? undefined : result;
  }

  const isLate = ({ eventName, dynamodb: { NewImage } }: StreamRecord): boolean => {
    const isNew = eventName === 'INSERT';
    const { S: since = '' } = NewImage[isNew ? 'created_at' : 'reply_at'] ?? {};
    return all.time - Date.parse(since) > (isNew ? 6 : 24) * HOUR;
  };

  async function receive(kind: 'r' | 'f', id: string, from: string, toMail: typeof plain) {
    const token = createToken();
    const to = await createAddress(all, kind, id, () => all.time);
    queue.push({ event: deliverMail(all, to, { from, ...toMail(token) }), times: 0 });
    written.push({ token, id, from });
  }

  const acts: Record<keyof typeof ACTS, (step: Step, rows: StoredInquiry[]) => Promise<unknown>> = {
    async post({ pick, isTwice }) {
      const token = createToken();
      const { [pick % USERS.length]: email = '' } = USERS;
      const row = { at: all.time + (tokens % 1_000), body: token, email };
      const [record] = await all.write([
        { ...row, cognito_sub: `sub ${email}`, ...(isTwice && { email_verified: true }) },
      ]);
      written.push({ token, id: record ? idOf(record) : '', from: email });
    },
    async answer({ pick }, rows) {
      const row = rows[pick % rows.length];
      if (row === undefined || row.reply_at !== undefined) return;
      const token = createToken();
      await all.answer(row.id, token);
      written.push({ token, id: row.id, from: 'bea' });
    },
    async 'answer by mail'({ pick, isTwice }, rows) {
      const row = rows[pick % rows.length];
      if (row) await receive('r', row.id, COLLEAGUES[pick % 2] ?? '', isTwice ? attaching : plain);
    },
    async 'follow up'({ pick }, rows) {
      const row = rows[pick % rows.length];
      if (row?.email_verified === true) await receive('f', row.id, row.email, plain);
    },
    async bounce({ pick }) {
      const replies = all.ofKind('reply').filter(({ tags }) => !bounced.has(tags['inquiry']));
      const { to = '', tags } = replies[pick % replies.length] ?? {};
      if (tags === undefined) return;
      queue.push({ event: toEvent(SES_EXAMPLES.bounce, { ...tags, to }), times: 0 });
      bounced.add(tags['inquiry']);
    },
    async stranger() {
      // The receiver does not read its text.
      const token = createToken();
      const from = `${token}@other.example`;
      const to = 'info@reply.example.com';
      queue.push({ event: deliverMail(all, to, { from }), times: 0 });
      written.push({ token, id: '', from });
    },
    async stream(step) {
      const batch = stream.slice(0, 1 + (step.pick % 8));
      const failed = await invoke(step, async ({ handle }) => handle(batch));
      if (!Array.isArray(failed)) return;
      const first = batch.findIndex((record) => failed.includes(sequenceOf(record)));
      // Lambda may repeat even what has succeeded.
      if (!step.isTwice) stream = stream.slice(first === -1 ? batch.length : first);
    },
    async queue(step) {
      const one = queue[step.pick % queue.length];
      if (one === undefined) return;
      one.times++;
      const { event, times } = one;
      const result = await invoke(step, async ({ receive: run, invoke: notice }) => {
        if ('receipt' in event) return run(event, times);
        const attributes = { ApproximateReceiveCount: String(times) } as SQSRecord['attributes'];
        for (const record of event.Records) Object.assign(record, { attributes });
        return notice(event);
      });
      const isDone = result !== undefined && !(result instanceof Error);
      if (isDone && !step.isTwice) queue = queue.filter((other) => other !== one);
      if (!isDone) all.time += 6 * MINUTE;
    },
    timer: async (step) => {
      all.time += 5 * MINUTE;
      await invoke(step, async ({ tick }) => tick());
    },
    wait: async () => void (all.time += 6 * MINUTE),
    async 'wait for hours'({ pick }) {
      // The queue repeats for a day, as long as an idempotency key is kept.
      const waiting = [...queue.keys()].toReversed();
      for (const at of waiting) await acts.queue({ ...CALM, act: 'queue', pick: at }, []);
      all.time += (pick % 4 === 0 ? 26 : 7) * HOUR;
    },
  };

  async function act(step: Step): Promise<void> {
    const rows = stored ?? (await readChanges());
    stored = CHANGING_ACTS.has(step.act) ? undefined : rows;
    snapshots.push({ at: all.time, rows });
    await acts[step.act as keyof typeof ACTS](step, rows);
    stream = stream.filter((record) => !isLate(record));
  }

  await instance.tick();
  for (const step of history) await act(step);
  // This covers the stream's day, a digest's seven hours and an acknowledgement's hour.
  for (let hour = 0; hour < 30 || stream.length + queue.length > 0; hour += 3) {
    expect(hour, 'something waits for ever').toBeLessThan(60);
    for (let times = stream.length / 8; times >= 0; times--) await act({ ...CALM, act: 'stream' });
    for (const pick of [...queue.keys()].toReversed()) await act({ ...CALM, act: 'queue', pick });
    await act({ ...CALM, act: 'timer' });
    all.time += 3 * HOUR;
  }
  return { all, rows: await readAll(), written, unknown };
}

type Played = Awaited<ReturnType<typeof play>>;

function expectOnce({ all, unknown }: Played): void {
  const names = all.mails.map(nameOf);
  const most = (name: string): number => 1 + unknown.filter((one) => one === name).length;
  const twice = names.filter(
    (name, at) => names.slice(0, at + 1).filter((one) => one === name).length > most(name),
  );
  expect(twice, 'sent twice').toEqual([]);
}

function expectTold({ all, rows }: Played): void {
  const digests = all.ofKind('digest').map(({ text }) => text);
  // A digest leaves out inquiries that the team has answered meanwhile.
  const isTold = ({ id, reply_at }: StoredInquiry): boolean =>
    reply_at !== undefined ||
    all.ofKind('inquiry').some(({ tags }) => tags['inquiry'] === id) ||
    digests.some(
      (text) =>
        text.includes(toReference(id)) ||
        // A digest names only ten.
        Number(/^\d+/.exec(text)?.[0]) > 10,
    );
  expect(
    rows.filter((row) => !isTold(row)),
    'untold',
  ).toEqual([]);
}

function expectAcknowledged({ all, rows }: Played): void {
  const hourOf = ({ email, created_at }: StoredInquiry): string =>
    `${email} ${created_at.slice(0, 13)}`;
  const groups = Map.groupBy(
    rows.filter(({ email, email_verified }) => email.includes('@') && email_verified === true),
    hourOf,
  );
  for (const [hour, group] of groups) {
    const mails = new Set(all.ofKind('acknowledgement').map(({ tags }) => tags['inquiry']));
    const count = group.filter(({ id }) => mails.has(id)).length;
    expect(count, `acknowledged, ${hour}`).toBe(Math.min(ACKNOWLEDGED_PER_HOUR, group.length));
  }
}

/** Each stored text belongs to its writer, and each text is stored, or in a mail to its writer or the team. */
function expectWritten({ all, rows, written }: Played): void {
  for (const { token, id, from } of written) {
    const has = (text: string): boolean => new RegExp(`\\b${token}\\b`).test(text);
    const stored = rows.filter((row) => has(JSON.stringify(row)));
    const told = all.mails.filter(({ to, text }) => [from, TEAM].includes(to) && has(text));
    expect(stored.length, `${token}, stored`).toBeLessThanOrEqual(1);
    expect(stored.length + told.length, `${token} of ${from}, lost`).toBeGreaterThan(0);
    const [row] = stored;
    if (row === undefined) continue;
    if (has(row.body)) expect(row.email, `${token}, whose inquiry`).toBe(from);
    else expect(row.id, `${token}, which inquiry`).toBe(id);
  }
}

/** The notice of a reply that cannot be sent. */
const isOfFailure = ({ subject }: Mail): boolean => /(?:could|was) not (?:be )?sent$/.test(subject);

function expectReplied({ all, rows }: Played): void {
  const told = [...all.ofKind('reply'), ...all.ofKind('notice').filter(isOfFailure)];
  const mailed = new Set(told.map(({ tags }) => tags['inquiry']));
  const unsent = rows.filter(({ id, reply }) => reply !== undefined && !mailed.has(id));
  expect(unsent, 'replies that are not sent').toEqual([]);
}

/** No text of one user is mailed to another. */
function expectPrivate({ all, rows, written }: Played): void {
  const owners = new Map(rows.map(({ id, email }) => [id, email]));
  for (const { to, text } of all.mails) {
    if (to === TEAM || COLLEAGUES.includes(to)) continue;
    for (const [token] of text.matchAll(/token\d+/g)) {
      const { id = '', from } = written.find((one) => one.token === token) ?? {};
      expect([from, owners.get(id)], `${token} to ${to}`).toContain(to);
    }
  }
}

function expectKept(played: Played): void {
  expectOnce(played);
  expectTold(played);
  expectAcknowledged(played);
  expectWritten(played);
  expectReplied(played);
  expectPrivate(played);
}

describeOnDynamoDbLocal('mails', (engine) => {
  it('of random histories are complete, once and to the right addresses', async () => {
    const counts = { steps: 0, inquiries: 0, mails: 0, unknown: 0 };
    const keeps = fc.asyncProperty(anyHistory, async (history) => {
      const played = await play(engine, history);
      expectKept(played);
      counts.steps += history.length;
      counts.inquiries += played.rows.length;
      counts.mails += played.all.mails.length;
      counts.unknown += played.unknown.length;
    });
    const numRuns = isHard ? 15 : 1;
    const { errorInstance } = await fc.check(keeps, { numRuns, seed: SEED, endOnFailure: true });
    process.stdout.write(`${numRuns} histories, ${JSON.stringify(counts)}, seed ${SEED}\n`);
    if (errorInstance !== null) throw errorInstance;
    expect(counts.mails).toBeGreaterThan(numRuns * 30);
  });

  it.each(Object.entries(MUTANTS))('finds %s', async (_, [rule, change]) => {
    const keeps = fc.asyncProperty(anyHistory, async (history) =>
      expectKept(await play(engine, history, change)),
    );
    const { errorInstance } = await fc.check(keeps, { numRuns: 3, seed: 1, endOnFailure: true });
    expect(String(errorInstance)).toMatch(rule);
  });
});
