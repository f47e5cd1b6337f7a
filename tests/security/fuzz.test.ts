/** Random and mutated events to the function. */
import { isUtf8 } from 'node:buffer';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import {
  type ErrorResponseBody,
  type Inquiry,
  type InquiryListResponse,
} from '../../src/contract.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { checkAnswer } from '../helpers/contract.ts';
import { EMAIL, SUB } from '../helpers/events.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';
import { createTally, isHard } from '../helpers/tally.ts';

const ORIGIN = 'https://www.example.com';
const UUID =
  /^(?:(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|[0-9a-f]{32})$/i;
const canonical = (uuid: string): string =>
  uuid
    .replaceAll(/^urn:uuid:|[{}-]/gi, '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const get = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (at, name) => (at as Record<string, unknown> | null | undefined)?.[name],
    value,
  );

/** The expected outcome of an event, derived from the contract alone; the store takes up to 100 characters. */
interface Verdict {
  status: number;
  /** With the fields of the request, if it creates an inquiry. */
  owner?: Partial<Inquiry>;
  key?: string | undefined;
}
function judge(event: unknown): Verdict {
  const method = get(event, 'requestContext', 'http', 'method');
  if (method !== 'GET' && method !== 'POST') return { status: 405 };
  const claims = get(event, 'requestContext', 'authorizer', 'jwt', 'claims');
  const [email, sub] = [get(claims, 'email'), get(claims, 'sub')];
  const isEmail = typeof email === 'string' && email !== '' && email.isWellFormed();
  if (!isEmail || typeof sub !== 'string' || !UUID.test(sub)) return { status: 401 };
  const owner = { cognito_sub: canonical(sub), email };
  if (method === 'POST') return judgeCreation(event, owner);
  return isList(event) ? { status: 200, owner } : { status: 400 };
}
function isList(event: unknown): boolean {
  const [limit, before] = ['limit', 'before'].map((name) =>
    get(event, 'queryStringParameters', name),
  );
  const isLimit = typeof limit === 'string' && /^0*([1-9]\d{0,2}|1000)$/.test(limit);
  return (limit === undefined || isLimit) && (before === undefined || isInquiryId(before));
}
function isInquiryId(value: unknown): boolean {
  try {
    return UUID.test(String(value)) && /^.{14}7.{4}[89ab]/.test(canonical(String(value)));
  } catch {
    return false;
  }
}
function judgeCreation(event: unknown, owner: Partial<Inquiry>): Verdict {
  const body = get(event, 'body');
  if (typeof body !== 'string') return { status: 400 };
  let json: unknown;
  try {
    const isEncoded = get(event, 'isBase64Encoded') === true;
    const bytes = Buffer.from(body, isEncoded ? 'base64' : 'utf8');
    if (isEncoded && !isUtf8(bytes)) return { status: 500 };
    json = JSON.parse(isEncoded ? bytes.toString() : body);
  } catch {
    return { status: 500 };
  }
  const key = judgeKey(get(event, 'headers', 'idempotency-key'));
  const [subject, text] = [get(json, 'subject'), get(json, 'body')];
  if (key === null || typeof subject !== 'string' || typeof text !== 'string') {
    return { status: 400 };
  }
  const status = subject.length + text.length > 100 ? 413 : 201;
  const fields = { subject: subject.toWellFormed(), body: text.toWellFormed() };
  return { status, owner: { ...owner, ...fields }, key };
}
/** @returns null when it is malformed. */
function judgeKey(header: unknown): string | undefined | null {
  if (typeof header !== 'string') return header === undefined ? undefined : null;
  const isQuoted = header.startsWith('"');
  if (isQuoted ? !/^"(?:[^"\\]|\\["\\])*"$/s.test(header) : header.includes(',')) return null;
  const key = isQuoted ? header.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : header;
  return /^[!-~]{1,255}$/.test(key) ? key : null;
}

/** The arbitrary, or now and then any other value. */
const maybe = (arbitrary: fc.Arbitrary<unknown>, weight = 12): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight, arbitrary },
    fc.jsonValue({ maxDepth: 3 }),
    fc.anything({ maxDepth: 2, withNullPrototype: true }),
  );
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udfff', '😀', 'a', '"', '\\', '\0', '\n') }),
);
const subs = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(SUB, SUB.toUpperCase(), `{${SUB}}`, `urn:uuid:${SUB}`) },
  fc.constant(SUB.replaceAll('-', '')),
  fc.uuid(),
  fc.stringMatching(/^[0-9a-f{}-]{30,40}$/),
  text,
);
const emails = fc.oneof({ weight: 3, arbitrary: fc.constant(EMAIL) }, fc.emailAddress(), text);
const claims = maybe(fc.record({ sub: subs, email: emails }));
const request = fc.record({ subject: text, body: text }).map((value) => JSON.stringify(value));
const bodies = fc.oneof(
  { weight: 4, arbitrary: request },
  fc
    .integer({ min: 95, max: 105 })
    .map((length) => JSON.stringify({ subject: '', body: 'x'.repeat(length) })),
  fc.json(),
  fc
    .record({ subject: fc.jsonValue(), body: fc.jsonValue() })
    .map((value) => JSON.stringify(value)),
  fc.tuple(request, fc.nat(60)).map(([value, length]) => value.slice(0, length)),
  text,
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
  request.map((value) => Buffer.from(value).toString('base64')),
);
const anyId = fc.oneof(
  fc.uuid({ version: 7 }).map((id) => id.toUpperCase().replaceAll('-', '')),
  fc.uuid({ version: 7 }).map((id) => `{${id}}`),
);
const keys = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('k', '"k"', 'K', String.raw`"\"k"`, '"a,b"', '__proto__'),
  },
  fc.constantFrom('', '""', 'a,b', '"a","b"', '"k', 'k ', 'x'.repeat(256)),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', 'k', ' '), maxLength: 6 }),
  text,
);
const query = fc.record(
  {
    limit: maybe(fc.oneof(fc.nat(1_100).map(String), text), 2),
    before: maybe(fc.oneof(fc.uuid({ version: 7 }), anyId, fc.uuid(), text), 4),
  },
  { requiredKeys: [] },
);
/** Events with any value, at any depth, replaced. */
const events = maybe(
  fc.record({
    requestContext: maybe(
      fc.record({
        http: maybe(fc.record({ method: maybe(fc.constantFrom('GET', 'POST', 'POST', 'PUT')) })),
        authorizer: maybe(
          fc.oneof(
            { weight: 8, arbitrary: fc.record({ jwt: maybe(fc.record({ claims })) }) },
            fc.record({ lambda: claims, claims }),
          ),
        ),
      }),
    ),
    queryStringParameters: maybe(query),
    body: maybe(bodies),
    isBase64Encoded: maybe(fc.constantFrom(true, false, false)),
    headers: maybe(fc.record({ 'idempotency-key': maybe(keys) }, { requiredKeys: [] })),
  }),
);

