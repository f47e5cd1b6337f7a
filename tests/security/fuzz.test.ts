/** Random and mutated events to the function, and random requests to the gateway. */
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import {
  createInquiryRequestSchema,
  errorResponseBodySchema,
  idempotencyKeySchema,
  inquiriesPath,
  inquiryListResponseSchema,
  inquirySchema,
  listQuerySchema,
} from '../../src/contract.ts';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { checkAnswer } from '../helpers/contract.ts';
import { EMAIL, SUB } from '../helpers/events.ts';
import { send } from '../helpers/http.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';
import { startService, type Service, type User } from '../helpers/service.ts';
import { createTally, isHard } from '../helpers/tally.ts';

const ORIGIN = 'https://www.example.com';
const UUID =
  /^(?:(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|[0-9a-f]{32})$/i;
const canonical = (uuid: string): string =>
  uuid
    .replaceAll(/^urn:uuid:|[{}-]/gi, '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const get = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], value);

/** The expected outcome of an event, derived from the contract alone; the store takes up to 100 characters. */
interface Verdict {
  readonly status: number;
  readonly owner?: { readonly sub: string; readonly email: string };
  readonly created?: { readonly subject: string; readonly body: string };
  readonly key?: string | undefined;
}
function judge(event: unknown): Verdict {
  const method = get(event, 'requestContext', 'http', 'method');
  if (method !== 'GET' && method !== 'POST') return { status: 405 };
  const claims = get(event, 'requestContext', 'authorizer', 'jwt', 'claims');
  const [email, sub] = [get(claims, 'email'), get(claims, 'sub')];
  if (typeof email !== 'string' || email === '' || /\p{Surrogate}/u.test(email)) return { status: 401 };
  if (typeof sub !== 'string' || !UUID.test(sub)) return { status: 401 };
  const owner = { sub: canonical(sub), email };
  return method === 'GET' ? judgeList(event, owner) : judgeCreation(event, owner);
}
function judgeList(event: unknown, owner: Verdict['owner'] & object): Verdict {
  const limit = get(event, 'queryStringParameters', 'limit');
  const before = get(event, 'queryStringParameters', 'before');
  const isLimit = typeof limit === 'string' && /^\d+$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 1000;
  if (limit !== undefined && !isLimit) return { status: 400 };
  if (before !== undefined && !isInquiryId(before)) return { status: 400 };
  return { status: 200, owner };
}
function isInquiryId(value: unknown): boolean {
  try {
    const text = String(value);
    return UUID.test(text) && /^.{14}7.{4}[89ab]/.test(canonical(text));
  } catch {
    return false;
  }
}
function judgeCreation(event: unknown, owner: Verdict['owner'] & object): Verdict {
  const body = get(event, 'body');
  if (typeof body !== 'string') return { status: 400 };
  let json: unknown;
  try {
    const bytes = get(event, 'isBase64Encoded') === true ? Buffer.from(body, 'base64') : undefined;
    if (bytes && bytes.toString().includes('\uFFFD') && !Buffer.from(bytes.toString()).equals(bytes)) throw bytes;
    json = JSON.parse(bytes?.toString() ?? body);
  } catch {
    return { status: 500 };
  }
  const key = judgeKey(get(event, 'headers', 'idempotency-key'));
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const [subject, text] = isObject ? [get(json, 'subject'), get(json, 'body')] : [];
  if (key === null || typeof subject !== 'string' || typeof text !== 'string') return { status: 400 };
  const created = { subject: subject.toWellFormed(), body: text.toWellFormed() };
  const status = created.subject.length + created.body.length > 100 ? 413 : 201;
  return { status, owner, created, key };
}
/** @returns null when it is malformed. */
function judgeKey(header: unknown): string | undefined | null {
  if (header === undefined) return undefined;
  if (typeof header !== 'string') return null;
  const isQuoted = header.startsWith('"');
  if (isQuoted ? !/^"(?:[^"\\]|\\["\\])*"$/s.test(header) : header.includes(',')) return null;
  const key = isQuoted ? header.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : header;
  return /^[!-~]{1,255}$/.test(key) ? key : null;
}
/**
 * What the keys that are known make of a creation.
 *
 * @param isFull - Whether the owner has reached the limit.
 */
function refine(verdict: Verdict, known: Inquiry | undefined, isFull = false): Verdict & { replay?: Inquiry } {
  const { status, created } = verdict;
  if (created === undefined || (status === 413 && !isFull)) return verdict;
  if (known !== undefined) {
    const isSame = known.subject === created.subject && known.body === created.body;
    return isSame ? { ...verdict, replay: known } : { status: 422 };
  }
  return isFull ? { status: 429 } : verdict;
}

const anything = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.anything({ maxDepth: 2, withNullPrototype: true }));
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udfff', '😀', 'a', '"', '\\', '\0', '\n') }),
);
const sub = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(SUB, SUB.toUpperCase(), `{${SUB}}`, `urn:uuid:${SUB}`) },
  fc.constant(SUB.replaceAll('-', '')),
  fc.uuid(),
  fc.stringMatching(/^[0-9a-f{}-]{30,40}$/),
  text,
);
const email = fc.oneof({ weight: 3, arbitrary: fc.constant(EMAIL) }, fc.emailAddress(), text);
const anyClaims = fc.oneof({ weight: 8, arbitrary: fc.record({ sub, email }) }, anything);
const request = fc.record({ subject: text, body: text });
const body = fc.oneof(
  { weight: 4, arbitrary: request.map((value) => JSON.stringify(value)) },
  fc.integer({ min: 95, max: 105 }).map((length) => JSON.stringify({ subject: '', body: 'x'.repeat(length) })),
  fc.json(),
  fc.record({ subject: anything, body: anything }, { requiredKeys: [] }).map((value) => safeStringify(value)),
  fc.tuple(request, fc.nat(60)).map(([value, length]) => JSON.stringify(value).slice(0, length)),
  text,
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
  request.map((value) => Buffer.from(JSON.stringify(value)).toString('base64')),
  anything,
);
const limit = fc.oneof(fc.nat(1_100).map(String), text, anything);
const before = fc.oneof(fc.uuid({ version: 7 }), fc.uuid(), text, anything);
const key = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('k', '"k"', 'K', String.raw`"\"k"`, '"a,b"', '__proto__') },
  fc.constantFrom('', '""', 'a,b', '"a","b"', '"k', 'k ', 'x'.repeat(256)),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', 'k', ' '), maxLength: 6 }),
  text,
  anything,
);
const valid = fc.record(
  {
    requestContext: fc.record({
      http: fc.record({ method: fc.oneof({ weight: 6, arbitrary: fc.constantFrom('GET', 'POST') }, text, anything) }),
      authorizer: fc.oneof(
        { weight: 4, arbitrary: anyClaims.map((value) => ({ jwt: { claims: value } })) },
        anyClaims.map((value) => ({ lambda: value, claims: value })),
        anything,
      ),
    }),
    queryStringParameters: fc.record({ limit, before }, { requiredKeys: [] }),
    body,
    isBase64Encoded: fc.oneof({ weight: 4, arbitrary: fc.boolean() }, anything),
    headers: fc.oneof({ weight: 4, arbitrary: fc.record({ 'idempotency-key': key }) }, anything),
  },
  { requiredKeys: ['requestContext'] },
);

function safeStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

type Place = [holder: Record<string, unknown>, name: string];
const places = (value: unknown, depth = 0): Place[] =>
  typeof value !== 'object' || value === null || depth > 6
    ? []
    : Object.entries(value).flatMap(([name, inner]) =>
        [[value as Record<string, unknown>, name] as Place].concat(places(inner, depth + 1)),
      );
/** A valid event with one to three values, at any depth, removed or replaced. */
const mutated = fc
  .tuple(valid, fc.array(fc.tuple(fc.nat(), fc.option(anything, { nil: undefined })), { minLength: 1, maxLength: 3 }))
  .map(([event, changes]) => {
    const copy: unknown = structuredClone(event);
    for (const [index, value] of changes) {
      const all = places(copy);
      const [holder, name] = all[index % all.length] ?? [];
      if (holder === undefined || name === undefined) break;
      if (value === undefined) delete holder[name];
      else holder[name] = value;
    }
    return copy;
  });
const events = fc.oneof(
  { weight: 5, arbitrary: valid },
  { weight: 5, arbitrary: mutated },
  { weight: 1, arbitrary: anything },
);

describe('the function', () => {
  const fuzzed = createTally('5a random and mutated events through the function');
  const logged: unknown[] = [];
  beforeEach(() => {
    logged.length = 0;
    for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const)
      vi.spyOn(console, level).mockImplementation((...entry) => void logged.push(entry));
  });
  afterEach(() => vi.restoreAllMocks());

  let broken = false;
  let isFull = false;
  const store = createMemoryStore();
  const fallible = new Proxy(store, {
    get(target, method: keyof InquiryStore) {
      if (broken) throw Object.assign(new TypeError('secret-of-the-store'), { name: 'InternalServerError' });
      return method === 'count' ? async () => !isFull : target[method];
    },
  });
  const app = createApp({ inquiries: createInquiries(fallible, { inquiriesPerHour: 60 }), corsOrigin: ORIGIN });
  /** The first inquiry of each owner and key, and how often each outcome was seen. */
  const known = new Map<string, Inquiry>();
  const seen = new Map<unknown, number>();

  const FAULT = 'The request could not be processed. Please try again later.';
  const isDescending = (ids: readonly string[]): boolean =>
    ids.every((id, index) => index === 0 || id < (ids[index - 1] ?? ''));

  async function examine(event: unknown): Promise<void> {
    const judged = judge(event);
    const name = judged.key === undefined ? undefined : JSON.stringify([judged.owner, judged.key]);
    const verdict = refine(judged, name === undefined ? undefined : known.get(name), isFull);
    if (store.rows.length > 500) store.rows.splice(0, 250);
    const stored = store.rows.length;
    const response = await app(event as GatewayEvent, { awsRequestId: 'r', getRemainingTimeInMillis: () => 30_000 });
    const json = JSON.parse(response.body) as Record<string, unknown>;
    const failed = broken && judged.owner !== undefined;
    const status = failed ? 500 : verdict.status;
    const isReplay = status === 201 && verdict.replay !== undefined;
    const outcome = isReplay ? 'replay' : status;
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    expect(response.statusCode).toBe(status);
    const { 'Content-Type': type, 'Access-Control-Allow-Origin': origin, ...headers } = response.headers;
    expect([type, origin]).toEqual(['application/json', ORIGIN]);
    const own = new Map<unknown, string>([
      [405, 'Allow'],
      [429, 'Retry-After'],
      ['replay', 'Idempotency-Replayed'],
    ]).get(outcome);
    expect(Object.keys(headers)).toEqual(
      own !== undefined ? [own] : status === 200 && 'Link' in headers ? ['Link'] : [],
    );
    if (status === 429) expect(headers['Retry-After']).toMatch(/^[1-9]\d*$/);
    expect(Object.keys(response)).toEqual(['statusCode', 'headers', 'body']);
    if (outcome !== 201) expect(store.rows.length).toBe(stored);
    if (status >= 400) {
      expect(Object.keys(json)).toEqual(errorResponseBodySchema.required);
      if (failed) expect(json['message']).toBe(FAULT);
    } else if (status === 201) {
      const { inquiry } = json as { inquiry: Inquiry };
      expect(Object.keys(inquiry)).toEqual(inquirySchema.required);
      expect(inquiry).toMatchObject({
        ...verdict.created,
        cognito_sub: verdict.owner?.sub,
        email: verdict.owner?.email,
      });
      expect(verdict.replay ?? store.rows.at(-1)).toEqual(inquiry);
      if (name !== undefined) known.set(name, inquiry);
    } else {
      const { email: address, count, inquiries } = json as unknown as InquiryListResponse;
      expect(Object.keys(json)).toEqual(inquiryListResponseSchema.required);
      expect([address, count]).toEqual([verdict.owner?.email, inquiries.length]);
      expect(inquiries.every((row) => row.email === address && row.cognito_sub === verdict.owner?.sub)).toBe(true);
      expect(isDescending(inquiries.map(({ id }) => id))).toBe(true);
    }
    const lines = JSON.stringify(logged);
    expect(lines).not.toContain('secret-of-the-store');
    expect(lines).not.toContain(EMAIL);
    logged.length = 0;
  }

  it('answers every event according to the contract and never throws', async () => {
    await fc.assert(
      fc.asyncProperty(events, fc.integer({ min: 0, max: 9 }), (event, dice) => {
        broken = dice === 0;
        isFull = dice === 1 || dice === 2;
        return fuzzed(async () => {
          await examine(event);
          // A request that is sent again is a replay, if it has a key.
          if (dice > 6) await examine(event);
        });
      }),
      { numRuns: isHard ? 120_000 : 10_000 },
    );
    for (const outcome of [200, 201, 'replay', 400, 401, 405, 413, 422, 429, 500])
      expect([outcome, seen.get(outcome)]).toEqual([outcome, expect.toSatisfy((count) => count > 0)]);
  });
});

