import { randomInt } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import { parseCreateInquiryRequest, parseListQuery, timeOf } from './contract.ts';
import type { CreateInquiryResponse, Inquiry, ListQuery } from './contract.ts';
import { refusals, type ApiError } from './errors.ts';
import type { Identity } from './identity.ts';
import type { Language } from './text/languages.ts';
import { HOUR, LAMBDA_PAYLOAD_LIMIT } from './limits.ts';

/** What an invocation asks of the store. */
export interface StoreCall {
  signal: AbortSignal;
  /** Requests sent, retries and pages included. The store adds to it. */
  attempts: number;
}

export type PutResult =
  /** The id of the inquiry that is stored, maybe before with the same key. */
  | { id: string }
  /** Nothing was stored. */
  | { refusal: Exclude<keyof typeof refusals, 'limit'> }
  /** Nothing was stored. */
  | { refusal: 'limit'; limit: Limit };

/** The most inquiries that a person, whatever the email, may store in the hour of `time` in milliseconds. docs/adr/0091 */
export interface Limit {
  most: number;
  time: number;
}

export interface PutOptions {
  limit?: Limit | undefined;
  /** The idempotency key. docs/adr/0090 */
  key?: string | undefined;
  /** Kept for the mails to the owner. docs/adr/0080 */
  language?: Language | undefined;
  /** Default: no. */
  isEmailVerified?: boolean | undefined;
}

/** Where inquiries are kept. They are appended and read, never changed. docs/adr/0009 */
export interface InquiryStore {
  /** Once it resolves to an id, the inquiry is stored. Safe to retry. */
  put(inquiry: Inquiry, call: StoreCall, options?: PutOptions): Promise<PutResult>;
  /**
   * Yields all inquiries of an owner, newest first and strongly consistent, or rejects. A page is read when it is
   * asked for. `limit` bounds the first page only, to one more than that, which shows that there are older ones.
   */
  list(owner: Identity, query: ListQuery, call: StoreCall): AsyncIterableIterator<Inquiry[]>;
}

export interface InquiriesOptions {
  /** In an hour of the clock; default: any number. docs/adr/0091 */
  inquiriesPerHour?: number | undefined;
  /** Milliseconds. While it runs backwards, ids and `created_at` stay at the latest millisecond seen. */
  now?: () => number;
}

export type Inquiries = ReturnType<typeof createInquiries>;

/** Milliseconds. No rollback of the clock resets the generator, so ids never go backwards. */
const MAX_ROLLBACK = 2 ** 48 - 1;

/** Bytes of the inquiries of a list, with a margin for status, headers and the rest of the body. */
const LIST_BUDGET = LAMBDA_PAYLOAD_LIMIT - 64 * 1024;

/**
 * Bytes of JSON within Lambda's response, a JSON string in which quotes and backslashes are escaped.
 *
 * @param fields - How many there are: each has four quotes.
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
  // Rounded up, so that a client that waits meets the next hour.
  return refusals.limit(most, Math.ceil((HOUR - (time % HOUR)) / 1_000));
}

/** Create them once per process: ids increase strictly within one instance. */
export function createInquiries(
  store: InquiryStore,
  { inquiriesPerHour, now = Date.now }: InquiriesOptions = {},
) {
  const generator = new V7Generator({
    // The package's own source would load Node's Web Crypto in every cold start.
    nextUint32: () => randomInt(2 ** 32),
  });
  generator.setRollbackAllowance(MAX_ROLLBACK);

  return {
    /**
     * @returns JSON of an InquiryListResponse that fits into one response, and the query for older inquiries, if there
     * are any.
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

    /** @throws ApiError 400 when `json` is not a CreateInquiryRequest, otherwise of {@link refusals}. */
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
        // docs/adr/0009
        created_at: new Date(timeOf(id)).toISOString(),
      });
      const time = now();
      const inquiry = toInquiry(generator.generateOrResetWithTs(time).toString());
      const limit = inquiriesPerHour === undefined ? undefined : { most: inquiriesPerHour, time };
      const result = await store.put(inquiry, call, { ...options, limit });
      if ('refusal' in result) throw toError(result);
      // A replay is the first response again: the text is the same, and the id has the time.
      const isReplay = result.id !== inquiry.id;
      return { inquiry: isReplay ? toInquiry(result.id) : inquiry, isReplay };
    },
  };
}
