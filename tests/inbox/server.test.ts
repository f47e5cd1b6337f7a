/** The API of the operators' page. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { connectToStage } from '../../inbox/connect.ts';
import { startInboxServer, type InboxApi, type PageConnection } from '../../inbox/server.ts';
import type { Inbox } from '../../inbox/store.ts';
import { refusal } from '../helpers/aws.ts';
import { send } from '../helpers/http.ts';
import { openInbox, startStage } from '../helpers/inbox.ts';

const HEADERS = {
  'cache-control': 'no-store',
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};
const UNKNOWN = '01997b2e-0000-7000-8000-000000000000';

/** The server on a table of its own. */
const begin = async (
  change: (connection: PageConnection) => Partial<PageConnection> = () => ({}),
) => {
  const own = await openInbox();
  const { name: table, inbox } = own;
  const connection: PageConnection = {
    stage: 'local',
    table,
    inbox,
    respondent: async () => 'ana',
    mail: async () => 'sent',
  };
  const server = await startInboxServer({ ...connection, ...change(connection) });
  onTestFinished(server.close);
  const [origin = '', secret = ''] = server.url.split('/#');
  const bearer = ['authorization', `Bearer ${secret}`];
  const json = ['content-type', 'application/json'];
  const post = async (
    path: string,
    data: unknown,
    headers = [...bearer, ...json, 'origin', origin],
  ) => send(`${origin}/api/${path}`, { method: 'POST', headers, body: JSON.stringify(data) });
  const get = async (path: string, headers = bearer) => send(`${origin}/api/${path}`, { headers });
  const create = () => own.add(0);
  return { ...own, ...connection, origin, secret, bearer, json, post, get, create };
};

it('reads one inquiry in upper and lower case of its id, and keeps it out of caches', async () => {
  const { create, get } = await begin();
  const inquiry = await create();
  for (const id of [inquiry.id, inquiry.id.toUpperCase()]) {
    expect(await get(`inquiries/${id}`)).toMatchObject({
      status: 200,
      json: { ...inquiry },
      headers: HEADERS,
    });
  }
  const unknown = await get(`inquiries/${UNKNOWN}`);
  expect(unknown).toMatchObject({ status: 404, headers: HEADERS });
  expect(unknown.headers).not.toHaveProperty('access-control-allow-origin');
});

it('records one answer, and says who gave it', async () => {
  const { create, post } = await begin();
  const { id } = await create();
  const sent = await post(`inquiries/${id}/reply`, { reply: 'Yes.' });
  expect(sent).toMatchObject({ status: 200, json: { status: 'answered', respondent: 'ana' } });
  for (const action of ['reply', 'dismiss']) {
    const again = await post(`inquiries/${id}/${action}`, { reply: 'No.' });
    expect(again).toMatchObject({
      status: 409,
      json: { status: 'already-answered', respondent: 'ana' },
    });
  }
});

it('searches in both orders, page after page', async () => {
  const { add, get } = await begin();
  const ids: string[] = [];
  for (let n = 0; n < 120; n++) {
    const { id } = await add(1_000 - n, {
      body: n % 2 === 0 ? 'Une Réservation' : `une ${'x'.repeat(1_000)}`,
    });
    if (n % 2 === 0) ids.push(id);
  }
  for (const [order, expected] of [
    ['oldest', ids],
    ['newest', ids.toReversed()],
  ] as const) {
    const found: string[] = [];
    let from: string | undefined = '';
    while (from !== undefined) {
      const path: string = `inquiries?show=all&order=${order}&text=reservation+une${from && `&from=${from}`}`;
      const page = (await get(path)).json as InboxApi['/api/inquiries'];
      found.push(...page.inquiries.map(({ id }) => id));
      from = page.next;
    }
    expect(found).toEqual(expected);
  }
  const { inquiries } = (await get('inquiries?show=all&order=newest'))
    .json as InboxApi['/api/inquiries'];
  expect([inquiries.length, inquiries[0]?.body]).toEqual([50, `une ${'x'.repeat(156)}`]);
  const { json } = await get('unanswered');
  expect(json).toMatchObject({ isAll: true, ids: { length: 120 } });
});

it('lists the latest answers first, whenever their inquiries came, and the replies that came back', async () => {
  const { add, get, deliveries } = await begin();
  const answerOf = (age: number) => ({
    reply: 'r',
    respondent: 'R',
    reply_at: new Date(Date.now() - age).toISOString(),
  });
  const ids: string[] = [];
  for (let n = 0; n < 70; n++) ids.push((await add(n * 1_000, answerOf((500 - n) * 1_000))).id);
  const { id: old } = await add(5, answerOf(8 * 86_400_000));
  const bounced = ids[50] ?? '';
  const state = { undelivered: 'bounce', undelivered_at: new Date().toISOString() } as const;
  for (const inquiry of [bounced, old]) {
    await deliveries.put({ inquiry, mail: 'reply', ...state, expires_at: 9_999_999_999 }).go();
  }
  const list = async (query: string) => (await get(query)).json as InboxApi['/api/inquiries'];
  const first = await list('inquiries?show=answered&order=answered');
  const second = await list(`inquiries?show=answered&order=answered&from=${first.next}`);
  const found = [...first.inquiries, ...second.inquiries].map(({ id }) => id);
  expect([found, second.next]).toEqual([[...ids.toReversed(), old], undefined]);
  const { inquiries } = await list('inquiries?show=undelivered&order=answered');
  expect(inquiries).toMatchObject([{ id: bounced, ...state }]);
});

