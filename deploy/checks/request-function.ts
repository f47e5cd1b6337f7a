import {
  assert,
  assertCreated,
  assertError,
  assertHeader,
  assertList,
  createContractChecks,
  parseBody,
  toEvent,
  type ServiceRequest,
  type ServiceResponse,
} from '../../lib/contract/contract-checks.ts';
import { checkMemory, Unavailable, type Invoke, type Line } from './invoke.ts';
import { Pending, type Check } from './run-checks.ts';

/** Enough to show memory that is never freed. */
const INVOCATIONS = 30;

/** Of a user whose address nobody has. */
function createClaims() {
  const sub = crypto.randomUUID();
  return { sub, email: `test-${sub}@inquiries.invalid` };
}

const createCall =
  (invoke: Invoke, origin: string) =>
  async (request: ServiceRequest, claims?: object): Promise<ServiceResponse> => {
    const { statusCode, headers, body } = (await invoke(toEvent(request, claims))).result;
    const response = {
      status: Number(statusCode),
      headers: new Headers(headers as Record<string, string>),
      body: parseBody(String(body)),
    };
    if (response.status >= 500) {
      throw new Unavailable(`answered ${response.status}: ${String(body)}`);
    }
    assertHeader(response, 'Access-Control-Allow-Origin', origin);
    return response;
  };

/** Checks as callers without an identity and as two users. They leave two inquiries, which expire after a day. */
export function createRequestChecks(invoke: Invoke, origin = ''): Check[] {
  const call = createCall(invoke, origin);
  const claims = createClaims();
  const other = createClaims();
  const callWithKey = (request: ServiceRequest, key: string) =>
    call({ ...request, headers: { 'idempotency-key': key } }, claims);

  const expect401 = async (): Promise<void> => {
    for (const each of [undefined, { ...claims, email: '' }]) {
      assertError(await call({ method: 'GET' }, each), 401, 'Unauthorized');
    }
  };
  const expect400 = async (): Promise<void> => {
    const response = await call({ method: 'POST', body: '{"subject":"Test"}' }, claims);
    assertError(response, 400, 'BAD_REQUEST');
  };
  const listOwn = async (): Promise<void> => {
    const post = { method: 'POST', body: '{"subject":"Test","body":"Left by a deployment."}' };
    const response = await callWithKey(post, crypto.randomUUID());
    if (response.status === 429) throw new Pending('the stage takes one inquiry an hour');
    const { id } = assertCreated(response);
    const { email, inquiries } = assertList(await call({ method: 'GET' }, claims));
    const foreign = inquiries.filter(
      (each) => each.email !== claims.email || each.cognito_sub !== claims.sub,
    );
    assert(email === claims.email && foreign.length === 0, 'it lists what is not of the claims');
    assert(inquiries.length === 2 && inquiries[0]?.id === id, `it lists ${inquiries.length} of 2`);
  };
  const listNone = async (): Promise<void> => {
    for (const each of [other, { ...claims, sub: other.sub }, { ...claims, email: other.email }]) {
      const { count } = assertList(await call({ method: 'GET' }, each));
      assert(count === 0, `another user gets ${count} inquiries`);
    }
  };
  const useMemory = async (): Promise<string> => {
    const log: Line[] = [];
    for (let count = 0; count < INVOCATIONS; count++) {
      log.push(...(await invoke(toEvent({ method: 'GET' }, claims))).log);
    }
    return `${checkMemory(log)} MB after ${INVOCATIONS} requests`;
  };

  const firstKey = crypto.randomUUID();
  const { contract, key } = createContractChecks((request) => callWithKey(request, firstKey));
  return [
    ['401 without claims, and with an empty email', expect401],
    ...contract,
    ['400 for an inquiry without a body', expect400],
    ...key,
    ['a user gets their own inquiries, newest first', listOwn],
    ['another user gets none', listNone],
    ['it frees memory', useMemory],
  ];
}
