/** Random and mutated events to the function. */
import * as fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { inquiriesPath, type Inquiry, type InquiryListResponse } from '../../src/contract.ts';
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
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const get = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (at, name) => (at as Record<string, unknown> | null | undefined)?.[name],
    value,
  );

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
  if (typeof email !== 'string' || email === '' || /\p{Surrogate}/u.test(email)) {
    return { status: 401 };
  }
  if (typeof sub !== 'string' || !UUID.test(sub)) return { status: 401 };
  const owner = { sub: canonical(sub), email };
  return method === 'GET' ? judgeList(event, owner) : judgeCreation(event, owner);
}
function judgeList(event: unknown, owner: Verdict['owner'] & object): Verdict {
  const limit = get(event, 'queryStringParameters', 'limit');
  const before = get(event, 'queryStringParameters', 'before');
  const isLimit =
    typeof limit === 'string' && /^\d+$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 1000;
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
    if (
      bytes &&
      bytes.toString().includes('\uFFFD') &&
      !Buffer.from(bytes.toString()).equals(bytes)
    ) {
      throw bytes;
    }
    json = JSON.parse(bytes?.toString() ?? body);
  } catch {
    return { status: 500 };
  }
  const key = judgeKey(get(event, 'headers', 'idempotency-key'));
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const [subject, text] = isObject ? [get(json, 'subject'), get(json, 'body')] : [];
  if (key === null || typeof subject !== 'string' || typeof text !== 'string') {
    return { status: 400 };
  }
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
function refine(
  verdict: Verdict,
  known: Inquiry | undefined,
  isFull = false,
): Verdict & { replay?: Inquiry } {
  const { status, created } = verdict;
  if (created === undefined || status === 413) return verdict;
  if (known !== undefined) {
    const isSame = known.subject === created.subject && known.body === created.body;
    return isSame ? { ...verdict, replay: known } : { status: 422 };
  }
  return isFull ? { status: 429 } : verdict;
}

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.anything({ maxDepth: 2, withNullPrototype: true }),
);
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
  fc
    .integer({ min: 95, max: 105 })
    .map((length) => JSON.stringify({ subject: '', body: 'x'.repeat(length) })),
  fc.json(),
  fc
    .record({ subject: anything, body: anything }, { requiredKeys: [] })
    .map((value) => safeStringify(value)),
  fc.tuple(request, fc.nat(60)).map(([value, length]) => JSON.stringify(value).slice(0, length)),
  text,
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
  request.map((value) => Buffer.from(JSON.stringify(value)).toString('base64')),
  anything,
);
const limit = fc.oneof(fc.nat(1_100).map(String), text, anything);
const anyId = fc.oneof(
  fc.uuid({ version: 7 }).map((id) => id.toUpperCase().replaceAll('-', '')),
  fc.uuid({ version: 7 }).map((id) => `{${id}}`),
);
const before = fc.oneof(fc.uuid({ version: 7 }), anyId, fc.uuid(), text, anything);
const key = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('k', '"k"', 'K', String.raw`"\"k"`, '"a,b"', '__proto__'),
  },
  fc.constantFrom('', '""', 'a,b', '"a","b"', '"k', 'k ', 'x'.repeat(256)),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', 'k', ' '), maxLength: 6 }),
  text,
  anything,
);
const valid = fc.record(
  {
    requestContext: fc.record({
      http: fc.record({
        method: fc.oneof({ weight: 6, arbitrary: fc.constantFrom('GET', 'POST') }, text, anything),
      }),
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
  .tuple(
    valid,
    fc.array(fc.tuple(fc.nat(), fc.option(anything, { nil: undefined })), {
      minLength: 1,
      maxLength: 3,
    }),
  )
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

const fuzzed = createTally(
  '5 random and mutated events, answers checked against docs/openapi.yaml',
);
const logged: unknown[] = [];
let broken = false;
let isFull = false;
const store = createMemoryStore();
const { put } = store;
store.put = async (inquiry, call, options) =>
  put(inquiry, call, { ...options, limit: isFull ? { most: 0, time: 0 } : undefined });
const fallible = new Proxy(store, {
  get(target, method: keyof InquiryStore) {
    if (broken) {
      throw Object.assign(new TypeError('secret-of-the-store'), { name: 'InternalServerError' });
    }
    return target[method];
  },
});
const app = createApp({
  inquiries: createInquiries(fallible, { inquiriesPerHour: 60 }),
  corsOrigin: ORIGIN,
});
/** The first inquiry of each owner and key, and how often each outcome was seen. */
const known = new Map<string, Inquiry>();
const seen = new Map<unknown, number>();

const FAULT = 'The request could not be processed. Please try again later.';

async function examine(event: unknown): Promise<void> {
  const judged = judge(event);
  const name = judged.key === undefined ? undefined : JSON.stringify([judged.owner, judged.key]);
  const verdict = refine(judged, name === undefined ? undefined : known.get(name), isFull);
  if (store.rows.length > 500) store.rows.splice(0, 250);
  const stored = store.rows.length;
  const response = await app(event as GatewayEvent, {
    awsRequestId: 'r',
    getRemainingTimeInMillis: () => 30_000,
  });
  const json = JSON.parse(response.body) as Record<string, unknown>;
  const failed = broken && judged.owner !== undefined;
  const status = failed ? 500 : verdict.status;
  const isReplay = status === 201 && verdict.replay !== undefined;
  const outcome = isReplay ? 'replay' : status;
  seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
  expect(response.statusCode).toBe(status);
  expect(Object.keys(response)).toEqual(['statusCode', 'headers', 'body']);
  // API Gateway changes the case of names, and forbids to cache a success.
  const headers = Object.fromEntries(
    Object.entries({
      ...response.headers,
      ...(status < 300 && { 'cache-control': 'no-store' }),
    }).map(([header, value]) => [header.toLowerCase(), value]),
  );
  const method = status === 405 ? 'PUT' : String(get(event, 'requestContext', 'http', 'method'));
  checkAnswer(method, inquiriesPath, { status, headers, text: response.body, json });
  expect(headers['access-control-allow-origin']).toBe(ORIGIN);
  expect('idempotency-replayed' in headers).toBe(isReplay);
  if (outcome !== 201) expect(store.rows.length).toBe(stored);
  if (failed) expect(json['message']).toBe(FAULT);
  if (status === 201) {
    const { inquiry } = json as { inquiry: Inquiry };
    expect(inquiry).toMatchObject({
      ...verdict.created,
      cognito_sub: verdict.owner?.sub,
      email: verdict.owner?.email,
    });
    expect(verdict.replay ?? store.rows.at(-1)).toEqual(inquiry);
    if (name !== undefined) known.set(name, inquiry);
  } else if (status === 200) {
    const { email: address, count, inquiries } = json as unknown as InquiryListResponse;
    expect([address, count]).toEqual([verdict.owner?.email, inquiries.length]);
    expect(
      inquiries.every((row) => row.email === address && row.cognito_sub === verdict.owner?.sub),
    ).toBe(true);
    const ids = inquiries.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
  }
  const lines = JSON.stringify(logged);
  expect(lines).not.toContain('secret-of-the-store');
  expect(lines).not.toContain(EMAIL);
  logged.length = 0;
}

it('answers every event according to the contract and never throws', async () => {
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((...entry) => void logged.push(entry));
  }
  await fc.assert(
    fc.asyncProperty(events, fc.integer({ min: 0, max: 9 }), async (event, dice) => {
      broken = dice === 0;
      isFull = dice === 1 || dice === 2;
      await examine(event);
      // A request that is sent again is a replay, if it has a key.
      if (dice > 6) await examine(event);
      fuzzed();
    }),
    { numRuns: isHard ? 120_000 : 10_000 },
  );
  for (const outcome of [200, 201, 'replay', 400, 401, 405, 413, 422, 429, 500]) {
    expect([outcome, seen.get(outcome)]).toEqual([outcome, expect.toSatisfy((count) => count > 0)]);
  }
});
