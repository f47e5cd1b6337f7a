import type * as contract from '../../src/contract.ts';
import { isText, parseJson, toRecord } from './narrow.ts';

export interface User {
  sub: string;
  email: string;
}

export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}

export interface Session {
  user: User;
  /** @throws SignedOut when the session has ended; other errors when the issuer cannot be reached. */
  token(refused?: string): Promise<string>;
}

export interface Failure {
  kind:
    | 'signed-out'
    | 'too-large'
    | 'busy'
    | 'limit' // inquiries in an hour
    | 'conflict' // the same key is in use
    | 'reused' // the key had another text
    | 'refused'
    | 'offline' // the browser says so
    | 'unreachable' // no response in time
    | 'server';
  mayBeDone: boolean;
  message?: string;
  /** Seconds. */
  retryAfter?: number;
}

export interface Page {
  inquiries: contract.Inquiry[];
  next: string | undefined;
}

export type Api = ReturnType<typeof createApi>;

/** Only the type is imported, so that src/contract.ts stays out of the bundle. */
const PATH: typeof contract.inquiriesPath = '/inquiries';
/** Milliseconds; the gateway's limit is 30 seconds. */
const TIMEOUT = 35_000;
/** Seconds. */
const FIRST_PAGE_WAIT = 1;
/** Each next page has twice as many. */
const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;
/** Seconds before a new token is used: the issuer's clock may be ahead of the API's. */
const CLOCK_SKEW = 3;
/** By the service's `error`. A response without one is the gateway's or a proxy's. docs/contract.md */
const KINDS: Partial<Record<string, Failure['kind']>> = {
  BAD_REQUEST: 'refused',
  IDEMPOTENCY_CONFLICT: 'conflict',
  IDEMPOTENCY_KEY_REUSED: 'reused',
  PAYLOAD_TOO_LARGE: 'too-large',
  TOO_MANY_AT_ONCE: 'busy',
  TOO_MANY_REQUESTS: 'limit',
};

export const sleep = async (seconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

export function isFailure(value: object): value is Failure {
  return 'kind' in value && 'mayBeDone' in value;
}

/** @param baseUrl - Without `/inquiries` or a slash at the end. */
export function createApi(
  baseUrl: string,
  session: Session,
  isOnline: () => boolean,
  wait = sleep,
) {
  const send = async <Body extends object>(
    success: number,
    isBody: (json: object) => json is Body,
    query: string,
    headers: Record<string, string> = {},
    request: RequestInit = {},
  ): Promise<{ json: Body; link: string } | Failure> => {
    let token: string | undefined;
    let mayBeDone = false;
    const attempt = async (): Promise<{ response: Response; json: object }> => {
      const isSecond = token !== undefined;
      mayBeDone = false;
      token = await session.token(token);
      if (isSecond) await wait(CLOCK_SKEW);
      mayBeDone = true;
      headers['Authorization'] = `Bearer ${token}`;
      const signal = AbortSignal.timeout(TIMEOUT);
      const response = await fetch(baseUrl + PATH + query, { ...request, headers, signal });
      return { response, json: toRecord(parseJson(await response.text())) };
    };
    try {
      let { response, json } = await attempt();
      // A 401 means that the request was not processed, so it may be sent again.
      if (isUnauthorized(response, json)) ({ response, json } = await attempt());
      if (response.status === success && isBody(json)) {
        return { json, link: response.headers.get('Link') ?? '' };
      }
      return toFailure(response, json);
    } catch (error) {
      if (error instanceof SignedOut) return { kind: 'signed-out', mayBeDone: false };
      return { kind: isOnline() ? 'unreachable' : 'offline', mayBeDone };
    }
  };

  return {
    async list(query = `?limit=${PAGE_SIZE}`): Promise<Page | Failure> {
      const answer = await send(200, isList, query);
      if (isFailure(answer)) return answer;
      return { inquiries: answer.json.inquiries, next: parseNext(answer.link) };
    },
    /**
     * @param key - Stored once. docs/adr/0090
     * @param language - Of mails. docs/adr/0080
     */
    async create(
      request: contract.CreateInquiryRequest,
      key: string,
      language: string,
    ): Promise<contract.Inquiry | Failure> {
      const headers = {
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
        'Accept-Language': language,
      };
      const body = JSON.stringify(request);
      const answer = await send(201, isCreated, '', headers, { method: 'POST', body });
      return isFailure(answer) ? answer : answer.json.inquiry;
    },
  };
}

/** Waits a second for a view's first page, so that the layout stays. */
export async function withFirstPage(api: Api): Promise<Api> {
  let first: ReturnType<Api['list']> | undefined = api.list();
  await Promise.race([first, sleep(FIRST_PAGE_WAIT)]);
  return {
    ...api,
    async list(query) {
      const answer = query === undefined ? first : undefined;
      first = undefined;
      return answer ?? api.list(query);
    },
  };
}

/** The query of `<?before=…&limit=…>; rel="next"` (RFC 8288), with a higher limit. */
function parseNext(link: string): string | undefined {
  const [, query] = /<(\?[^>]*)>; *rel="?next\b/.exec(link) ?? [];
  return query?.replace(
    /\blimit=(\d+)/,
    (_, limit) => `limit=${Math.min(MAX_PAGE_SIZE, 2 * Number(limit))}`,
  );
}

export const isInquiry = (value: unknown): value is contract.Inquiry => {
  const { id, subject, body, created_at } = toRecord(value);
  return [id, subject, body, created_at].every(isText);
};

const isList = (json: object): json is contract.InquiryListResponse => {
  const { inquiries } = toRecord(json);
  return Array.isArray(inquiries) && inquiries.every(isInquiry);
};

const isCreated = (json: object): json is contract.CreateInquiryResponse =>
  isInquiry(toRecord(json)['inquiry']);

const isUnauthorized = ({ status }: Response, json: object): boolean =>
  status === 401 && isText(toRecord(json)['message']);

function toFailure(response: Response, json: object): Failure {
  const { error, message } = toRecord(json);
  const text = isText(message) && { message };
  if (isUnauthorized(response, json)) return { kind: 'signed-out', mayBeDone: false, ...text };
  const kind = isText(error) ? KINDS[error] : undefined;
  const retryAfter = Number(response.headers.get('Retry-After') ?? '');
  const later = retryAfter > 0 && { retryAfter };
  if (kind !== undefined) return { kind, mayBeDone: kind === 'conflict', ...later, ...text };
  // The gateway throttles before it passes a request on.
  if (response.status === 429 && text) return { kind: 'busy', mayBeDone: false, ...text };
  return { kind: 'server', mayBeDone: true };
}
