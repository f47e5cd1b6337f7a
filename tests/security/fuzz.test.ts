/** Invariants of any event; tests/function has the outcome of each kind of mistake. */
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
const fieldsOf = (value: unknown) => Object(value) as Partial<Record<string, unknown>>;

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
const keys = fc.oneof(
  fc.constantFrom('k', '"k"', String.raw`"\"k"`, 'a,b', '"k', '__proto__', 'x'.repeat(256)),
  text,
);
const query = fc.record(
  {
    limit: maybe(fc.oneof(fc.nat(1_100).map(String), text), 2),
    before: maybe(fc.oneof(fc.uuid(), fc.uuid({ version: 7 }), text), 4),
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
let asked = 0;
let stored: Inquiry[] = [];
/** Takes up to 100 characters. */
const store: InquiryStore = {
  async put(inquiry) {
    asked++;
    if (inquiry.subject.length + inquiry.body.length > 100) return { refusal: 'inquiry' };
    stored.push(inquiry);
    return inquiry;
  },
  async *list({ sub, email }) {
    asked++;
    yield [{ ...INQUIRY, cognito_sub: sub, email }];
  },
};
const fail = () => {
  asked++;
  throw new TypeError('A secret.');
};
const create = (from: InquiryStore) =>
  createApp({ inquiries: createInquiries(from), corsOrigin: ORIGIN });
const usual = create(store);
const broken = create({ put: fail, list: fail });
const seen = new Set<number>();

const toDigits = (uuid: unknown): string =>
  String(uuid)
    .replaceAll(/^urn:uuid:|[{}-]/gi, '')
    .toLowerCase();

/** The texts of a request that was taken, as they are stored. */
function readTexts({ body, isBase64Encoded }: GatewayEvent) {
  const sent = isBase64Encoded === true ? Buffer.from(String(body), 'base64').toString() : body;
  const { subject, body: message } = JSON.parse(String(sent)) as Inquiry;
  return { subject: subject.toWellFormed(), body: message.toWellFormed() };
}

async function examine(event: GatewayEvent, isBroken: boolean): Promise<void> {
  [asked, stored] = [0, []];
  const { statusCode: status, headers, body, ...others } = await (isBroken ? broken : usual)(event);
  expect(others).toEqual({});
  seen.add(status);
  const json = JSON.parse(body) as ErrorResponseBody & { inquiry: Inquiry; inquiries: Inquiry[] };
  // API Gateway changes the case of names, and forbids to cache a success.
  const answered: Record<string, string> = {
    ...Object.fromEntries(new Headers(headers)),
    ...(status < 300 && { 'cache-control': 'no-store' }),
  };
  const method = event?.requestContext?.http?.method;
  const isOperation = method === 'GET' || method === 'POST';
  checkAnswer(isOperation ? method : 'PUT', { status, headers: answered, text: body, json });
  expect(answered['access-control-allow-origin']).toBe(ORIGIN);
  expect(status === 405).toBe(!isOperation);
  expect(stored).toEqual(status === 201 ? [json.inquiry] : []);
  expect(asked).toBe(status < 300 || status === 413 || json.message === FAULT ? 1 : 0);
  expect(json.message === FAULT).toBe(isBroken && asked === 1);
  if (status >= 300) return;
  const { sub, email } = fieldsOf(event?.requestContext?.authorizer?.jwt?.claims);
  const { cognito_sub, ...shown } = json.inquiry ?? json.inquiries[0];
  expect([toDigits(cognito_sub), shown.email]).toEqual([toDigits(sub), email]);
  if (status === 201) expect(shown).toMatchObject(readTexts(event));
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
