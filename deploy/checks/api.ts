import { CORS } from '../../lib/aws/stages.ts';
import {
  assert,
  assertError,
  assertHeader,
  assertStatus,
  createContractChecks,
  parseBody,
  type ServiceRequest,
  type ServiceResponse,
} from '../../lib/contract/contract-checks.ts';
import { Pending, type Check } from './run-checks.ts';

const REQUEST_TIMEOUT_MS = 35_000; // the gateway gives up after 30 s
/** More than Lambda takes, less than the gateway (docs/operations.md, "Quotas"). */
const TOO_LARGE = 6_500_000;
const ALLOWED_ORIGIN = 'Access-Control-Allow-Origin';
const OTHER_ORIGIN = 'https://elsewhere.invalid';

/** The service that is checked. An empty text is not known yet. */
export interface Target {
  url: string;
  /** Allowed; by default that of the first response. */
  origin: string;
  token: string;
  ignoresKeys?: boolean;
}

async function send(
  { url }: Target,
  { method, query = '', body }: ServiceRequest,
  headers: Record<string, string> = {},
): Promise<ServiceResponse> {
  const response = await fetch(`${url}/inquiries?${query}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const { status, headers: received } = response;
  return { status, headers: received, body: parseBody(await response.text()) };
}

/** Whether a page of the allowed origin may POST, and no other. */
async function checkPreflights(target: Target): Promise<void> {
  if (target.origin === '') throw new Pending('the allowed origin is not known');
  const ask = (origin: string) => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': CORS.allow_headers.join(),
    };
    return send(target, { method: 'OPTIONS' }, headers);
  };
  const response = await ask(target.origin);
  assertStatus(response, 204);
  assertHeader(response, ALLOWED_ORIGIN, target.origin);
  const allowed = JSON.stringify([...response.headers]).toLowerCase();
  for (const name of ['post', ...CORS.allow_headers]) {
    assert(allowed.includes(name), `it does not allow ${name}`);
  }
  const { headers } = await ask(OTHER_ORIGIN);
  assert(headers.get(ALLOWED_ORIGIN) !== OTHER_ORIGIN, 'it allows any other origin, too');
}

/**
 * A check may use what earlier ones have found.
 *
 * @param wait - Seconds until a new API answers, whose name or routes may be missing at first.
 */
export function createApiChecks(target: Target, wait = 0): Check[] {
  const { ignoresKeys = false } = target;
  const key = crypto.randomUUID();
  /**
   * AWS's gateway may omit Access-Control-Allow-Origin for a request without an Origin, so it is required once the
   * origin is known and sent.
   */
  const sendWithToken = async (request: ServiceRequest): Promise<ServiceResponse> => {
    const { origin, token } = target;
    if (token === '') throw new Pending('set SMOKE_TOKEN for what a signed-in user gets');
    const response = await send(target, request, {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...(request.method === 'POST' && !ignoresKeys && { 'idempotency-key': key }),
      ...(origin !== '' && { origin }),
    });
    target.origin ||= response.headers.get(ALLOWED_ORIGIN) ?? '';
    if (target.origin !== '') assertHeader(response, ALLOWED_ORIGIN, target.origin);
    if (response.status < 300) assertHeader(response, 'Cache-Control', 'no-store');
    return response;
  };
  const expect401 = async (headers?: Record<string, string>): Promise<void> =>
    assertStatus(await send(target, { method: 'GET' }, headers), 401);
  const ofContract = createContractChecks(sendWithToken);
  return [
    ['401 without a token', expect401, wait],
    ['401 with a malformed token', () => expect401({ authorization: 'Bearer nonsense' })],
    ...ofContract.contract,
    [
      '405 for PATCH and for HEAD',
      async () => {
        assertError(await sendWithToken({ method: 'PATCH' }), 405, 'METHOD_NOT_ALLOWED');
        assertStatus(await sendWithToken({ method: 'HEAD' }), 405);
      },
    ],
    [
      '413 for a body of 6.5 MB',
      async () => {
        const body = 'x'.repeat(TOO_LARGE);
        assertStatus(await sendWithToken({ method: 'POST', body }), 413);
      },
    ],
    ...(ignoresKeys ? [] : ofContract.key),
    ['preflights allow the origin alone', () => checkPreflights(target)],
  ];
}
