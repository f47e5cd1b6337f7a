import { V7Generator } from 'uuidv7';
import { parseCreateInquiryRequest, parseListQuery } from './contract.ts';
import type { CreateInquiryResponse, Inquiry, ListQuery } from './contract.ts';
import { payloadTooLarge } from './errors.ts';
import type { Identity } from './identity.ts';
import { LAMBDA_PAYLOAD_LIMIT } from './limits.ts';

/** What one invocation may spend on the store, and what it has spent. */
export interface StoreCall {
  /** Ends requests, retries and pages of the invocation. */
  readonly signal: AbortSignal;
  /** Requests sent to the database, retries and pages included. The store adds to it. */
  attempts: number;
}

/** The one port: where inquiries are kept. They are appended and read, never changed. docs/adr/0009 */
export interface InquiryStore {
  /**
   * Stores a new inquiry; once it resolves to undefined, the inquiry is stored. Safe to retry.
   *
   * @returns What is too large to be stored, if anything; then nothing was sent.
   */
  put(inquiry: Inquiry, call: StoreCall): Promise<'email' | 'inquiry' | undefined>;
  /**
   * Yields the inquiries of one owner page by page, newest first, strongly consistent; a page is read when it is
   * asked for. It yields all of them or rejects. A `limit` bounds what is read at first: there may be more inquiries,
   * of which the next one shows that older ones remain. What has expired is not yielded.
   */
  list(owner: Identity, query: ListQuery, call: StoreCall): AsyncIterableIterator<Inquiry[]>;
}

/** The two use cases. */
export type Inquiries = ReturnType<typeof createInquiries>;

/** No clock rollback, in milliseconds, is large enough to reset the generator: ids never go backwards. */
const ANY_ROLLBACK = 2 ** 48 - 1;

/**
 * Bytes that the inquiries of one list may take in Lambda's response, with a margin for the status, the headers and
 * the rest of the body, in which the email may be as long as a token allows.
 */
const LIST_BUDGET = LAMBDA_PAYLOAD_LIMIT - 64 * 1024;

/** Bytes of JSON in Lambda's response, where it is part of a JSON string. */
const exactSize = (json: string): number => Buffer.byteLength(JSON.stringify(json)) - 2;
/** At most 3 bytes for each UTF-16 unit: 3 in UTF-8, or 2 for an escaped quote or backslash. */
const upperBound = (json: string): number => 3 * json.length;

/**
 * Wires the use cases. Create them once per process: ids increase strictly within one instance.
 *
 * @param now - Milliseconds since the epoch. When it runs backwards, ids and `created_at` stay at the latest
 * millisecond seen until the clock has caught up.
 * @param random - The source of the random bits of ids. Default: the runtime's cryptographic generator.
 */
export function createInquiries(
  store: InquiryStore,
  now: () => number = Date.now,
  random?: { nextUint32(): number },
) {
  const generator = new V7Generator(random);
  generator.setRollbackAllowance(ANY_ROLLBACK);

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
      // Most lists are small enough by the upper bound, and are not measured.
      let sizeOf = upperBound;
      let size = 0;
      let before: string | undefined;
      const toResult = (next?: ListQuery) => ({
        json: `{"email":${JSON.stringify(owner.email)},"count":${count},"inquiries":[${listed}]}`,
        next,
      });
      for await (const page of store.list(owner, query, call)) {
        for (const inquiry of page) {
          const json = `${listed && ','}${JSON.stringify(inquiry)}`;
          size += sizeOf(json);
          if (size > LIST_BUDGET && sizeOf === upperBound) {
            sizeOf = exactSize;
            size = exactSize(listed + json);
          }
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

    /** @throws ApiError 400 when `json` is not a CreateInquiryRequest, 413 when it is too large to store. */
    async create(owner: Identity, json: unknown, call: StoreCall): Promise<CreateInquiryResponse> {
      const { subject, body } = parseCreateInquiryRequest(json);
      const id = generator.generateOrResetWithTs(now());
      const inquiry: Inquiry = {
        id: id.toString(),
        cognito_sub: owner.sub,
        email: owner.email,
        subject,
        body,
        // One reading of the clock: the first 48 bits of the id are its milliseconds (RFC 9562, 5.7). docs/adr/0010
        created_at: new Date(Number.parseInt(id.toHex().slice(0, 12), 16)).toISOString(),
      };
      const oversized = await store.put(inquiry, call);
      if (oversized) throw payloadTooLarge(oversized);
      return { inquiry };
    },
  };
}