const fuzzed = createTally(
  '5 random and mutated events, answers checked against docs/openapi.yaml',
);
const FAULT = 'The request could not be processed. Please try again later.';
let broken = false;
let isFull = false;
const store = createMemoryStore();
const { put } = store;
store.put = async (inquiry, call, options) =>
  put(inquiry, call, { ...options, limit: isFull ? { most: 0, time: 0 } : undefined });
const fallible = new Proxy(store, {
  get(target, method: keyof InquiryStore) {
    if (broken) throw new TypeError('A secret.');
    return target[method];
  },
});
const app = createApp({
  inquiries: createInquiries(fallible, { inquiriesPerHour: 60 }),
  corsOrigin: ORIGIN,
});
/** The first inquiry of each owner and key. */
const known = new Map<string, Inquiry>();
const seen = new Set<unknown>();

/** What a creation becomes that is well-formed and small enough. */
function refine(owner: Partial<Inquiry>, first: Inquiry | undefined): number | 'replay' {
  if (first === undefined) return isFull ? 429 : 201;
  return first.subject === owner.subject && first.body === owner.body ? 'replay' : 422;
}

async function examine(event: unknown): Promise<void> {
  const { status: judged, owner = {}, key } = judge(event);
  const name = JSON.stringify([owner.cognito_sub, owner.email, key]);
  const first = key === undefined ? undefined : known.get(name);
  const failed = broken && owner.email !== undefined;
  const outcome = failed ? 500 : judged === 201 ? refine(owner, first) : judged;
  seen.add(outcome);
  if (store.rows.length > 500) store.rows.splice(0, 250);
  const stored = store.rows.length;
  const { statusCode, headers, body, ...others } = await app(event as GatewayEvent, {
    awsRequestId: 'r',
    getRemainingTimeInMillis: () => 30_000,
  });
  expect([statusCode, others]).toEqual([outcome === 'replay' ? 201 : outcome, {}]);
  const json = JSON.parse(body) as ErrorResponseBody & InquiryListResponse & { inquiry: Inquiry };
  const lower = Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]);
  // API Gateway changes the case of names, and forbids to cache a success.
  const answered: Record<string, string> = {
    ...Object.fromEntries(lower),
    ...(statusCode < 300 && { 'cache-control': 'no-store' }),
  };
  const method =
    statusCode === 405 ? 'PUT' : String(get(event, 'requestContext', 'http', 'method'));
  checkAnswer(method, { status: statusCode, headers: answered, text: body, json });
  expect(answered['access-control-allow-origin']).toBe(ORIGIN);
  expect('idempotency-replayed' in answered).toBe(outcome === 'replay');
  expect(store.rows.length).toBe(stored + (outcome === 201 ? 1 : 0));
  if (failed) expect(json.message).toBe(FAULT);
  if (statusCode === 201) {
    expect(json.inquiry).toMatchObject(owner);
    expect(first ?? store.rows.at(-1)).toEqual(json.inquiry);
    if (key !== undefined) known.set(name, json.inquiry);
  } else if (statusCode === 200) {
    const { count, inquiries } = json;
    expect([json.email, count]).toEqual([owner.email, inquiries.length]);
    for (const row of inquiries) expect(row).toMatchObject(owner);
    const ids = inquiries.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
  }
}

it('answers every event according to the contract and never throws', async () => {
  await fc.assert(
    fc.asyncProperty(events, fc.nat(9), async (event, dice) => {
      broken = dice === 0;
      isFull = dice === 1 || dice === 2;
      await examine(event);
      // A request that is sent again is a replay, if it has a key.
      if (dice > 6) await examine(event);
      fuzzed();
    }),
    { numRuns: isHard ? 120_000 : 10_000 },
  );
  expect(seen).toEqual(new Set([200, 201, 'replay', 400, 401, 405, 413, 422, 429, 500]));
});
