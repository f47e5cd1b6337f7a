/** Invariants of any event; tests/function has the outcome of each kind of mistake. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { ErrorResponseBody, Inquiry } from '../../src/contract.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { checkAnswer } from '../helpers/contract.ts';
import { INQUIRY, makeEvent, makePost, SUB } from '../helpers/events.ts';
import { isHard } from '../helpers/selection.ts';

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
/** Where an event can be different, and values that fit there. */
const PLACES: Record<string, fc.Arbitrary<unknown>> = {
  'requestContext.http.method': fc.constant('PUT'),
  'requestContext.authorizer.jwt.claims.sub': fc.oneof(
    fc.constantFrom(SUB.toUpperCase(), `{${SUB}}`, `urn:uuid:${SUB}`, SUB.replaceAll('-', '')),
    fc.stringMatching(/^[0-9a-f{}-]{30,40}$/),
  ),
  'requestContext.authorizer.jwt.claims.email': fc.emailAddress(),
  'queryStringParameters.limit': fc.nat(1_100).map(String),
  'queryStringParameters.before': fc.oneof(fc.uuid(), fc.uuid({ version: 7 })),
  body: request.map((one) => Buffer.from(JSON.stringify(one)).toString('base64')),
  isBase64Encoded: fc.constant(true),
  'headers.idempotency-key': fc.constantFrom('"k"', String.raw`"\"k"`, 'a,b', '__proto__'),
};
/** Also at any place above those. */
const anyChange = fc.constantFrom(...Object.entries(PLACES)).chain(([place, fitting]) => {
  const path = place.split('.');
  const above = fc.tuple(fc.nat(path.length - 1), value);
  return fc.oneof(
    { weight: 2, arbitrary: fc.tuple(fc.constant(path), fitting) },
    above.map(([length, one]) => [path.slice(0, length + 1), one] as const),
  );
});
const change = (event: unknown, [name = '', ...rest]: string[], to: unknown): object => {
  const { [name]: before, ...others } = fieldsOf(event);
  return { ...others, [name]: rest.length === 0 ? to : change(before, rest, to) };
};
const anyEvent = fc
  .tuple(
    fc.oneof(
      fc.constant(makeEvent({})),
      request.map((one) => makePost(one)),
    ),
    fc.array(anyChange, { maxLength: 4 }),
  )
  .map(([event, changes]) =>
    changes.reduce<object>((changed, [path, to]) => change(changed, path, to), event),
  );
const events = fc.oneof({ weight: 50, arbitrary: anyEvent }, value);

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
