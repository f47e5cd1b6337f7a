/** Checks the contract in smoke tests (HTTP) and the benchmark (events). */
import {
  createInquiryResponseSchema,
  errorResponseBodySchema,
  inquiryListResponseSchema,
  inquirySchema,
  type CreateInquiryResponse,
  type ErrorResponseBody,
  type Inquiry,
  type InquiryListResponse,
} from '../../src/contract.ts';
import { createGatewayEvent } from '../../src/gateway-event.ts';
import { INQUIRY_ID } from '../../src/limits.ts';

/** A request to `/inquiries`; the query without `?`. */
export interface ServiceRequest {
  /** Default: the API's path. */
  path?: string;
  method: string;
  query?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface ServiceResponse {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Without claims, no authorizer has run. */
export const toEvent = (request: ServiceRequest, claims?: object): object =>
  createGatewayEvent({ ...request, claims });

export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A check rejects with what is wrong. */
type Checks = readonly (readonly [title: string, run: () => Promise<void>])[];

/**
 * The checks of `contract` store one inquiry, those of `key` none.
 *
 * @param send - Sends as a signed-in user, POSTs with one key, and checks Access-Control-Allow-Origin, which depends on
 * the stage.
 */
export function createContractChecks(send: (request: ServiceRequest) => Promise<ServiceResponse>) {
  const subject = `smoke ${new Date().toISOString()} ${crypto.randomUUID()}`;
  const post = {
    method: 'POST',
    body: JSON.stringify({ subject, body: 'Left by the smoke test of a deployment.' }),
  };
  let first: ServiceResponse | undefined;
  const contract: Checks = [
    [
      '405 for PUT, with the methods that are allowed',
      async () => assertError(await send({ method: 'PUT', body: '{}' }), 405, 'METHOD_NOT_ALLOWED'),
    ],
    [
      'GET lists the inquiries of the caller',
      async () => void assertList(await send({ method: 'GET' })),
    ],
    [
      'POST creates an inquiry',
      async () => {
        first = await send(post);
        const inquiry = assertCreated(first);
        assert(inquiry.subject === subject, 'the inquiry does not have the subject that was sent');
      },
    ],
    [
      'GET sees it',
      async () => {
        const { inquiries } = assertList(await send({ method: 'GET', query: 'limit=20' }));
        const found = inquiries.filter((inquiry) => inquiry.subject === subject);
        assert(found.length === 1, `${found.length} inquiries of the list are the new one`);
      },
    ],
  ];
  const key: Checks = [
    [
      'POST with the same key stores nothing',
      async () => {
        const response = await send(post);
        const again = assertCreated(response);
        assertHeader(response, 'Idempotency-Replayed', 'true');
        const [before, after] = [first, response].map((each) => JSON.stringify(each?.body));
        assert(after === before, 'the body is not the one of the first response');
        const { inquiries } = assertList(await send({ method: 'GET', query: 'limit=100' }));
        const stored = inquiries.filter((inquiry) => inquiry.subject === subject);
        assert(
          stored.length === 1 && stored[0]?.id === again.id,
          `there are ${stored.length} inquiries`,
        );
      },
    ],
    [
      '422 for the same key with another text',
      async () => {
        const body = JSON.stringify({ subject: 'smoke', body: 'Another text.' });
        assertError(await send({ ...post, body }), 422, 'IDEMPOTENCY_KEY_REUSED');
      },
    ],
  ];
  return { contract, key };
}

export function assert(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}

export function assertStatus({ status }: ServiceResponse, expected: number): void {
  assert(status === expected, `answered ${status}, not ${expected}`);
}

export function assertHeader({ headers }: ServiceResponse, name: string, expected: string): void {
  const value = headers.get(name);
  assert(value === expected, `${name} is ${value ?? 'missing'}, not ${expected}`);
}

export function assertError(response: ServiceResponse, status: number, code: string): void {
  const { error, message } = assertBody(
    response,
    status,
    errorResponseBodySchema,
  ) as ErrorResponseBody;
  assert(error === code, `error is ${error}, not ${code}`);
  assert(typeof message === 'string' && message !== '', 'message is empty');
  if (status === 405) assertHeader(response, 'Allow', 'GET, POST');
}

export function assertCreated(response: ServiceResponse): Inquiry {
  const { inquiry } = assertBody(
    response,
    201,
    createInquiryResponseSchema,
  ) as CreateInquiryResponse;
  assertInquiry(inquiry);
  return inquiry;
}

export function assertList(response: ServiceResponse): InquiryListResponse {
  const list = assertBody(response, 200, inquiryListResponseSchema) as InquiryListResponse;
  const { email, count, inquiries } = list;
  const isCounted = Array.isArray(inquiries) && count === inquiries.length;
  assert(isCounted, `count is ${count} and does not match the list`);
  let newer = Number.POSITIVE_INFINITY;
  for (const inquiry of inquiries) {
    assertInquiry(inquiry);
    const isOfOwner = inquiry.email === email && inquiry.cognito_sub === inquiries[0]?.cognito_sub;
    assert(isOfOwner, 'the list holds an inquiry of another owner');
    const time = Date.parse(inquiry.created_at);
    assert(time <= newer, 'the list is not ordered newest first');
    newer = time;
  }
  return list;
}

function assertInquiry(inquiry: Inquiry): void {
  assertFields('an inquiry', inquiry, inquirySchema);
  assert(INQUIRY_ID.test(inquiry.id), 'id is not a UUIDv7');
}

interface Schema {
  required: readonly string[];
  properties: object;
}

/** The body must have exactly the schema's fields; optional ones may be absent. */
function assertBody(response: ServiceResponse, status: number, schema: Schema): unknown {
  assertStatus(response, status);
  assertHeader(response, 'Content-Type', 'application/json');
  assertFields('the body', response.body, schema);
  return response.body;
}

function assertFields(what: string, value: unknown, { required, properties }: Schema): void {
  assert(typeof value === 'object' && value !== null, `${what} is not a JSON object`);
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  assert(missing.length === 0, `${what} has no ${missing.join(', ')}`);
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  assert(unknown.length === 0, `${what} has ${unknown.join(', ')}, which is not in the contract`);
}
