import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createOneTimeAccess, type Access } from '../../inbox/access.ts';
import { connectLocally, connectToStage } from '../../inbox/connect.ts';
import type { StoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { refusal } from '../local/aws.ts';
import { stopClock } from '../local/clock.ts';
import { containing, END_OF_ID, openInbox, openPages, startStage } from './test-inbox.ts';
import { putInquiries } from '../function/test-inquiries.ts';

const UNKNOWN = '01997b2e-0000-7000-8000-000000000000';
const ORIGIN = 'http://127.0.0.1:3999';

const OLGA: Access = {
  ...createOneTimeAccess(ORIGIN, async () => 'olga').access,
  findMember: async () => 'olga',
};

const begin = async (change?: Partial<StoredInquiries>, access = OLGA) =>
  openPages(ORIGIN, access, change);

it('refuses what is not from its own pages, under its own name', async () => {
  const { access, address } = createOneTimeAccess(ORIGIN, async () => 'olga');
  const { add, ask, inbox } = await begin(undefined, access);
  const { id } = await add(0);
  const open = `GET ${address.slice(ORIGIN.length)}`;
  expect((await ask(`${open}x`)).cookies).toEqual([]);
  const [cookie = '', ...attributes] = (await ask(open)).cookies[0]?.split('; ') ?? [];
  expect([...attributes.toSorted(), cookie.length]).toEqual([
    'HttpOnly',
    'Path=/',
    'SameSite=Strict',
    54,
  ]);
  expect((await ask(open)).cookies).toEqual([]);
  const other = createOneTimeAccess(ORIGIN, async () => 'olga');
  const { ask: askOther } = await begin({}, other.access);
  const [issued] = (await askOther(`GET ${other.address.slice(ORIGIN.length)}`)).cookies;
  expect([other.address === address, issued?.includes(cookie)]).toEqual([false, false]);
  const posts = ['reply', 'dismiss', 'reopen'].map((act) => `POST /inquiries/${id}/${act}`);
  for (const request of ['GET /', 'GET /search', `GET /inquiries/${id}`, ...posts]) {
    const isPost = request.startsWith('POST');
    const form = isPost ? { reply: 'r' } : undefined;
    const origins = ['', 'null', 'https://attacker.example', 'http://localhost:3999'];
    for (const [name, values, status] of [
      ['cookie', ['', `${cookie}x`, cookie.replace('_', '_1')], 401],
      ['host', ['attacker.example:3999', 'localhost:3999'], 302],
      ['origin', origins, isPost ? 403 : 200],
    ] as const) {
      for (const value of values) {
        const headers = { cookie, [name]: value };
        const answer = await ask(request, form, headers);
        expect([request, headers, answer.status]).toEqual([request, headers, status]);
        expect(answer.html.includes('@example.com')).toBe(
          status === 200 && request !== 'GET /search',
        );
      }
    }
  }
  expect(await inbox.get(id)).not.toHaveProperty('reply_at');
});

it('keeps scripts, frames and caches of others away', async () => {
  const { headers } = await (await begin()).ask('GET /');
  const self = ["script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"];
  const none = ["base-uri 'none'", "frame-ancestors 'none'"];
  const trusted = ["require-trusted-types-for 'script'", "trusted-types 'none'"];
  const policy = ["default-src 'none'", ...self, "form-action 'self'", ...none, ...trusted];
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
});

it('records one answer, reopens a dismissal, and says what is wrong with the text kept', async () => {
  stopClock(Date.parse('2026-11-21T12:00:00Z'));
  const { add, ask, inbox } = await begin();
  const { id } = await add(2_000, { subject: 'Opening hours' });
  const [other, last] = [await add(1_000), await add(0)];
  const reply = `POST /inquiries/${id}/reply`;
  const dismiss = `POST /inquiries/${other.id}/dismiss`;
  const answers: string[] = [];
  const dismissed_at = '2026-11-21T12:00:00.000Z';
  for (const [request, form] of [
    [`GET /inquiries/${UNKNOWN}`],
    ['GET /inquiries/x'],
    ['GET /other'],
    [`GET /inquiries/${id}/reply`],
    [`POST /inquiries/${UNKNOWN}/reply`, { reply: 'To what was erased' }],
    [reply, {}],
    [reply, { reply: ' \n' }],
    [reply, { reply: 'Hello {first name}' }],
    [reply, { reply: 'Hello {order}', braces: '{first name}' }],
    [reply, { reply: 'Hello', saved: '0' }],
    [reply, { reply: 'ö'.repeat(204_801) }],
    [reply, { reply: 'o'.repeat(400 * 1024 - 100) }],
    [reply, { reply: 'x'.repeat(5 * 1024 * 1024) }],
    [`POST /inquiries/${id}/dismiss`, { reply: 'a text' }],
    [reply, { reply: 'Yes, {first name}.\r\n', braces: '{first name}' }],
    [reply, { reply: 'Yes, {first name}.', braces: '{first name}' }],
    [reply, { reply: 'No.' }],
    [`POST /inquiries/${id}/reopen`, { dismissed_at }],
    [dismiss, { reply: '' }],
    [`GET /inquiries/${last.id}?after=${other.id}`],
    [dismiss.replace('dismiss', 'reopen'), { dismissed_at: '2026-11-21T11:00:00.000Z' }],
    [dismiss.replace('dismiss', 'reopen'), { dismissed_at }],
    [`GET /inquiries/${other.id}?after=${other.id}`],
  ] as const) {
    const { status, headers, location, says } = await ask(request, form);
    const sent = JSON.stringify(form ?? '').slice(0, 60);
    answers.push(`${request} ${sent}\n${status} ${location}${says}\n`);
    expect(headers.get('cache-control')).toBe('no-store');
  }
  const golden = answers.join('\n').replaceAll(END_OF_ID, '…');
  await expect(golden).toMatchFileSnapshot('golden/page-requests.txt');
  expect(await inbox.get(id)).toMatchObject({ reply: 'Yes, {first name}.', respondent: 'olga' });
  expect(await inbox.get(other.id)).not.toHaveProperty('reply_at');
});

it('searches in a cookie, and lists by arrival, by answer and what came back, page after page', async () => {
  const { ask, deliveries, ...own } = await begin();
  const now = Date.now();
  const rows = Array.from({ length: 104 }, (_, n) => {
    // The later it came, the earlier it was answered; one eight days ago.
    const reply_at = new Date(now - (n === 51 ? 8 * 86_400_000 : n * 1_000)).toISOString();
    const answered = { body: 'Une Réservation', reply: 'r', respondent: 'R', reply_at };
    return { at: now - 1_000 + n, ...(n < 52 ? answered : { body: `une ${'x'.repeat(1_000)}` }) };
  });
  const ids = (await putInquiries(own, rows)).map(({ id }) => id);
  const [answered, open] = [ids.slice(0, 52), ids.slice(52)];
  const bounced = { undelivered: 'bounce', undelivered_at: '', expires_at: 9_999_999_999 } as const;
  for (const inquiry of [answered[45] ?? '', answered[51] ?? '']) {
    await deliveries.put({ inquiry, mail: 'reply', ...bounced }).go();
  }
  // A search must not end for lack of time.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const found = await ask('POST /search', { text: ' réservation UNE' });
  expect([found.status, found.location]).toEqual([303, '/search']);
  const [cookie = ''] = found.cookies[0]?.split(';') ?? [];
  for (const [path, expected] of [
    ['/', open],
    ['/?show=unanswered&order=newest', open.toReversed()],
    ['/?show=answered', answered],
    ['/?show=all&order=oldest&from=x', ids],
    ['/?show=undelivered', [answered[45]]],
    ['/search', answered.toReversed()],
  ] as const) {
    const listed: (string | undefined)[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const { html } = await ask(`GET ${next}`, undefined, { cookie });
      const links = html.matchAll(/class="row" href="\/inquiries\/([^"?]+)/g);
      listed.push(...Array.from(links, ([, id]) => id));
      [, next] = /class="more" href="([^"]+)"/.exec(html.replaceAll('&amp;', '&')) ?? [];
    }
    expect([path, listed]).toEqual([path, expected]);
  }
  const { html } = await ask('GET /', undefined, { cookie });
  expect(html).toContain('52 unanswered');
  // Without scripts, a list is loaded again each minute, but not the search, where somebody types.
  expect(html).toContain('<noscript><meta http-equiv="refresh" content="60"');
  expect((await ask('GET /search')).html).not.toContain('refresh');
  expect(html).toContain(`une ${'x'.repeat(156)}<`);
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
])(
  'says what to do about %s, or its name, without its message, and keeps the text',
  async (name, says) => {
    const error = Object.assign(new Error('a secret'), { name });
    const { ask } = await begin({ get: () => Promise.reject(error) });
    const { status, html } = await ask(`POST /inquiries/${UNKNOWN}/reply`, { reply: 'My text' });
    expect([status, html]).toEqual([503, containing(says)]);
    expect(html).toContain('My text</textarea>');
    expect(html).not.toContain('a secret');
  },
);

