import { randomInt } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import { parseCreateInquiryRequest, parseListQuery, timeOf } from './contract.ts';
import type { CreateInquiryResponse, Inquiry, ListQuery } from './contract.ts';
import { refusals, type ApiError } from './errors.ts';
import type { Identity } from './identity.ts';
import type { Language } from './text/languages.ts';
import { HOUR, LAMBDA_PAYLOAD_LIMIT } from './limits.ts';

/** The requests of one invocation to the store: what ends them, and how many there were. */
export interface StoreCall {
  /** Ends requests, retries and pages of the invocation. */
  signal: AbortSignal;
  /** Requests sent to the database, retries and pages included. The store adds to it. */
  attempts: number;
}

/** The result of storing an inquiry. */
export type PutResult =
  /** It is stored, or was stored before with the same key: then this is the id of that inquiry. */
  | { id: string }
  /** Nothing was stored. */
  | { refusal: Exclude<keyof typeof refusals, 'limit'> }
  /** Nothing was stored: the hour has as many inquiries of the person as the limit allows. */
  | { refusal: 'limit'; limit: Limit };

/** The most inquiries that a person, whatever the email, may store in the hour of `time` in milliseconds. docs/adr/0091 */
export interface Limit {
  most: number;
  time: number;
}

/** What a request says besides the inquiry, and the limit. */
export interface PutOptions {
  limit?: Limit | undefined;
  /** The idempotency key: the first inquiry of the owner with it in 24 hours is stored. docs/adr/0090 */
  key?: string | undefined;
  /** Kept for the mails to the owner. docs/adr/0080 */
  language?: Language | undefined;
  /** Whether the issuer has verified the email; default: no. Kept for the mails to the owner. docs/adr/0080 */
  isEmailVerified?: boolean | undefined;
}

/** The one port: where inquiries are kept. They are appended and read, never changed. docs/adr/0009 */
export interface InquiryStore {
  /** Stores a new inquiry; once it resolves to an id, the inquiry is stored. Safe to retry. */
  put(inquiry: Inquiry, call: StoreCall, options?: PutOptions): Promise<PutResult>;
  /**
   * Yields the inquiries of one owner page by page, newest first, strongly consistent; a page is read when it is
   * asked for. It yields all of them or rejects. `limit` bounds the first page only, to one more than that: the extra
   * inquiry shows that there are older ones. Expired inquiries are not yielded.
   */
  list(owner: Identity, query: ListQuery, call: StoreCall): AsyncIterableIterator<Inquiry[]>;
}

export interface InquiriesOptions {
  /** The most inquiries that one person (`sub`) may send in an hour of the clock. Default: any number. docs/adr/0091 */
  inquiriesPerHour?: number | undefined;
  /**
   * Milliseconds since the epoch. When it runs backwards, ids and `created_at` stay at the latest millisecond seen until
   * the clock has caught up.
   */
  now?: () => number;
}

/** The two use cases. */
export type Inquiries = ReturnType<typeof createInquiries>;

/** No clock rollback, in milliseconds, is large enough to reset the generator: ids never go backwards. */
const MAX_ROLLBACK = 2 ** 48 - 1;

/**
 * Bytes that the inquiries of one list may take in Lambda's response, with a margin for the status, the headers and
 * the rest of the body, in which the email may be as long as a token allows.
 */
const LIST_BUDGET = LAMBDA_PAYLOAD_LIMIT - 64 * 1024;

/**
 * Bytes of the JSON of an inquiry in Lambda's response, where it is part of a JSON string: quotes and backslashes are escaped.
 *
 * @param fields - How many there are; each has quotes around its name and around its value, a string.
 */
function sizeOf(json: string, fields: number): number {
  let size = Buffer.byteLength(json) + 4 * fields;
  for (let at = json.indexOf('\\'); at !== -1; at = json.indexOf('\\', at + 2)) {
    size += json[at + 1] === '"' || json[at + 1] === '\\' ? 2 : 1;
  }
  return size;
}

function toError(refused: Extract<PutResult, { refusal: string }>): ApiError {
  if (refused.refusal !== 'limit') return refusals[refused.refusal]();
  const { most, time } = refused.limit;
  // Rounded up: a client that waits as long meets the next hour.
  return refusals.limit(most, Math.ceil((HOUR - (time % HOUR)) / 1_000));
}

/** Wires the use cases. Create them once per process: ids increase strictly within one instance. */
export function createInquiries(
  store: InquiryStore,
  { inquiriesPerHour, now = Date.now }: InquiriesOptions = {},
) {
  const generator = new V7Generator({
    // The package's own source of random numbers would load Node's Web Crypto in every cold start.
    nextUint32: () => randomInt(2 ** 32),
  });
  generator.setRollbackAllowance(MAX_ROLLBACK);

  return {
    /**
     * @param parameters - The query parameters of the event, or undefined.
     * @returns JSON of an InquiryListResponse with the newest inquiries that fit into one response, and the query for
     * the older ones, when there are any.
     * @throws ApiError 400 when a parameter is malformed.
     */
    async list(owner: Identity, parameters: unknown, call: StoreCall) {
      const query = parseListQuery(parameters);
      let listed = '';
      let count = 0;
      let size = 0;
      let before: string | undefined;
      const toResult = (next?: ListQuery) => ({
        json: `{"email":${JSON.stringify(owner.email)},"count":${count},"inquiries":[${listed}]}`,
        next,
      });
      for await (const page of store.list(owner, query, call)) {
        for (const inquiry of page) {
          const json = `${listed && ','}${JSON.stringify(inquiry)}`;
          size += sizeOf(json, Object.keys(inquiry).length);
          if (before && (count === query.limit || size > LIST_BUDGET)) {
            return toResult({ ...query, before });
          }
          listed += json;
          count++;
          before = inquiry.id;
        }
      }
      return toResult();
    },

    /**
     * Stores an inquiry, or finds the one that the owner has stored with the same key.
     *
     * @throws ApiError 400 when `json` is not a CreateInquiryRequest, 409 when a request with the key is being processed,
     * 413 when it is too large to store, 422 when the key was used for another text, 429 when the owner has
     * reached the limit or sends too many at once.
     */
    async create(
      owner: Identity,
      json: unknown,
      call: StoreCall,
      options: PutOptions = {},
    ): Promise<CreateInquiryResponse & { isReplay: boolean }> {
      const request = parseCreateInquiryRequest(json);
      const toInquiry = (id: string): Inquiry => ({
        id,
        cognito_sub: owner.sub,
        email: owner.email,
        ...request,
        // One reading of the clock: that of the id. docs/adr/0009
        created_at: new Date(timeOf(id)).toISOString(),
      });
      const time = now();
      const inquiry = toInquiry(generator.generateOrResetWithTs(time).toString());
      const limit = inquiriesPerHour === undefined ? undefined : { most: inquiriesPerHour, time };
      const result = await store.put(inquiry, call, { ...options, limit });
      if ('refusal' in result) throw toError(result);
      // A replay is the first response again: its id has the time, and the text is the same.
      const isReplay = result.id !== inquiry.id;
      return { inquiry: isReplay ? toInquiry(result.id) : inquiry, isReplay };
    },
  };
}
