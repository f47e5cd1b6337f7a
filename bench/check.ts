/** The responses that every contender must give. */
import { deepStrictEqual } from 'node:assert/strict';
import * as contract from '../lib/contract-checks.ts';
import { CORS_ORIGIN, type Owner, type SeededOwner } from './database.ts';
import { claimsOf, makeEvent, type EventOptions } from './events.ts';

/** @throws Error when the handler's result, as JSON, is not the owner's new inquiry. */
export function checkCreated(result: string, { sub, email }: Owner): void {
  const { cognito_sub, email: actual } = contract.assertCreated(toResponse(result));
  deepStrictEqual([cognito_sub, actual], [sub, email]);
}

/** @throws Error when the handler's result, as JSON, is not the owner's whole list. */
export function checkList(result: string, { sub, email, count }: SeededOwner): void {
  const list = contract.assertList(toResponse(result));
  deepStrictEqual([list.inquiries[0]?.cognito_sub, list.email, list.count], [sub, email, count]);
}

/** Sends an event and resolves to the handler's result, both as JSON. */
type Invoke = (event: string) => Promise<string>;

/** Checks the contract with an owner who has no inquiries. @throws Error with the request, and what is wrong. */
export async function checkContract(invoke: Invoke, owner: Owner): Promise<void> {
  const claims = claimsOf(owner);
  const get = { method: 'GET', claims };
  const post = { method: 'POST', claims };
  let sent = '';
  const send = async (options: EventOptions): Promise<contract.ServiceResponse> => {
    const { method, query = '', body = '' } = options;
    sent = `${method} ${query}${body}`.slice(0, 200);
    return toResponse(await invoke(makeEvent(options)));
  };
  const errors: [request: EventOptions, status: number, code: string][] = [
    [{ method: 'GET' }, 401, 'Unauthorized'],
    [{ ...get, claims: { ...claims, email: '' } }, 401, 'Unauthorized'],
    [{ ...get, claims: { ...claims, sub: 'ana' } }, 401, 'Unauthorized'],
    [{ ...get, query: 'limit=0' }, 400, 'BAD_REQUEST'],
    [{ ...get, query: 'before=x' }, 400, 'BAD_REQUEST'],
    [post, 400, 'BAD_REQUEST'],
    [{ ...post, body: '{"subject":"s"}' }, 400, 'BAD_REQUEST'],
    [{ ...post, body: '{"subject":1,"body":""}' }, 400, 'BAD_REQUEST'],
    [{ ...post, body: '{"subject":"s","body":"' }, 500, 'INTERNAL_SERVER_ERROR'],
    [
      { ...post, body: JSON.stringify({ subject: '', body: 'x'.repeat(500_000) }) },
      413,
      'PAYLOAD_TOO_LARGE',
    ],
  ];
  try {
    for (const [request, status, code] of errors) {
      contract.assertError(await send(request), status, code);
    }
    for (const [, run] of contract.createContractChecks((request) => send({ ...request, claims }))
      .contract) {
      await run();
    }

    const message = { subject: 'Grüße', body: '"line"\n\\line\u2028 🎈' };
    const body = JSON.stringify({ ...message, email: 'mallory@example.com', id: 1 });
    const inquiry = contract.assertCreated(await send({ ...post, body, base64: true }));
    deepStrictEqual(inquiry, {
      ...inquiry,
      ...message,
      cognito_sub: owner.sub,
      email: owner.email,
    });

    const newest = await send({ ...get, query: 'limit=1' });
    contract.assertHeader(newest, 'Link', `<?before=${inquiry.id}&limit=1>; rel="next"`);
    deepStrictEqual(contract.assertList(newest).inquiries, [inquiry]);
    const rest = await send({ ...get, query: `before=${inquiry.id}` });
    deepStrictEqual([rest.headers.get('link'), contract.assertList(rest).count], [null, 1]);
  } catch (cause) {
    throw new Error(`${sent}: ${(cause as Error).message}`, { cause });
  }
}

/** Checks Idempotency-Key with an owner who has no inquiries, and another. @throws Error that says what is wrong. */
export async function checkKeys(invoke: Invoke, owner: Owner, other: Owner): Promise<void> {
  const post = async (
    key: string,
    subject = 's',
    sender = owner,
  ): Promise<contract.ServiceResponse> => {
    const body = JSON.stringify({ subject, body: '"line"\n🎈' });
    return toResponse(
      await invoke(makeEvent({ method: 'POST', claims: claimsOf(sender), key, body })),
    );
  };
  const key = 'c7a1f5de-0d3b-4e0c-9a54-6b9b3f0a2f11';
  const first = contract.assertCreated(await post(key));
  deepStrictEqual(contract.assertCreated(await post(key)), first);
  contract.assertError(await post(key, 'another'), 422, 'IDEMPOTENCY_KEY_REUSED');
  const ofOther = contract.assertCreated(await post(key, 's', other));
  deepStrictEqual([ofOther.cognito_sub, ofOther.email], [other.sub, other.email]);
  const second = contract.assertCreated(await post(`${key}-2`));
  const listed = await invoke(makeEvent({ method: 'GET', claims: claimsOf(owner) }));
  deepStrictEqual(contract.assertList(toResponse(listed)).inquiries, [second, first]);
}

function toResponse(result: string): contract.ServiceResponse {
  const proxy = JSON.parse(result) as {
    statusCode: number;
    headers: Record<string, string>;
    body: string;
  };
  const { statusCode: status, body } = proxy;
  const response = {
    status,
    headers: new Headers(proxy.headers),
    body: JSON.parse(body) as unknown,
  };
  contract.assertHeader(response, 'Access-Control-Allow-Origin', CORS_ORIGIN);
  return response;
}
