import {
  assertError,
  assertHeader,
  createContractChecks,
  parseBody,
  toEvent,
  type ServiceResponse,
} from '../../lib/contract/contract-checks.ts';
import { checkMemory, Unavailable, type Invoke, type Line } from './invoke.ts';
import type { Check } from './run-checks.ts';

/** After which memory that is never freed shows. */
const INVOCATIONS = 30;

/**
 * Checks as a caller without claims and as a user whose address nobody has. They leave one inquiry, which expires after
 * a day.
 *
 * @param origin - What the responses allow.
 */
export function createRequestChecks(invoke: Invoke, origin = ''): Check[] {
  const call = async (event: object): Promise<ServiceResponse> => {
    const { statusCode, headers, body } = (await invoke(event)).result;
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
  const sub = crypto.randomUUID();
  const claims = { sub, email: `test-${sub}@inquiries.invalid` };
  const { contract } = createContractChecks((each) => call(toEvent(each, claims)));
  const expect401 = async (): Promise<void> =>
    assertError(await call(toEvent({ method: 'GET' })), 401, 'Unauthorized');
  const useMemory = async (): Promise<string> => {
    const log: Line[] = [];
    for (let count = 0; count < INVOCATIONS; count++) {
      log.push(...(await invoke(toEvent({ method: 'GET' }, claims))).log);
    }
    return `${checkMemory(log)} MB after ${INVOCATIONS} requests`;
  };
  return [['401 without claims', expect401], ...contract, ['it frees memory', useMemory]];
}
