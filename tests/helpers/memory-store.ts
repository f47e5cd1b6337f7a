import type { Inquiry } from '../../src/contract.ts';
import type { InquiryStore } from '../../src/inquiries.ts';

/** A store that keeps inquiries in an array; subject and body together fit up to `capacity` characters. */
export function createMemoryStore(
  overrides: Partial<InquiryStore> = {},
  capacity = 100,
): InquiryStore & { rows: Inquiry[] } {
  const rows: Inquiry[] = [];
  return {
    rows,
    async put(inquiry) {
      if (inquiry.subject.length + inquiry.body.length > capacity) return 'inquiry';
      rows.push(inquiry);
      return undefined;
    },
    async *list({ sub, email }, { before = 'g', limit = Infinity }) {
      const found = rows.filter((row) => row.cognito_sub === sub && row.email === email && row.id < before);
      yield found.toReversed().slice(0, limit + 1);
    },
    ...overrides,
  };
}
