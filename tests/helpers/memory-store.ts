import type { Inquiry } from '../../src/contract.ts';
import type { InquiryStore } from '../../src/inquiries.ts';

/** A store that keeps inquiries in an array; subject and body together fit up to 100 characters. */
export function createMemoryStore(overrides: Partial<InquiryStore> = {}): InquiryStore & { rows: Inquiry[] } {
  const rows: Inquiry[] = [];
  return {
    rows,
    findOversized: ({ subject, body }) => (subject.length + body.length > 100 ? 'inquiry' : undefined),
    async put(inquiry) {
      rows.push(inquiry);
    },
    async *list({ sub, email }, { before = 'g', limit = Infinity }) {
      const found = rows.filter((row) => row.cognito_sub === sub && row.email === email && row.id < before);
      yield found.toReversed().slice(0, limit + 1);
    },
    ...overrides,
  };
}
