import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { connectLocally, connectToStage } from '../../inbox/connect.ts';
import type { Listing } from '../../inbox/listing.ts';
import type { StoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { refusal } from '../deploy/aws.ts';
import { stopClock } from './clock.ts';
import { send } from '../local/http.ts';
import { containing, END_OF_ID, openInbox, startStage } from './test-inbox.ts';
import { putInquiries } from '../function/test-inquiries.ts';

const UNKNOWN = '01997b2e-0000-7000-8000-000000000000';
const ALL = 'GET inquiries?show=all&order=newest';

const begin = async (change: Partial<StoredInquiries> = {}) => {
  const own = await openInbox();
  const url = await own.serve({ inquiries: { ...own.inbox, ...change } });
  const [origin = '', secret = ''] = url.split('/#');
  const page = { authorization: `Bearer ${secret}`, origin };
  /** Sends as the page does, or with other headers; an empty one is left out. */
  const ask = async (request: string, body = '', headers: Record<string, string> = {}) => {
    const [method = '', path] = request.split(' ');
    const sent = Object.entries({ ...page, ...headers }).filter(([, value]) => value !== '');
    return send(`${origin}/api/${path}`, { method, headers: sent.flat(), body });
  };
  return { ...own, origin, secret, page, ask };
};

it('refuses what is not from its own page, under its own name', async () => {
  const { add, ask, inbox, origin, secret } = await begin();
  const { id } = await add(0);
  const { port } = new URL(origin);
  const reply = `POST inquiries/${id}/reply`;
  for (const request of ['GET session', 'GET unanswered', ALL, `GET inquiries/${id}`, reply]) {
    for (const [headers, status] of [
      [{ authorization: '' }, 403],
      [{ authorization: `Bearer ${secret}x` }, 403],
      [{ origin: 'https://attacker.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ origin: `http://localhost:${port}` }, 403],
      [{ origin: '' }, request === reply ? 403 : 200],
      [{ host: `attacker.example:${port}` }, 302],
      [{ host: `localhost:${port}` }, 302],
    ] as const) {
      const answer = await ask(request, '{"reply":"r"}', headers);
      expect([request, headers, answer.status]).toEqual([request, headers, status]);
    }
  }
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  expect(await inbox.get(id)).not.toHaveProperty('reply_at');
});

it('serves a page that runs no script of others, and that no other page frames or opens', async () => {
  const { origin } = await begin();
  const { headers } = await fetch(origin);
  const self = ["script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"];
  const trusted = ["require-trusted-types-for 'script'", "trusted-types 'none'"];
  const none = ["form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'"];
  const policy = ["default-src 'none'", ...self, ...trusted, ...none];
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  });
});

it('reads an inquiry, records one answer, and says in one sentence what is wrong', async () => {
  stopClock(Date.parse('2026-11-21T12:00:00Z'));
  const { add, ask, inbox } = await begin();
  for (const email of ['ana@example.com', 'ben@example.com', 'ana@example.com']) {
    await add(1_000, { email });
  }
  const { id } = await add(0);
  const read = `GET inquiries/${id}`;
  const reply = `POST inquiries/${id}/reply`;
  const long = (length: number) => JSON.stringify({ reply: 'x'.repeat(length) });
  const answers: string[] = [];
  for (const [request, body = ''] of [
    [`GET inquiries/${id.toUpperCase()}`],
    [`GET inquiries/${UNKNOWN}`],
    ['GET inquiries/x'],
    ['GET inquiries?show=some&order=newest'],
    ['GET inquiries?show=all&order=x'],
    [`${ALL}&from=x`],
    ['GET other'],
    [`${read}/reply`],
    [`${read}/dismiss`],
    [`POST inquiries/${UNKNOWN}/reply`, '{"reply":"r"}'],
    [reply, '{'],
    [reply, '{}'],
    [reply, '{"reply":" \\n"}'],
    [reply, long(400 * 1024)],
    [reply, long(20 * 1024 * 1024)],
    [read],
    [reply, '{"reply":"Yes."}'],
    [reply, '{"reply":"No."}'],
    [reply.replace('reply', 'dismiss'), '{}'],
    [read],
    [`${read}/others`],
    [`GET inquiries/${UNKNOWN}/others`],
  ] as const) {
    const { status, json, headers } = await ask(request, body);
    const names = Object.keys(Object(json)).toSorted();
    answers.push(`${request} ${body.slice(0, 30)}\n${status} ${JSON.stringify(json, names)}\n`);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  }
  const golden = answers.join('\n').replaceAll(END_OF_ID, '…');
  await expect(golden).toMatchFileSnapshot('golden/page-requests.txt');
  expect(await inbox.get(id)).toMatchObject({ reply: 'Yes.', respondent: 'olga' });
});

it('searches in both orders, and lists the latest answers and what came back, page after page', async () => {
  const { ask, deliveries, ...own } = await begin();
  const now = Date.now();
  const rows = Array.from({ length: 104 }, (_, n) => {
    // The later it came, the earlier it was answered; one eight days ago.
    const reply_at = new Date(now - (n === 51 ? 8 * 86_400_000 : n * 1_000)).toISOString();
    const closed = { body: 'Une Réservation', reply: 'r', respondent: 'R', reply_at };
    return { at: now - 1_000 + n, ...(n < 52 ? closed : { body: `une ${'x'.repeat(1_000)}` }) };
  });
  const ids = (await putInquiries(own, rows)).map(({ id }) => id);
  const [closed, open] = [ids.slice(0, 52), ids.slice(52)];
  const bounced = { undelivered: 'bounce', undelivered_at: '', expires_at: 9_999_999_999 } as const;
  for (const inquiry of [closed[45] ?? '', closed[51] ?? '']) {
    await deliveries.put({ inquiry, mail: 'reply', ...bounced }).go();
  }
  // No search ends for lack of time.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const list = async (query: string) => (await ask(`GET inquiries?${query}`)).json as Listing;
  for (const [query, expected] of [
    ['show=all&order=oldest&text=reservation+une', closed],
    ['show=all&order=newest&text=reservation+une', closed.toReversed()],
    ['show=unanswered&order=oldest', open],
    ['show=answered&order=answered', closed],
    ['show=undelivered&order=answered', [closed[45]]],
  ] as const) {
    const { inquiries, next } = await list(query);
    const more = next === undefined ? [] : (await list(`${query}&from=${next}`)).inquiries;
    expect([...inquiries, ...more].map(({ id }) => id)).toEqual(expected);
  }
  const { inquiries } = await list('show=all&order=newest');
  expect([inquiries.length, inquiries[0]?.body]).toEqual([50, `une ${'x'.repeat(156)}`]);
  const { json } = await ask('GET unanswered');
  expect(json).toEqual({ isAll: true, ids: open.toReversed() });
});

it.each([
  ['sent', { status: 200, body: {} }],
  ['none', refusal(404, 'ResourceNotFoundException', 'no')],
  ['unknown', refusal(403, 'AccessDeniedException', 'no')],
])('tells by the function that mails whether a stage does: %s', async (mail, response) => {
  const { answers } = await startStage('http://127.0.0.1:9');
  answers['GET /2019-09-30/functions/inquiries-develop-mailer/concurrency'] = () => response;
  expect(await connectToStage('develop').mail()).toBe(mail);
  const restored = connectToStage('develop', undefined, { table: 'restored', erasures: 'e' });
  expect(await restored.mail()).toBe('unknown');
});

it.each([
  ['TypeError', '(TypeError)'],
  ['ThrottlingException', 'DynamoDB is throttling requests; try again.'],
])('says what to do about %s, or its name, without its message', async (name, says) => {
  const error = Object.assign(new Error('a secret'), { name });
  const { ask } = await begin({ get: () => Promise.reject(error) });
  const { status, text } = await ask(`GET inquiries/${UNKNOWN}`);
  expect([status, text]).toEqual([502, containing(says)]);
  expect(text).not.toContain('a secret');
});

it('connects for a request to the local stack, and leaves no connection open', async () => {
  const { folder, connections } = await openInbox();
  for (let n = 0; n < 3; n++) await connectLocally(folder).inquiries.get(UNKNOWN);
  await expect.poll(connections).toBe(0);
});

it('stops reading the table when the page has gone', async () => {
  const gone = new AbortController();
  const stopped = Promise.withResolvers<void>();
  const { origin, page } = await begin({
    async *listInFull() {
      try {
        for (;;) {
          yield [];
          await turn();
          gone.abort();
        }
      } finally {
        stopped.resolve();
      }
    },
  });
  const reading = fetch(`${origin}/api/${ALL.slice(4)}`, { headers: page, signal: gone.signal });
  await expect(reading).rejects.toThrow('aborted');
  await stopped.promise;
});
