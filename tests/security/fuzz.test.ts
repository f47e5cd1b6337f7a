import { isUtf8 } from 'node:buffer';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { ErrorResponseBody, Inquiry } from '../../src/contract.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { checkAnswer } from '../helpers/contract.ts';
import { EMAIL, INQUIRY, SUB } from '../helpers/events.ts';
import { isHard } from '../helpers/selection.ts';

const ORIGIN = 'https://www.example.com';
const HYPHENATED = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const UUID = new RegExp(
  String.raw`^(?:(?:urn:uuid:)?${HYPHENATED}|\{${HYPHENATED}\}|[0-9a-f]{32})$`,
  'i',
);
const canonical = (uuid: string): string =>
  uuid
    .replaceAll(/^urn:uuid:|[{}-]/gi, '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const fieldsOf = (value: unknown) => Object(value) as Partial<Record<string, unknown>>;

/** An event's outcome by the contract; the store takes up to 100 characters. */
interface Verdict {
  status: number;
  /** With the request's fields, if it creates an inquiry. */
  owner?: Partial<Inquiry>;
  key?: string | undefined;
}
const methodOf = (event: GatewayEvent): unknown => event?.requestContext?.http?.method;
function judge(event: GatewayEvent): Verdict {
  const method = methodOf(event);
  if (method !== 'GET' && method !== 'POST') return { status: 405 };
  const { email, sub } = fieldsOf(event.requestContext?.authorizer?.jwt?.claims);
  const isEmail = typeof email === 'string' && email !== '' && email.isWellFormed();
  if (!isEmail || typeof sub !== 'string' || !UUID.test(sub)) return { status: 401 };
  const owner = { cognito_sub: canonical(sub), email };
  if (method === 'POST') return judgeCreation(event, owner);
  return isList(event) ? { status: 200, owner } : { status: 400 };
}
function isList({ queryStringParameters }: GatewayEvent): boolean {
  const { limit, before } = fieldsOf(queryStringParameters);
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
function judgeCreation(event: GatewayEvent, owner: Partial<Inquiry>): Verdict {
  const { body, isBase64Encoded, headers } = event;
  if (typeof body !== 'string') return { status: 400 };
  const bytes = isBase64Encoded === true ? Buffer.from(body, 'base64') : undefined;
  if (bytes && !isUtf8(bytes)) return { status: 500 };
  let json: unknown;
  try {
    json = JSON.parse(bytes?.toString() ?? body);
  } catch {
    return { status: 500 };
  }
  const key = judgeKey(fieldsOf(headers)['idempotency-key']);
  const { subject, body: text } = fieldsOf(json);
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
const forms = fc.constantFrom(
  SUB,
  SUB.toUpperCase(),
  `{${SUB}}`,
  `urn:uuid:${SUB}`,
  SUB.replaceAll('-', ''),
);
const subs = fc.oneof(
  { weight: 4, arbitrary: forms },
  fc.uuid(),
  fc.stringMatching(/^[0-9a-f{}-]{30,40}$/),
  text,
);
const emails = fc.oneof({ weight: 3, arbitrary: fc.constant(EMAIL) }, fc.emailAddress(), text);
const claims = maybe(fc.record({ sub: subs, email: emails }));
const requests = fc
  .oneof(
    { weight: 4, arbitrary: fc.record({ subject: text, body: text }) },
    fc.integer({ min: 95, max: 105 }).map((length) => ({ subject: '', body: 'x'.repeat(length) })),
    fc.record({ subject: fc.jsonValue(), body: fc.jsonValue() }),
    fc.jsonValue(),
  )
  .map((value) => JSON.stringify(value));
const bodies = fc.oneof(
  { weight: 7, arbitrary: requests },
  fc.tuple(requests, fc.nat(60)).map(([value, length]) => value.slice(0, length)),
  text,
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
  requests.map((value) => Buffer.from(value).toString('base64')),
);
const inquiryIds = fc.uuid({ version: 7 });
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
    before: maybe(
      fc.oneof(
        inquiryIds,
        inquiryIds.map((id) => id.toUpperCase().replaceAll('-', '')),
        inquiryIds.map((id) => `{${id}}`),
        fc.uuid(),
        text,
      ),
      4,
    ),
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

const FAULT = 'The request could not be processed. Please try again later.';
/** With their keys. */
let stored: [Inquiry, key: string | undefined][] = [];
const toListed = (owner: Partial<Inquiry>) => ({ ...INQUIRY, ...owner });
/** Takes up to 100 characters. */
const store: InquiryStore = {
  async put(inquiry, _call, { key } = {}) {
    if (inquiry.subject.length + inquiry.body.length > 100) return { refusal: 'inquiry' };
    stored.push([inquiry, key]);
    return inquiry;
  },
  async *list({ sub, email }) {
    yield [toListed({ cognito_sub: sub, email })];
  },
};
const fail = () => {
  throw new TypeError('A secret.');
};
const create = (from: InquiryStore) =>
  createApp({ inquiries: createInquiries(from), corsOrigin: ORIGIN });
const usual = create(store);
const broken = create({ put: fail, list: fail });
const seen = new Set<number>();

async function examine(event: GatewayEvent, isBroken: boolean): Promise<void> {
  const { status: judged, owner = {}, key } = judge(event);
  const failed = isBroken && owner.email !== undefined;
  const status = failed ? 500 : judged;
  seen.add(status);
  stored = [];
  const { statusCode, headers, body, ...others } = await (isBroken ? broken : usual)(event);
  expect([statusCode, others]).toEqual([status, {}]);
  const json = JSON.parse(body) as ErrorResponseBody & { inquiry: Inquiry };
  // API Gateway changes the case of names, and forbids to cache a success.
  const answered: Record<string, string> = {
    ...Object.fromEntries(new Headers(headers)),
    ...(status < 300 && { 'cache-control': 'no-store' }),
  };
  const method = status === 405 ? 'PUT' : String(methodOf(event));
  checkAnswer(method, { status, headers: answered, text: body, json });
  expect(answered['access-control-allow-origin']).toBe(ORIGIN);
  expect(stored).toEqual(status === 201 ? [[json.inquiry, key]] : []);
  if (failed) expect(json.message).toBe(FAULT);
  if (status === 201) expect(json.inquiry).toMatchObject(owner);
  if (status === 200) {
    expect(json).toEqual({ email: owner.email, count: 1, inquiries: [toListed(owner)] });
  }
}

it('answers every event according to the contract and never throws', async () => {
  await fc.assert(
    fc.asyncProperty(events, fc.nat(9), async (event, dice) =>
      examine(event as GatewayEvent, dice === 0),
    ),
    { numRuns: isHard ? 120_000 : 10_000 },
  );
  expect(seen).toEqual(new Set([200, 201, 400, 401, 405, 413, 500]));
});
