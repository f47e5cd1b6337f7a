import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { inquiryFields, inquirySchema, type Inquiry } from '../../src/contract.ts';
import { createRequests as createGenerated } from '../../src/entities/requests.generated.ts';
import { createRequests } from '../../src/entities/requests.ts';
import { LANGUAGES } from '../../text/languages.ts';

const electro = createRequests('inquiries');
const generated = createGenerated('inquiries');

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
  inbox: text,
  language: fc.constantFrom(...LANGUAGES),
  email_verified: fc.boolean(),
  follows: text,
  expires_at: number,
};
const owner = { cognito_sub: text, email: text };
const key = { ...owner, key: text, payload: text, inquiry: text, expires_at: number, now: number };
const rate = { owner_hour: text, expires_at: number, most: number, key: text };
const values = fc.record(
  {
    inquiry: fc.record(fields, { requiredKeys: [...inquirySchema.required, 'inbox'] }),
    key: fc.record(key),
    rate: fc.record(rate),
  },
  { requiredKeys: ['inquiry'] },
);

it('the generated requests are those of ElectroDB, for any values', () => {
  const compare = fc.property(values, (stored) => {
    const { inquiry } = stored;
    const { id, cognito_sub, email } = inquiry;
    const listed = { owner: { cognito_sub, email } };
    const makeAll = (requests: typeof electro) => [
      requests.putInquiry({ inquiry }),
      requests.storeInquiry(stored),
      requests.findKey({ ...listed, digest: id }),
      requests.readRate({ owner_hour: id }),
      requests.listInquiries(listed),
      requests.toStartKey({ ...listed, id }),
    ];
    expect(makeAll(generated)).toEqual(makeAll(electro));
  });
  fc.assert(compare, { numRuns: 1_000 });
});

it('a list names no attribute without an alias, since DynamoDB reserves words such as `name`', () => {
  const { ProjectionExpression = '', ExpressionAttributeNames } = generated.listInquiries({
    owner: { cognito_sub: 's', email: 'e' },
  });
  const names = ProjectionExpression.split(',').map((alias) => ExpressionAttributeNames?.[alias]);
  expect(names).toEqual([...inquiryFields, 'expires_at']);
});
