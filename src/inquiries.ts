import { randomInt } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import { parseCreateInquiryRequest, parseListQuery, timeOf } from './contract.ts';
import type { CreateInquiryResponse, Inquiry, ListQuery } from './contract.ts';
import { refusals, type ApiError } from './errors.ts';
import type { Identity } from './identity.ts';
import type { Language } from '../text/languages.ts';
import { HOUR, LAMBDA_PAYLOAD_LIMIT } from './limits.ts';

export interface StoreCall {
  signal: AbortSignal;
  /** Requests sent, including retries and further pages. */
  attempts: number;
}

export type PutResult =
  /** The id of the stored inquiry; for a known key, of the one stored first. */
  | { id: string }
  | { refusal: Exclude<keyof typeof refusals, 'limit'> }
  | { refusal: 'limit'; limit: Limit };

/** How many inquiries a person may send in the hour of `time` (milliseconds). */
export interface Limit {
  most: number;
  time: number;
}

export interface PutOptions {
  limit?: Limit | undefined;
  key?: string | undefined;
  /** Seconds for which the idempotency key is kept. Default: a day. */
  keyKept?: number | undefined;
  language?: Language | undefined;
  /** Default: false. */
  isEmailVerified?: boolean | undefined;
  /** The id of the inquiry that this one follows. */
  follows?: string | undefined;
}

/** Inquiries are appended and read, never changed. docs/adr/0009 */
export interface InquiryStore {
  /** A returned id means that the inquiry is stored. It is safe to retry. */
  put(inquiry: Inquiry, call: StoreCall, options?: PutOptions): Promise<PutResult>;
  /**
   * Yields an owner's inquiries on demand, newest first and strongly consistent. The first page may have one more than
   * `limit`, to show that there are older ones.
   */
  list(owner: Identity, query: ListQuery, call: StoreCall): AsyncIterableIterator<Inquiry[]>;
}

export interface InquiriesOptions {
  /** Default: no limit. */
  inquiriesPerHour?: number | undefined;
  /** Milliseconds. While it runs backwards, ids and `created_at` keep the latest millisecond. */
  now?: () => number;
}

export type Inquiries = ReturnType<typeof createInquiries>;

/** Milliseconds. A clock that runs backwards never resets the generator. */
const MAX_ROLLBACK = 2 ** 48 - 1;

/** Bytes of a list's inquiries; the rest is for other fields and headers. */
const LIST_BUDGET = LAMBDA_PAYLOAD_LIMIT - 64 * 1024;

/**
 * Bytes of JSON as an escaped string in Lambda's response.
 *
 * @param fields - Their number; each has four quotes.
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
  // Rounded up, so that a client that waits reaches the next hour.
  return refusals.limit(most, Math.ceil((HOUR - (time % HOUR)) / 1_000));
}

/** Create one per process: ids increase within an instance. */
export function createInquiries(
  store: InquiryStore,
  { inquiriesPerHour, now = Date.now }: InquiriesOptions = {},
) {
  const generator = new V7Generator({
    // The package's own source would load Web Crypto in every cold start.
    nextUint32: () => randomInt(2 ** 32),
  });
  generator.setRollbackAllowance(MAX_ROLLBACK);

  return {
    /**
     * @returns JSON of an InquiryListResponse that fits into a response, and the query for older inquiries, if any.
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

    /** @throws ApiError 400 unless `json` is a CreateInquiryRequest, or one of the {@link refusals}. */
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
        created_at: new Date(timeOf(id)).toISOString(),
      });
      const time = now();
      const inquiry = toInquiry(generator.generateOrResetWithTs(time).toString());
      const limit = inquiriesPerHour === undefined ? undefined : { most: inquiriesPerHour, time };
      const result = await store.put(inquiry, call, { ...options, limit });
      if ('refusal' in result) throw toError(result);
      // A replay equals the first response byte for byte.
      const isReplay = result.id !== inquiry.id;
      return { inquiry: isReplay ? toInquiry(result.id) : inquiry, isReplay };
    },
  };
}
