import { V7Generator } from 'uuidv7';
import { parseCreateInquiryRequest, parseListQuery } from './contract.ts';
import type { CreateInquiryResponse, Inquiry, InquiryListResponse, ListQuery } from './contract.ts';
import { payloadTooLarge } from './errors.ts';
import type { Identity } from './identity.ts';

/** The one port: where inquiries are kept. They are appended and read, never changed. docs/adr/0009 */
export interface InquiryStore {
  /** Whether the inquiry fits into one item of the store. */
  fits(inquiry: Inquiry): boolean;
  /** Stores one new inquiry; when it resolves, the inquiry is stored. Safe to retry. */
  put(inquiry: Inquiry, signal: AbortSignal): Promise<void>;
  /**
   * The inquiries of one owner, newest first, those just stored included, page by page; the next page is read when
   * it is asked for. Whole, or it rejects. With a `limit` a page has one more: it tells whether older ones remain.
   */
  list(owner: Identity, query: ListQuery, signal: AbortSignal): AsyncIterable<Inquiry[]>;
}

/** The two use cases. */
export interface Inquiries {
  /**
   * @param parameters - The query parameters as they came, or undefined.
   * @returns The newest inquiries that fit into one response, and `next`, the query that lists the older ones,
   * when there are any.
   * @throws ApiError 400 when a parameter is malformed.
   */
  list(
    owner: Identity,
    parameters: unknown,
    signal: AbortSignal,
  ): Promise<{ list: InquiryListResponse; next: ListQuery | undefined }>;
  /** @throws ApiError 400 when `json` is not a CreateInquiryRequest, 413 when it is too large to store. */
  create(owner: Identity, json: unknown, signal: AbortSignal): Promise<CreateInquiryResponse>;
}

/** A clock that runs backwards may not reorder ids: no rollback is large enough to reset the generator. */
const ANY_ROLLBACK = 2 ** 48 - 1;

/**
 * Bytes that the inquiries of one list may take in the response: Lambda's 6 MB (6,291,556 bytes) less a margin for
 * the status, the headers and the rest of the body, in which the email may be as long as a token allows.
 */
const LIST_BUDGET = 6_291_556 - 64 * 1024;

/** Bytes of a value in Lambda's response: JSON inside a JSON string, so quotes and escapes are escaped again. */
const sizeInResponse = (value: unknown): number => Buffer.byteLength(JSON.stringify(JSON.stringify(value)));

/** Measures inquiries of one owner, in bytes of Lambda's response. What all of them share is measured once. */
function createMeasure({ sub, email }: Identity): (inquiry: Inquiry) => number {
  const empty: Inquiry = { id: '', cognito_sub: sub, email, subject: '', body: '', created_at: '' };
  const shared = sizeInResponse(empty) - 2 * sizeInResponse('');
  return ({ id, subject, body, created_at }) =>
    shared + sizeInResponse(id + created_at + subject) + sizeInResponse(body);
}

/**
 * Wires the use cases. Create them once per process: ids increase strictly within one instance.
 *
 * @param now - Milliseconds since the epoch. When it runs backwards, ids and `created_at` stay at the latest
 * millisecond seen until the clock has caught up.
 * @param random - Where the random bits of ids come from. Default: the runtime's cryptographic generator.
 */
export function createInquiries(
  store: InquiryStore,
  now: () => number = Date.now,
  random?: { nextUint32(): number },
): Inquiries {
  const generator = new V7Generator(random);
  generator.setRollbackAllowance(ANY_ROLLBACK);

  return {
    async list(owner, parameters, signal) {
      const query = parseListQuery(parameters);
      const inquiries: Inquiry[] = [];
      const answer = (next?: ListQuery) => ({
        list: { email: owner.email, count: inquiries.length, inquiries },
        next,
      });
      const measure = createMeasure(owner);
      let size = 0;
      for await (const page of store.list(owner, query, signal)) {
        for (const inquiry of page) {
          size += measure(inquiry);
          const last = inquiries.at(-1);
          if (last && (inquiries.length === query.limit || size > LIST_BUDGET)) {
            return answer({ ...query, before: last.id });
          }
          inquiries.push(inquiry);
        }
      }
      return answer();
    },

    async create(owner, json, signal) {
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
      if (!store.fits(inquiry)) throw payloadTooLarge();
      await store.put(inquiry, signal);
      return { inquiry };
    },
  };
}
