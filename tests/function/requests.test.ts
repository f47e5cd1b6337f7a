/** What the bundle has in place of the requests makes the same inputs as ElectroDB, for any values. */
import {
  array,
  assert,
  constantFrom,
  nat,
  oneof,
  option,
  property,
  record,
  string,
} from 'fast-check';
import { expect, it } from 'vitest';
import { compileRequests } from '../../scripts/compile-requests.ts';
import { inquiryFields, inquirySchema, type Inquiry } from '../../src/contract.ts';
import { createRequests } from '../../src/entities/requests.ts';
import { LANGUAGES } from '../../src/languages.ts';

const source = compileRequests();
const compiled = (await import(
  `data:text/javascript,${encodeURIComponent(source)}`
)) as typeof import('../../src/entities/requests.ts');

// oxfmt-ignore
const HOSTILE = [
  '', '#', '#email_', '$inquiry_1#id_', '${id}', ':sk1', '"', '\\', '\0', '`', '\uD800', '\uE000\uE001', 'é', 'ANA',
  '__proto__', 'undefined',
];
const hostile = constantFrom(...HOSTILE);
const text = oneof(
  hostile,
  string({ unit: 'binary' }),
  array(hostile, { maxLength: 6 }).map((parts) => parts.join('')),
);
type TextFields = Record<keyof Inquiry, typeof text>;
const number = nat(2 ** 31);
const owner = { cognito_sub: text, email: text };
const values = record({
  inquiry: record(
    {
      ...(Object.fromEntries(inquiryFields.map((field) => [field, text])) as TextFields),
      id: text.filter((id) => id !== ''),
      language: constantFrom(...LANGUAGES),
      email_verified: constantFrom(true, false),
      expires_at: number,
    },
    { requiredKeys: [...inquirySchema.required] },
  ),
  key: option(
    record({ ...owner, key: text, payload: text, inquiry: text, expires_at: number, now: number }),
    { nil: undefined },
  ),
  rate: option(record({ owner_hour: text, expires_at: number, most: number }), { nil: undefined }),
});

const electro = createRequests('inquiries');
const ours = compiled.createRequests('inquiries');

it('the compiled requests are those of ElectroDB, for any values', () => {
  assert(
    property(values, ({ inquiry, key, rate }) => {
      const { id, cognito_sub, email } = inquiry;
      const listed = { owner: { cognito_sub, email } };
      expect(ours.putInquiry({ inquiry })).toEqual(electro.putInquiry({ inquiry }));
      const stored = { inquiry, key, rate };
      expect(ours.storeInquiry(stored)).toEqual(electro.storeInquiry(stored));
      const known = { ...listed, digest: id };
      expect(ours.findKey(known)).toEqual(electro.findKey(known));
      expect(ours.listInquiries(listed)).toEqual(electro.listInquiries(listed));
      expect(ours.toStartKey({ ...listed, id })).toEqual(electro.toStartKey({ ...listed, id }));
    }),
    { numRuns: 1_000 },
  );
});

it('the compiled module has every request and loads nothing', () => {
  expect(Object.keys(ours)).toEqual(Object.keys(electro));
  expect(source).not.toMatch(/\bimport\b|[\ue000-\uf8ff]|7\d{15}/);
});
