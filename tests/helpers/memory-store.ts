import type { Inquiry } from '../../src/contract.ts';
import type { InquiryStore, PutResult } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';

/** A store that keeps inquiries in an array; subject and body together fit up to `capacity` characters. */
export function createMemoryStore(
  overrides: Partial<InquiryStore> = {},
  capacity = 100,
): InquiryStore & { rows: Inquiry[] } {
  const rows: Inquiry[] = [];
  /** The first inquiry of each owner and key; they do not expire. */
  const keys = new Map<string, Inquiry>();
  /** By person and hour. */
  const counts = new Map<string, number>();
  const toKey = ({ cognito_sub, email }: Inquiry, key: string): string =>
    JSON.stringify([cognito_sub, email, key]);
  const find = (inquiry: Inquiry, key: string): PutResult | undefined => {
    const { id = '', subject, body } = keys.get(toKey(inquiry, key)) ?? {};
    if (id === '') return undefined;
    return subject === inquiry.subject && body === inquiry.body ? { id } : { refusal: 'reused' };
  };
  return {
    rows,
    async put(inquiry, _call, { key, limit } = {}) {
      if (inquiry.subject.length + inquiry.body.length > capacity) return { refusal: 'inquiry' };
      const known = key === undefined ? undefined : find(inquiry, key);
      if (known !== undefined) return known;
      const hour = `${inquiry.cognito_sub} ${Math.floor((limit?.time ?? 0) / HOUR)}`;
      const counted = counts.get(hour) ?? 0;
      if (limit !== undefined && counted >= limit.most) return { refusal: 'limit' };
      counts.set(hour, counted + 1);
      rows.push(inquiry);
      if (key !== undefined) keys.set(toKey(inquiry, key), inquiry);
      return { id: inquiry.id };
    },
    async *list({ sub, email }, { before = 'g', limit = Infinity }) {
      const found = rows.filter(
        (row) => row.cognito_sub === sub && row.email === email && row.id < before,
      );
      yield found.toReversed().slice(0, limit + 1);
    },
    ...overrides,
  };
}
