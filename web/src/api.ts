/** The client of the API: every outcome is a value, and a request whose token is refused is sent again once. */
import type * as contract from '../../src/contract.ts';
import { isText, parseJson, toRecord } from './narrow.ts';
import { SignedOut, type Session } from './user.ts';

/** Why a request failed, as far as it can be known. */
export interface Failure {
  kind:
    | 'signed-out'
    | 'too-large'
    | 'busy' // too many requests
    | 'limit' // the user has sent as many inquiries as the service takes in an hour
    | 'conflict' // a request with the same key is being processed
    | 'reused' // the key was used for an inquiry with another text
    | 'refused' // the message says why
    | 'offline' // no response, and the browser says that it has no network
    | 'unreachable' // no response, or none in time
    | 'server'; // the service failed
  /** Whether the request may have succeeded: the response was lost, or the service failed half-way. */
  mayBeDone: boolean;
  /** Of the service. */
  message?: string;
  /** Seconds after which the request can be sent again. */
  retryAfter?: number;
}

export interface Page {
  /** Newest first. */
  inquiries: contract.Inquiry[];
  /** The query for the older inquiries; undefined when there are none. */
  next: string | undefined;
}

export type Api = ReturnType<typeof createApi>;

/** The compiler checks that it is the service's path; nothing of src/ is imported into the bundle. */
const PATH: typeof contract.inquiriesPath = '/inquiries';
/** Milliseconds; the gateway gives up after 30 seconds. */
const TIMEOUT = 35_000;
/** Milliseconds that a view waits for the list. */
const FIRST_PAGE_WAIT = 1_000;
/** Inquiries of the first page. Each further page is twice as large, up to what the service allows. */
const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;
/** What a status says; another one from 400 to 499 is a refusal. */
const KINDS: Partial<Record<number, Failure['kind']>> = {
  401: 'signed-out',
  409: 'conflict',
  413: 'too-large',
  422: 'reused',
  429: 'busy',
};

export function isFailure(value: object): value is Failure {
  return 'kind' in value && 'mayBeDone' in value;
}

/** @param baseUrl - Without `/inquiries` and without a slash at the end. */
export function createApi(baseUrl: string, session: Session, isOnline: () => boolean) {
  /** Resolves to the response when it has the status of success. */
  const send = async (
    success: number,
    query: string,
    headers: Record<string, string> = {},
    request: RequestInit = {},
  ): Promise<{ json: unknown; link: string | null } | Failure> => {
    let token: string | undefined;
    let mayBeDone = false;
    const attempt = async (): Promise<Response> => {
      const signal = AbortSignal.timeout(TIMEOUT);
      mayBeDone = false;
      token = await session.token(token);
      mayBeDone = true;
      headers['Authorization'] = `Bearer ${token}`;
      return fetch(baseUrl + PATH + query, { ...request, headers, signal });
    };
    try {
      let response = await attempt();
      // 401: the request was not processed, so it can be sent again.
      if (response.status === 401) response = await attempt();
      const json = parseJson(await response.text());
      if (response.status === success && json !== undefined) {
        return { json, link: response.headers.get('Link') };
      }
      return toFailure(response.status, json, response.headers.get('Retry-After') ?? '');
    } catch (error) {
      if (error instanceof SignedOut) return { kind: 'signed-out', mayBeDone: false };
      return { kind: isOnline() ? 'unreachable' : 'offline', mayBeDone };
    }
  };

  return {
    /** @param query - `next` of an earlier page. Default: the newest page. */
    async list(query = `?limit=${PAGE_SIZE}`): Promise<Page | Failure> {
      const answer = await send(200, query);
      if (isFailure(answer)) return answer;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract of the status
      const { inquiries } = answer.json as contract.InquiryListResponse;
      return { inquiries, next: parseNext(answer.link ?? '') };
    },
    /**
     * @param key - Of the requests with this key, the service stores one: all resolve to the same inquiry.
     * @param language - Of the form. Mails about the inquiry are written in it. docs/adr/0080
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
      const answer = await send(201, '', headers, { method: 'POST', body });
      if (isFailure(answer)) return answer;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract of the status
      return (answer.json as contract.CreateInquiryResponse).inquiry;
    },
  };
}

/**
 * Requests the newest inquiries at once, for the first request of a view. Resolves when they are here, so that the view
 * has its layout from the beginning, or after a second.
 */
export async function withFirstPage(api: Api): Promise<Api> {
  let first: ReturnType<Api['list']> | undefined = api.list();
  await Promise.race([first, new Promise((resolve) => setTimeout(resolve, FIRST_PAGE_WAIT))]);
  return {
    ...api,
    async list(query) {
      const answer = query === undefined ? first : undefined;
      first = undefined;
      return answer ?? api.list(query);
    },
  };
}

/**
 * The query of the Link with the relation `next` (RFC 8288), which the service sends as
 * `<?before=…&limit=…>; rel="next"`, with a higher limit.
 */
function parseNext(link: string): string | undefined {
  const [, query] = /<(\?[^>]*)>; *rel="?next\b/.exec(link) ?? [];
  return query?.replace(
    /\blimit=(\d+)/,
    (_, limit) => `limit=${Math.min(MAX_PAGE_SIZE, 2 * Number(limit))}`,
  );
}

/** @param header - Retry-After in seconds, as the service sends it; a date (of a proxy) is not read. */
function toFailure(status: number, json: unknown, header: string): Failure {
  const { message } = toRecord(json);
  const later = /^\d{1,5}$/.test(header) && { retryAfter: Number(header) };
  // The gateway's own 429 has no Retry-After.
  const limit = status === 429 && later ? 'limit' : undefined;
  // An unexpected success comes from a proxy, or its body was cut off.
  const kind = limit ?? KINDS[status] ?? (status >= 400 && status < 500 ? 'refused' : 'server');
  const mayBeDone = kind === 'conflict' || kind === 'server';
  return { kind, mayBeDone, ...later, ...(isText(message) && { message }) };
}
