/** What the mailer reads of inquiries. */
import type { Inquiry } from '../contract.ts';
import { findInIndex, readIndex } from '../entities/inquiry-index.ts';
import type { IndexedInquiry, IndexQuery } from '../entities/inquiry-index.ts';
import type { createInquiryEntity } from '../entities/inquiry.ts';
import { isTestAddress } from '../limits.ts';
import type { Row } from './rows.ts';

/** Milliseconds until an inquiry is certainly in the index: a POST takes 30 s at most. */
export const INDEX_LAG = 120_000;

export type Keys = Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>;

/** Creates the reader. Reads of the table are strongly consistent; it rejects with ElectroDB's error, whose cause is the SDK's. */
export function createInquiryReader(inquiries: ReturnType<typeof createInquiryEntity>) {
  const findKeys = async (id: string, signal: AbortSignal): Promise<IndexedInquiry | undefined> =>
    findInIndex(inquiries, id, signal);

  /** @returns undefined when the inquiry is not in the table. */
  const read = async ({ cognito_sub, email, id }: Keys, abortSignal: AbortSignal) => {
    const options = { consistent: true, abortSignal } as const;
    return (await inquiries.get({ cognito_sub, email, id }).go(options)).data ?? undefined;
  };

  return {
    /** Finds what the index has of an inquiry. */
    findKeys,
    read,

    /** Finds an inquiry by its id, once the index has it. */
    async find(id: string, signal: AbortSignal): Promise<Row | undefined> {
      const keys = await findKeys(id, signal);
      return keys && read(keys, signal);
    },

    /** Yields the inquiries of the index in the query's order, without those of smoke tests. */
    async *list(query: IndexQuery): AsyncGenerator<IndexedInquiry> {
      for await (const page of readIndex(inquiries, query)) {
        yield* page.filter(({ email }) => !isTestAddress(email));
      }
    },
  };
}
