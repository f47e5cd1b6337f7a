import type { Inquiry } from '../../src/contract.ts';
import type { InquiryStore } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';

/** A store that keeps inquiries in an array; subject and body together fit up to `capacity` characters. */
export function createMemoryStore(
  overrides: Partial<InquiryStore> = {},
  capacity = 100,
): InquiryStore & { rows: Inquiry[] } {
  const rows: Inquiry[] = [];
  /** The first inquiry of each owner and key; they do not expire. */
  const keys = new Map<string, Inquiry>();
  return {
    rows,
    async put(inquiry, _call, { key, limit } = {}) {
      const { id, cognito_sub, email, subject, body } = inquiry;
      if (subject.length + body.length > capacity) return { refusal: 'inquiry' };
      const name = JSON.stringify([cognito_sub, email, key ?? id]);
      const known = keys.get(name);
      if (known !== undefined) {
        const isSame = known.subject === subject && known.body === body;
        return isSame ? { id: known.id } : { refusal: 'reused' };
      }
      if (limit) {
        const start = new Date(limit.time - (limit.time % HOUR)).toISOString();
        const counted = rows.filter(
          (row) => row.cognito_sub === cognito_sub && row.created_at >= start,
        );
        if (counted.length >= limit.most) return { refusal: 'limit', limit };
      }
      rows.push(inquiry);
      keys.set(name, inquiry);
      return { id };
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
