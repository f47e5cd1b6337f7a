/** The responses that every contender must give. */
import { deepStrictEqual } from 'node:assert/strict';
import * as contract from '../lib/contract-checks.ts';
import { CORS_ORIGIN, MESSAGE, type Owner, type SeededOwner } from './database.ts';
import { makeEvent, type EventOptions } from './events.ts';

/** Sends an event and resolves to the handler's result, both as JSON. */
export type Invoke = (event: string) => Promise<string>;

/** @throws Error when the handler's result, as JSON, is not the owner's new inquiry. */
export function checkCreated(result: string, { sub, email }: Owner): void {
  const inquiry = contract.assertCreated(toResponse(result));
  deepStrictEqual([inquiry.cognito_sub, inquiry.email], [sub, email]);
}

/** @throws Error when the handler's result, as JSON, is not the owner's whole list. */
export function checkList(result: string, { sub, email, count }: SeededOwner): void {
  const list = contract.assertList(toResponse(result));
  deepStrictEqual([list.inquiries[0]?.cognito_sub, list.email, list.count], [sub, email, count]);
}

/** Checks the contract with an owner who has no inquiries. @throws Error that says what is wrong. */
export async function checkContract(invoke: Invoke, owner: Owner): Promise<void> {
  const send = async (options: EventOptions) =>
    toResponse(await invoke(makeEvent({ owner, ...options })));
  const errors: [request: EventOptions, status: number, code: string][] = [
    [{ method: 'GET', owner: { ...owner, sub: 'ana' } }, 401, 'Unauthorized'],
    [{ method: 'GET', query: 'limit=0' }, 400, 'BAD_REQUEST'],
    [{ method: 'POST', body: '{"subject":1,"body":""}' }, 400, 'BAD_REQUEST'],
  ];
  for (const [request, status, code] of errors) {
    contract.assertError(await send(request), status, code);
  }
  for (const [, run] of contract.createContractChecks(send).contract) await run();

  const inquiry = contract.assertCreated(
    await send({ method: 'POST', body: JSON.stringify(MESSAGE) }),
  );
  const newest = await send({ method: 'GET', query: 'limit=1' });
  contract.assertHeader(newest, 'Link', `<?before=${inquiry.id}&limit=1>; rel="next"`);
  deepStrictEqual(contract.assertList(newest).inquiries, [{ ...inquiry, ...MESSAGE }]);
}

/** Checks that a key sent again changes nothing. @throws Error that says what is wrong. */
export async function checkKey(invoke: Invoke, owner: Owner): Promise<void> {
  const event = makeEvent({ method: 'POST', owner, key: 'one', body: JSON.stringify(MESSAGE) });
  const first = contract.assertCreated(toResponse(await invoke(event)));
  deepStrictEqual(contract.assertCreated(toResponse(await invoke(event))), first);
  checkList(await invoke(makeEvent({ method: 'GET', owner })), { ...owner, count: 1 });
}

function toResponse(result: string): contract.ServiceResponse {
  const { statusCode, headers, body } = JSON.parse(result) as {
    statusCode: number;
    headers: Record<string, string>;
    body: string;
  };
  const response = {
    status: statusCode,
    headers: new Headers(headers),
    body: contract.parseBody(body),
  };
  contract.assertHeader(response, 'Access-Control-Allow-Origin', CORS_ORIGIN);
  return response;
}