it('connects for a request to the local stack, and leaves no connection open', async () => {
  const { folder, connections } = await openInbox();
  for (let n = 0; n < 3; n++) await connectLocally(folder).inquiries.get(UNKNOWN);
  await expect.poll(connections).toBe(0);
});

it('stops reading the table when the page has gone', async () => {
  const gone = new AbortController();
  const stopped = Promise.withResolvers<void>();
  const { ask } = await begin({
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
  void ask('GET /?show=all', undefined, {}, gone.signal);
  await expect(stopped.promise).resolves.toBeUndefined();
});

it('shows what was added to an answer, and its files, in page, command and export', async () => {
  const { add, ask, inbox, run } = await begin();
  const row = await add(0);
  await inbox.answer(row, { reply: 'Yes.', respondent: 'olga@example.com', files: ['offer.pdf'] });
  const stored = (await inbox.get(row.id)) ?? row;
  await inbox.add(stored, { text: 'On <Sundays>, too.', mail: 'a' });
  const { html } = await ask(`GET /inquiries/${row.id}`);
  const outputs = [
    html,
    ...(
      await Promise.all([
        run(`show ${row.id}`, { isTTY: true }),
        run('export'),
        run('export --csv'),
        run(`export --email ${row.email}`),
      ])
    ).map(({ stdout }) => stdout),
  ];
  for (const output of outputs) {
    expect(output.replace('&lt;', '<').replace('&gt;', '>')).toContain('On <Sundays>, too.');
    expect(output).toContain('offer.pdf');
  }
  expect(html).toContain('Added by <bdi>olga@example.com</bdi>');
});