it.each([
  [200, 'sent'],
  [404, 'none'],
  [403, 'unknown'],
])('a stage whose mailer is looked up with the response %s: mail is %s', async (status, mail) => {
  const { answers } = await startStage('http://127.0.0.1:9');
  const name = status === 404 ? 'ResourceNotFoundException' : 'AccessDeniedException';
  answers['GET /2019-09-30/functions/inquiries-develop-mailer/concurrency'] = () =>
    status === 200 ? { status, body: {} } : refusal(status, name, 'no');
  expect(await connectToStage('develop').mail()).toBe(mail);
  const tables = { table: 'restored', erasures: 'e' };
  expect(await connectToStage('develop', undefined, tables).mail()).toBe('unknown');
});

it('answers bad input with 4xx and one sentence, and changes nothing', async () => {
  const { create, post, get, bearer, json, origin } = await begin();
  const inquiry = await create();
  const reply = `inquiries/${inquiry.id}/reply`;
  const headers = [...bearer, ...json, 'origin', origin];
  const raw = async (body: string) =>
    send(`${origin}/api/${reply}`, { method: 'POST', headers, body });
  const cases: [number, Promise<Awaited<ReturnType<typeof get>>>][] = [
    [400, get('inquiries?show=some&order=newest')],
    [400, get('inquiries?show=all&order=x')],
    [400, get('inquiries?show=all&order=newest&from=x')],
    [400, get('inquiries/x')],
    [404, get('other')],
    [404, get(`inquiries/${inquiry.id}/erase`)],
    [404, post(`inquiries/${UNKNOWN}/reply`, { reply: 'r' })],
    [400, post(reply, {})],
    [400, post(reply, { reply: ' \n' })],
    [400, raw('{')],
    [400, post(reply, { reply: 'x'.repeat(400 * 1024 + 1) })],
    [413, post(reply, { reply: 'x'.repeat(400 * 1024) })],
    [413, raw(JSON.stringify({ reply: 'x'.repeat(20 * 1024 * 1024) }))],
    [404, get(reply)],
  ];
  for (const [index, [status, sent]] of cases.entries()) {
    const answer = await sent;
    const message = expect.stringContaining('"message":"') as string;
    expect([index, answer.status, answer.text]).toEqual([index, status, message]);
  }
  expect((await get(`inquiries/${inquiry.id}`)).json).toEqual({ ...inquiry });
});

it('refuses everything without the secret, and writes of other pages', async () => {
  const { create, post, get, bearer, json, origin, secret } = await begin();
  const inquiry = await create();
  const reply = `inquiries/${inquiry.id}/reply`;
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  for (const headers of [[], ['authorization', `Bearer ${secret}x`], ['cookie', secret]]) {
    for (const path of ['session', 'unanswered', 'inquiries', `inquiries/${inquiry.id}`]) {
      const answer = await get(path, headers);
      expect(answer.status).toBe(403);
      expect(answer.text).not.toContain(secret);
    }
    expect(
      (await post(reply, { reply: 'r' }, [...headers, ...json, 'origin', origin])).status,
    ).toBe(403);
  }
  for (const other of [
    'https://attacker.example',
    'null',
    origin.replace('127.0.0.1', 'localhost'),
  ]) {
    expect((await post(reply, { reply: 'r' }, [...bearer, ...json, 'origin', other])).status).toBe(
      403,
    );
    expect((await get('inquiries', [...bearer, 'origin', other])).status).toBe(403);
  }
  expect((await post(reply, { reply: 'r' }, [...bearer, ...json])).status).toBe(403);
  expect((await get(`inquiries/${inquiry.id}`)).json).toEqual({ ...inquiry });
});

it('answers under its own name only, so that a name that resolves to this machine reads nothing', async () => {
  const { bearer, origin } = await begin();
  const { port } = new URL(origin);
  for (const host of [
    `attacker.example:${port}`,
    `localhost:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port}.`,
  ]) {
    // fetch does not set Host.
    const sent = request(`${origin}/api/inquiries`, { headers: [...bearer, 'host', host] }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    expect([answer.statusCode, answer.headers.location]).toEqual([302, `${origin}/api/inquiries`]);
  }
});

it('returns nothing but the name of an unexpected error', async () => {
  const fail = () => Promise.reject(new TypeError('a secret'));
  const { get } = await begin(({ inbox }) => ({ inbox: { ...inbox, get: fail } satisfies Inbox }));
  const { status, text } = await get(`inquiries/${UNKNOWN}`);
  expect([status, text]).toEqual([502, expect.stringContaining('(TypeError)')]);
  expect(text).not.toContain('secret');
});

it('stops reading the table when the page has gone', async () => {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  let pages = 0;
  const listInFull = async function* () {
    try {
      for (;;) {
        pages++;
        await sleep(5);
        yield [];
      }
    } finally {
      stop();
    }
  };
  const { origin, bearer } = await begin(({ inbox }) => ({
    inbox: { ...inbox, listInFull } satisfies Inbox,
  }));
  const gone = new AbortController();
  const [name = '', value = ''] = bearer;
  const reading = fetch(`${origin}/api/inquiries?show=all&order=newest`, {
    headers: { [name]: value },
    signal: gone.signal,
  });
  await expect.poll(() => pages, { timeout: 20_000 }).toBeGreaterThan(2);
  gone.abort();
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  await stopped;
});
