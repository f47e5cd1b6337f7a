import { deepStrictEqual } from 'node:assert/strict';
import * as contract from '../lib/contract/contract-checks.ts';
import { createGatewayEvent } from '../src/gateway-event.ts';
import { CORS_ORIGIN, makeOwner, MESSAGE, type Owner } from './database.ts';

export type Invoke = (event: string) => Promise<string>;

interface Request extends contract.ServiceRequest {
  owner: Pick<Owner, 'sub' | 'email'>;
  key?: string | undefined;
}

export function makeEvent({ owner: { sub, email }, key, ...request }: Request) {
  const event = createGatewayEvent({
    ...request,
    claims: { sub, email, email_verified: 'true' },
    headers: {
      authorization: `Bearer ${'eyJraWQiOiJleGFtcGxlIiwiYWxnIjoiUlMyNTYifQ'.repeat(20)}`,
      'content-type': 'application/json',
      host: 'api.example.com',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
  });
  return JSON.stringify(event);
}

export const makePost = (owner: Owner, key?: string): string =>
  makeEvent({ method: 'POST', owner, key, body: JSON.stringify(MESSAGE) });

/** Each check throws if the result, as JSON, is another one. */
export const check = {
  created(result: string, { sub, email }: Owner) {
    const inquiry = contract.assertCreated(toResponse(result));
    deepStrictEqual([inquiry.cognito_sub, inquiry.email], [sub, email]);
    return inquiry;
  },
  list(result: string, { sub, email, count }: Owner): void {
    const list = contract.assertList(toResponse(result));
    deepStrictEqual([list.inquiries[0]?.cognito_sub, list.email, list.count], [sub, email, count]);
  },
  refused(result: string): void {
    contract.assertError(toResponse(result), 429, 'TOO_MANY_REQUESTS');
  },
};

/** Checks the contract and, with `hasKeys`, that a repeated key changes nothing. @throws Error */
export async function checkContract(invoke: Invoke, hasKeys: boolean): Promise<void> {
  const owner = makeOwner();
  const send = async (request: Partial<Request> & contract.ServiceRequest) =>
    toResponse(await invoke(makeEvent({ owner, ...request })));
  const errors: [request: Parameters<typeof send>[0], status: number, code: string][] = [
    [{ method: 'GET', owner: { ...owner, sub: 'ana' } }, 401, 'Unauthorized'],
    [{ method: 'GET', query: 'limit=0' }, 400, 'BAD_REQUEST'],
    [{ method: 'POST', body: '{"subject":1,"body":""}' }, 400, 'BAD_REQUEST'],
  ];
  for (const [request, status, code] of errors) {
    contract.assertError(await send(request), status, code);
  }
  for (const [, run] of contract.createContractChecks(send).contract) await run();

  const inquiry = check.created(await invoke(makePost(owner)), owner);
  const newest = await send({ method: 'GET', query: 'limit=1' });
  contract.assertHeader(newest, 'Link', `<?before=${inquiry.id}&limit=1>; rel="next"`);
  deepStrictEqual(contract.assertList(newest).inquiries, [{ ...inquiry, ...MESSAGE }]);
  if (!hasKeys) return;
  const sender = makeOwner(1);
  const first = check.created(await invoke(makePost(sender, 'one')), sender);
  deepStrictEqual(check.created(await invoke(makePost(sender, 'one')), sender), first);
  check.list(await invoke(makeEvent({ method: 'GET', owner: sender })), sender);
}

function toResponse(result: string): contract.ServiceResponse {
  const { statusCode, headers, body } = JSON.parse(result) as {
    statusCode: number;
    headers: Record<string, string>;
    body: string;
  };
  const parsed = contract.parseBody(body);
  const response = { status: statusCode, headers: new Headers(headers), body: parsed };
  contract.assertHeader(response, 'Access-Control-Allow-Origin', CORS_ORIGIN);
  return response;
}
