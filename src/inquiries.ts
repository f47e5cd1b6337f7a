import { V7Generator } from 'uuidv7';
import { parseCreateInquiryRequest } from './contract.ts';
import type { CreateInquiryResponse, Inquiry, InquiryListResponse } from './contract.ts';
import { payloadTooLarge } from './errors.ts';
import type { Identity } from './identity.ts';

/** The one port: where inquiries are kept. They are appended and read, never changed. docs/adr/0009 */
export interface InquiryStore {
  /** Whether the inquiry fits into one item of the store. */
  fits(inquiry: Inquiry): boolean;
  /** Stores one new inquiry; when it resolves, the inquiry is stored. Safe to retry. */
  put(inquiry: Inquiry, signal: AbortSignal): Promise<void>;
  /** All inquiries of one owner, newest first, those just stored included. Whole, or it rejects. */
  list(owner: Identity, signal: AbortSignal): Promise<Inquiry[]>;
}

/** The two use cases. */
export interface Inquiries {
  list(owner: Identity, signal: AbortSignal): Promise<InquiryListResponse>;
  /** @throws ApiError 400 when `json` is not a CreateInquiryRequest, 413 when it is too large to store. */
  create(owner: Identity, json: unknown, signal: AbortSignal): Promise<CreateInquiryResponse>;
}

/** A clock that runs backwards may not reorder ids: no rollback is large enough to reset the generator. */
const ANY_ROLLBACK = 2 ** 48 - 1;

/**
 * Wires the use cases. Create them once per process: ids increase strictly within one instance.
 *
 * @param now - Milliseconds since the epoch. When it runs backwards, ids and `created_at` stay at the latest
 * millisecond seen until the clock has caught up.
 */
export function createInquiries(store: InquiryStore, now: () => number = Date.now): Inquiries {
  const generator = new V7Generator();
  generator.setRollbackAllowance(ANY_ROLLBACK);

  return {
    async list(owner, signal) {
      const inquiries = await store.list(owner, signal);
      return { email: owner.email, count: inquiries.length, inquiries };
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
