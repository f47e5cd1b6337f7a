/** What the mailer reads of inquiries. */
import type { Inquiry } from '../contract.ts';
import { findInIndex, readIndex } from '../entities/inquiry-index.ts';
import type { IndexedInquiry, IndexQuery } from '../entities/inquiry-index.ts';
import type { createInquiryEntity } from '../entities/inquiry.ts';
import { isTestAddress } from '../limits.ts';
import type { Row } from './rows.ts';
import { forEachConcurrently } from './concurrency.ts';

/** Milliseconds until an inquiry is certainly in the index: a POST takes 30 s at most. */
export const INDEX_LAG = 120_000;

export type Keys = Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>;
export type InquiryReader = ReturnType<typeof createInquiryReader>;

/** Creates the reader. Reads of the table are strongly consistent; it rejects with ElectroDB's error, whose cause is the SDK's. */
export function createInquiryReader(inquiries: ReturnType<typeof createInquiryEntity>) {
  return {
    /** Finds an inquiry by its id, once the index has it. */
    async find(id: string, abortSignal: AbortSignal): Promise<Row | undefined> {
      const keys = await findInIndex(inquiries, id, abortSignal);
      if (keys === undefined) return undefined;
      const { cognito_sub, email } = keys;
      const options = { consistent: true, abortSignal } as const;
      return (await inquiries.get({ cognito_sub, email, id }).go(options)).data ?? undefined;
    },

    /** Whether the inquiry is still in the table. */
    async exists({ cognito_sub, email, id }: Keys, abortSignal: AbortSignal): Promise<boolean> {
      const { data } = await inquiries
        .get({ cognito_sub, email, id })
        .go({ attributes: ['id'], consistent: true, abortSignal });
      return data !== null;
    },

    /** @returns undefined when it was deleted. */
    async readSubject({ cognito_sub, email, id }: Keys, abortSignal: AbortSignal) {
      const { data } = await inquiries
        .get({ cognito_sub, email, id })
        .go({ attributes: ['subject'], abortSignal });
      return data?.subject;
    },

    /** The inquiries with these ids that the index has. */
    async findAll(ids: Iterable<string>, abortSignal: AbortSignal): Promise<IndexedInquiry[]> {
      const found: IndexedInquiry[] = [];
      await forEachConcurrently(ids, async (id) => {
        const row = await findInIndex(inquiries, id, abortSignal);
        if (row !== undefined) found.push(row);
      });
      return found;
    },

    async count(query: IndexQuery): Promise<number> {
      let count = 0;
      for await (const page of readIndex(inquiries, query)) count += page.length;
      return count;
    },

    /** Yields the inquiries of the index in the query's order, without those of smoke tests. */
    async *list(query: IndexQuery): AsyncGenerator<IndexedInquiry> {
      for await (const page of readIndex(inquiries, query)) {
        yield* page.filter(({ email }) => !isTestAddress(email));
      }
    },
  };
}
