/** What the bundle has in place of the requests makes the same inputs as ElectroDB, for any values. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileRequests } from '../../scripts/compile-requests.ts';
import { inquiryFields, inquirySchema, type Inquiry } from '../../src/contract.ts';
import { createRequests } from '../../src/entities/requests.ts';
import { LANGUAGES } from '../../src/languages.ts';

const source = compileRequests();
const url = `data:text/javascript,${encodeURIComponent(source)}`;
const compiled = (await import(url)) as { createRequests: typeof createRequests };
const electro = createRequests('inquiries');
const ours = compiled.createRequests('inquiries');

// oxfmt-ignore
const HOSTILE = fc.constantFrom(
  '', '#', '#email_', '$inquiry_1#id_', '${id}', ':sk1', '"', '\\', '\0', '`', '\uD800', '\uE000\uE001', 'é', 'ANA',
  '__proto__', 'undefined',
);
const joined = fc.array(HOSTILE, { maxLength: 6 }).map((parts) => parts.join(''));
const text = fc.oneof(HOSTILE, joined, fc.string({ unit: 'binary' }));
const texts = Object.fromEntries(inquiryFields.map((field) => [field, text])) as Record<
  keyof Inquiry,
  typeof text
>;
const number = fc.nat(2 ** 31);
const fields = {
  ...texts,
  id: text.filter((id) => id !== ''),
  language: fc.constantFrom(...LANGUAGES),
  email_verified: fc.boolean(),
  expires_at: number,
};
const owner = { cognito_sub: text, email: text };
const key = { ...owner, key: text, payload: text, inquiry: text, expires_at: number, now: number };
const rate = { owner_hour: text, expires_at: number, most: number };
const values = fc.record(
  {
    inquiry: fc.record(fields, { requiredKeys: [...inquirySchema.required] }),
    key: fc.record(key),
    rate: fc.record(rate),
  },
  { requiredKeys: ['inquiry'] },
);

it('the compiled requests are those of ElectroDB, for any values', () => {
  const compare = fc.property(values, (stored) => {
    const { inquiry } = stored;
    const { id, cognito_sub, email } = inquiry;
    const listed = { owner: { cognito_sub, email } };
    const makeAll = (requests: typeof electro) => [
      requests.putInquiry({ inquiry }),
      requests.storeInquiry(stored),
      requests.findKey({ ...listed, digest: id }),
      requests.listInquiries(listed),
      requests.toStartKey({ ...listed, id }),
    ];
    expect(makeAll(ours)).toEqual(makeAll(electro));
  });
  fc.assert(compare, { numRuns: 1_000 });
});

it('the compiled module has every request and loads nothing', () => {
  expect(Object.keys(ours)).toEqual(Object.keys(electro));
  expect(source).not.toMatch(/\bimport\b|[\ue000-\uf8ff]|7\d{15}/);
});
