/** Rules that hold for any event. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { ErrorResponseBody, Inquiry } from '../../src/contract.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { checkAnswer } from '../function/responses.ts';
import { INQUIRY, SUB } from '../helpers/events.ts';
import { isHard } from '../resilience/selection.ts';

const ORIGIN = 'https://www.example.com';
const fieldsOf = (value: unknown) => Object(value) as Partial<Record<string, unknown>>;

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udfff', '😀', 'a', '"', '\\', '\0', '\n') }),
);
const request = fc.record({ subject: text, body: fc.oneof(text, fc.constant('x'.repeat(101))) });
const value = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 3 }),
  fc.anything({ maxDepth: 2, withNullPrototype: true }),
);
/** Generates mostly what fits at a place of an event. */
const mostly = (fitting: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 15, arbitrary: fitting }, value);
const object = (places: Record<string, fc.Arbitrary<unknown>>, requiredKeys?: []) =>
  mostly(
    fc.record(
      Object.fromEntries(Object.entries(places).map(([name, one]) => [name, mostly(one)])),
      requiredKeys && { requiredKeys },
    ),
  );
const anySub = fc.oneof(
  fc.constantFrom(SUB, SUB.toUpperCase(), `{${SUB}}`, `urn:uuid:${SUB}`, SUB.replaceAll('-', '')),
  fc.stringMatching(/^[0-9a-f{}-]{30,40}$/),
);
const places = {
  requestContext: object({
    http: object({ method: fc.constantFrom('GET', 'POST', 'POST', 'PUT') }),
    authorizer: object({
      jwt: object({ claims: object({ sub: anySub, email: fc.emailAddress() }) }),
    }),
  }),
  queryStringParameters: object(
    { limit: fc.nat(1_100).map(String), before: fc.oneof(fc.uuid(), fc.uuid({ version: 7 })) },
    [],
  ),
  headers: object(
    { 'idempotency-key': fc.constantFrom('"k"', String.raw`"\"k"`, 'a,b', '__proto__') },
    [],
  ),
};
const texts = request.map((one) => JSON.stringify(one));
const events = mostly(
  fc.oneof(
    fc.record({ ...places, body: mostly(texts) }),
    fc.record({
      ...places,
      body: mostly(texts.map((one) => Buffer.from(one).toString('base64'))),
      isBase64Encoded: mostly(fc.constant(true)),
    }),
  ),
);

let asked = 0;
let stored: Inquiry[] = [];
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
const app = createApp({ inquiries: createInquiries(store), corsOrigin: ORIGIN });
const seen = new Set<number>();

const toDigits = (uuid: unknown): string =>
  String(uuid)
    .replaceAll(/^urn:uuid:|[{}-]/gi, '')
    .toLowerCase();

function readTexts({ body, isBase64Encoded }: GatewayEvent) {
  const sent = isBase64Encoded === true ? Buffer.from(String(body), 'base64').toString() : body;
  const { subject, body: message } = JSON.parse(String(sent)) as Inquiry;
  return { subject: subject.toWellFormed(), body: message.toWellFormed() };
}

async function examine(event: GatewayEvent): Promise<void> {
  [asked, stored] = [0, []];
  const { statusCode: status, headers, body, ...others } = await app(event);
  expect(others).toEqual({});
  seen.add(status);
  const json = JSON.parse(body) as ErrorResponseBody & { inquiry: Inquiry; inquiries: Inquiry[] };
  // API Gateway changes the case of names and forbids caching of a success.
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
  expect(asked).toBe(status < 300 || status === 413 ? 1 : 0);
  if (status >= 300) return;
  const { sub, email } = fieldsOf(event?.requestContext?.authorizer?.jwt?.claims);
  const { cognito_sub, ...shown } = json.inquiry ?? json.inquiries[0];
  expect([toDigits(cognito_sub), shown.email]).toEqual([toDigits(sub), email]);
  if (status === 201) expect(shown).toMatchObject(readTexts(event));
}

it('answers every event according to the contract and never throws', async () => {
  await fc.assert(
    fc.asyncProperty(events, async (event) => examine(event as GatewayEvent)),
    { numRuns: isHard ? 120_000 : 10_000 },
  );
  expect(seen).toEqual(new Set([200, 201, 400, 401, 405, 413, 500]));
});
