/**
 * The answers the document shows: real ones. The function runs here on a clock that stands still, random bits that are
 * none and a store in memory; what it answers is recorded by method and status. docs/adr/0040
 */
import { createApp } from '../../src/app.ts';
import { internalError, unparsableJson } from '../../src/errors.ts';
import type { ApiError } from '../../src/errors.ts';
import { toErrorResponse } from '../../src/http.ts';
import type { GatewayEvent, GatewayResponse } from '../../src/http.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';
import type { InquiryStore } from '../../src/inquiries.ts';
import type { Inquiry } from '../../src/contract.ts';

export interface Example {
  /** Key in the document. */
  readonly name: string;
  /** When the function answers so: a clause without a full stop. */
  readonly when: string;
  /** The request body, where there is one to show. */
  readonly request?: unknown;
  readonly response: GatewayResponse;
}

/** Stands for any method that is no operation. */
export const OTHER_METHOD = 'PUT';

const CORS_ORIGIN = 'https://www.example.com';
const CLAIMS = { sub: '1daae433-47cc-48ff-bf9b-73f530b9d7bc', email: 'ana@example.com' };
const NOW = Date.UTC(2026, 10, 20, 9);
const HELLO = { subject: 'Hello', body: 'Is anyone there?' };

/** Records the answers, by method, in the order in which the document shows them. */
export async function recordExamples(): Promise<ReadonlyMap<string, readonly Example[]>> {
  const rows: Inquiry[] = [];
  const store: InquiryStore = {
    async put(inquiry) {
      if (inquiry.body.length >= ITEM_LIMIT) return 'inquiry';
      rows.push(inquiry);
      return undefined;
    },
    list: async function* list() {
      yield rows.toReversed();
    },
  };
  const now = () => NOW + rows.length * 60_000;
  const inquiries = createInquiries(store, now, { nextUint32: () => 0 });
  const app = createApp({ inquiries, corsOrigin: CORS_ORIGIN });
  const ask = (method: string, event: GatewayEvent = {}, claims: object = CLAIMS) =>
    app({ requestContext: { http: { method }, authorizer: { jwt: { claims } } }, ...event });
  const get = (queryStringParameters?: object) => ask('GET', { queryStringParameters });
  const post = (value: unknown) => ask('POST', { body: JSON.stringify(value) });
  // The two failures that the function logs: made as the function makes them, so that nothing is logged here.
  const answer = (error: ApiError) => toErrorResponse(error, CORS_ORIGIN);
  const fault = { name: 'fault', when: 'the service fails', response: answer(internalError()) };
  const claims = {
    name: 'claims',
    when: 'the token is valid but has no `email`, an empty one, or no `sub` that is a UUID',
    response: await ask('GET', {}, {}),
  };

  const empty = await get();
  const created = await post(HELLO);
  await post({ subject: 'Opening hours', body: '' });

  return new Map([
    [
      'GET',
      [
        { name: 'list', when: 'there are inquiries', response: await get() },
        {
          name: 'page',
          when: 'older ones remain, as with `limit=1` here',
          response: await get({ limit: '1' }),
        },
        { name: 'empty', when: 'there are none', response: empty },
        { name: 'limit', when: '`limit` is malformed', response: await get({ limit: '0' }) },
        { name: 'before', when: '`before` is malformed', response: await get({ before: 'yesterday' }) },
        claims,
        fault,
      ],
    ],
    [
      'POST',
      [
        { name: 'created', when: 'the inquiry is stored', request: HELLO, response: created },
        { name: 'noBody', when: 'there is no body', response: await ask('POST') },
        { name: 'noObject', when: 'the JSON is not an object', response: await post([]) },
        { name: 'missing', when: 'a field is missing', response: await post({ subject: 'Hello' }) },
        { name: 'noString', when: 'a field is not a string', response: await post({ ...HELLO, subject: 1 }) },
        claims,
        {
          name: 'tooLarge',
          when: 'the inquiry does not fit into the store',
          response: await post({ ...HELLO, body: 'x'.repeat(ITEM_LIMIT) }),
        },
        { name: 'noJson', when: 'the body is not JSON', response: answer(unparsableJson(undefined)) },
        fault,
      ],
    ],
    [
      OTHER_METHOD,
      [{ name: 'method', when: 'the method is no operation', response: await ask(OTHER_METHOD) }],
    ],
  ]);
}
