import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import { startStack } from '../../local/stack.ts';
import type { Stack } from '../../local/stack.ts';
import type { TokenRequest } from '../../local/issuer/tokens.ts';
import { timeOf } from '../../src/contract.ts';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import { INQUIRY_ID } from '../../src/limits.ts';
import { sendAndCheck as send } from '../helpers/contract.ts';
import type { Answer } from '../helpers/http.ts';

/** Of a page besides the contact form. */
const ORIGIN = 'https://www.example.com';
const noTransactions = dynamoDbLocalUnavailableReason();
if (noTransactions !== undefined)
  process.stdout.write(`\nSKIPPED: Idempotency-Key through the gateway, because ${noTransactions}.\n`);

const statusOf = (line: object): number => (line as { message: { status: number } }).message.status;

describe('the built service', () => {
  let stack: Stack;
  const lines: string[] = [];
  beforeAll(async () => {
    const handler = new URL('../../dist/handler.mjs', import.meta.url);
    stack = await startStack({ handler, corsOrigins: [ORIGIN], log: (line) => void lines.push(line) });
  });
  afterAll(() => stack.close());

  const JSON_TYPE = ['Content-Type', 'application/json'];
  let users = 0;
  /** A user of the test's own, or the token described. */
  const signIn = (request: TokenRequest = {}) => {
    const email = `user-${++users}@example.com`;
    const token = stack.issuer.token({ email, ...request });
    const call = async (
      method: string,
      body?: string | Buffer,
      headers: string[] = JSON_TYPE,
    ): Promise<Answer> => {
      const always = ['Authorization', `Bearer ${await token}`, 'Origin', ORIGIN];
      const options = {
        method,
        headers: [...always, ...headers],
        ...(body !== undefined && { body }),
      };
      return send(`${stack.url}/inquiries`, options);
    };
    return {
      email,
      call,
      post: (subject: string, text: string) => call('POST', JSON.stringify({ subject, body: text })),
      list: async () => (await call('GET')).json as InquiryListResponse,
    };
  };

  it('stores an inquiry and answers 201 with its six fields', async () => {
    const ana = signIn({ sub: '{1F0D2C3B-4A59-4687-9A5B-C6D7E8F90A1B}' });
    const before = Date.now();
    const { status, headers, json } = await ana.post('Hello', 'Is anyone there?');
    const { inquiry } = json as { inquiry: Inquiry };
    expect(status).toBe(201);
    expect(headers['access-control-allow-origin']).toBe(ORIGIN);
    expect(json).toEqual({
      inquiry: {
        id: expect.stringMatching(INQUIRY_ID) as string,
        cognito_sub: '1f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b',
        email: ana.email,
        subject: 'Hello',
        body: 'Is anyone there?',
        created_at: new Date(timeOf(inquiry.id)).toISOString(),
      },
    });
    expect(Date.parse(inquiry.created_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(inquiry.created_at)).toBeLessThanOrEqual(Date.now());
  });

  it('lists the caller’s inquiries newest first, with email and count', async () => {
    const ana = signIn();
    const made = [];
    for (const subject of ['1', '2', '3'])
      made.push(((await ana.post(subject, '')).json as { inquiry: Inquiry }).inquiry);
    const { status, headers, json } = await ana.call('GET');
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBe(ORIGIN);
    expect(json).toEqual({ email: ana.email, count: 3, inquiries: made.toReversed() });
  });

  it.skipIf(noTransactions !== undefined)(
    'stores an inquiry once when it is sent again with its Idempotency-Key',
    async () => {
      const ana = signIn();
      const post = async (text: string, key = 'k') =>
        ana.call('POST', JSON.stringify({ subject: 's', body: text }), [
          ...JSON_TYPE,
          'Idempotency-Key',
          key,
        ]);
      const created = await post('b');
      expect(created.status).toBe(201);
      expect(created.headers).not.toHaveProperty('idempotency-replayed');
      const replay = await post('b', '"k"');
      expect(replay).toMatchObject({ status: 201, text: created.text });
      expect(replay.headers).toMatchObject({ 'idempotency-replayed': 'true' });
      expect(replay.headers['access-control-expose-headers']).toBe('link,idempotency-replayed,retry-after');
      expect(await post('other')).toMatchObject({ status: 422, json: { error: 'IDEMPOTENCY_KEY_REUSED' } });
      expect(await post('b', 'a b')).toMatchObject({ status: 400, json: { error: 'BAD_REQUEST' } });
      expect((await ana.list()).inquiries).toEqual([(created.json as { inquiry: Inquiry }).inquiry]);
    },
  );

  it('takes a body of any content type, which the gateway passes as base64', async () => {
    const ana = signIn();
    expect((await ana.call('POST', '{"subject":"é","body":"😀"}', [])).status).toBe(201);
    expect((await ana.list()).inquiries).toMatchObject([{ subject: 'é', body: '😀' }]);
  });

  it.each([
    [400, 'BAD_REQUEST', '{"subject":""}'],
    [500, 'INTERNAL_SERVER_ERROR', '{"subject":'],
    [413, 'PAYLOAD_TOO_LARGE', JSON.stringify({ subject: '', body: 'x'.repeat(410_000) })],
  ])('answers %i %s to a body that is refused, and stores nothing', async (status, error, body) => {
    const ana = signIn();
    expect(await ana.call('POST', body)).toMatchObject({ status, json: { error } });
    expect((await ana.list()).count).toBe(0);
  });

  it('answers 401 without a token, and to an access token, which has no email', async () => {
    expect((await send(`${stack.url}/inquiries`)).headers['www-authenticate']).toBe('Bearer');
    const claims = { aud: null, client_id: 'inquiries-local', email: null };
    const answer = await signIn({ claims }).call('GET');
    expect(answer).toMatchObject({
      status: 401,
      headers: { 'access-control-allow-origin': ORIGIN },
      json: { error: 'Unauthorized', message: 'Invalid or missing required JWT claims' },
    });
  });

  it('has logged a line and the metrics of each request, no fault, and a warning for each mistake', async () => {
    // The mailer logs, too.
    const read = () =>
      lines
        .filter((line) => /"route"|"Requests"/.test(line))
        .map((line) => JSON.parse(line) as { level?: string; Faults?: number });
    const requests = () => read().filter(({ level }) => level);
    const metrics = () => read().filter(({ level }) => !level);
    await expect.poll(() => metrics().length).toBe(requests().length);
    expect(requests().length).toBeGreaterThan(10);
    expect(metrics().filter(({ Faults }) => Faults !== 0)).toEqual([]);
    expect(requests().map(({ level }) => level)).toEqual(
      requests().map((line) => (statusOf(line) < 400 ? 'INFO' : 'WARN')),
    );
  });
});