describe('the gateway', () => {
  const tally = createTally('5b requests through the gateway, answers checked against docs/openapi.yaml');
  const hasTransactions = inject('engines')['dynamodb-local'] !== undefined;
  let service: Service;
  let user: User;
  const newUser = () => service.signIn({ email: 'ana@example.com', sub: randomUUID() });
  beforeAll(async () => {
    service = await startService();
    user = await newUser();
  });
  afterAll(() => service.close());

  type Pair = [name: string, value: string];
  const pairs = (name: string, ...values: fc.Arbitrary<unknown>[]): fc.Arbitrary<Pair> =>
    fc.oneof(...values, fc.string()).map((value) => [name, String(value).toWellFormed()]);
  const { limit: limits, before: ids } = listQuerySchema.properties;
  const parameter = fc.oneof(
    pairs('limit', fc.integer({ min: limits.minimum, max: limits.maximum }), fc.uuid()),
    pairs('before', fc.uuid({ version: 7 }), fc.stringMatching(new RegExp(ids.pattern)), fc.uuid()),
    fc.constant<Pair>(['unknown', 'x']),
  );
  const header = pairs(
    'Idempotency-Key',
    fc.stringMatching(new RegExp(idempotencyKeySchema.pattern)),
    fc.constantFrom('a,b', '', '"k'),
  );
  const field = fc.constantFrom(...createInquiryRequestSchema.required);
  const content = fc.oneof(
    { weight: 4, arbitrary: request.map((value) => JSON.stringify(value)) },
    { weight: 6, arbitrary: fc.constant('{"subject":"s","body":"b"}') },
    fc
      .tuple(request, field, fc.option(fc.jsonValue(), { nil: undefined }))
      .map(([value, name, part]) => JSON.stringify({ ...value, [name]: part })),
    fc.tuple(request, fc.nat(40)).map(([value, length]) => JSON.stringify(value).slice(0, length)),
    fc.json(),
    text.map((value) => value.toWellFormed()),
  );
  const json = 'application/json';
  const asked = fc.record({
    method: fc.constantFrom('GET', 'POST'),
    query: fc.array(parameter, { maxLength: 2 }),
    // dynalite has no transactions.
    headers: fc.array(header, { maxLength: hasTransactions ? 2 : 0 }),
    body: content,
    type: fc.constantFrom(json, `${json}; charset=utf-8`, 'text/plain', 'application/octet-stream', ''),
    token: fc.constantFrom(...Array.from({ length: 12 }, () => 'good' as const), 'none', 'bad'),
  });

  it('answers as the contract demands, and with 500 if and only if the body is not JSON', async () => {
    const property = fc.asyncProperty(asked, ({ method, query, headers, body: sent, type, token }) =>
      tally(async () => {
        const queryStringParameters = Object.fromEntries(
          query.map(([name]) => [name, query.flatMap(([other, value]) => (other === name ? value : [])).join()]),
        );
        const joined = headers.map(([, value]) => value.trim()).join();
        const { status } = judge({
          requestContext: { http: { method }, authorizer: { jwt: { claims: { sub: SUB, email: EMAIL } } } },
          ...(query.length > 0 && { queryStringParameters }),
          ...(headers.length > 0 && { headers: { 'idempotency-key': joined } }),
          ...(sent !== '' && { body: sent }),
        });
        // A key that two requests have is a replay or a 422; here every key is a new one.
        const sender = headers.length > 0 ? await newUser() : user;
        const authorization = {
          good: ['Authorization', `Bearer ${sender.token}`],
          none: [],
          bad: ['Authorization', 'x.y.z'],
        };
        const search = query.length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
        const got = await send(`${service.url}${search}`, {
          method,
          headers: [...authorization[token], 'Content-Type', type, ...headers.flat()],
          ...(method === 'POST' && { body: sent }),
        });
        // The store of the real service takes 400 KB.
        expect(got.status).toBe(token === 'good' ? (status === 413 ? 201 : status) : 401);
        checkAnswer(method, inquiriesPath, got);
      }),
    );
    await fc.assert(property, { numRuns: isHard ? 10_000 : 600 });
  });
});
