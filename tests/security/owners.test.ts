/** Users whose claims differ as little as possible never see each other's rows. */
import { beforeAll, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import type { Identity } from '../../src/identity.ts';
import { createInquiries, type Inquiries } from '../../src/inquiries.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { list, makeCall, SUB } from '../helpers/events.ts';
import { select } from '../resilience/selection.ts';

const NEXT_SUB = SUB.replace(/b$/, 'c');
const SUBS = [SUB, NEXT_SUB, SUB.replaceAll(/\w/g, 'f')];
const ONE_BELOW_LONGEST = 'x'.repeat(
  2048 - '$inquiries#cognito_sub_#email_'.length - SUB.length - 1,
);
// oxfmt-ignore
const EMAILS = [
  'ana@example.com', ' ana@example.com', 'ANA@EXAMPLE.COM', 'ana@example.com ', 'Ana@example.com',
  'ana@example.com\0', 'ana@example.com#', 'ana@example.com#email_ana@example.com',
  'ana@example.com$inquiry_1#id_', '#', '#email_',
  `$inquiries#cognito_sub_${NEXT_SUB}#email_ana@example.com`, '${email}', ':pk',
  '\u00e9@example.com', 'e\u0301@example.com', 'E\u0301@example.com', '\uFF41na@example.com',
  'ana@ex\u0430mple.com', '\u212Bna@example.com', '\u00c5na@example.com', 'ana@example.com\u200B',
  'stra\u00dfe@example.com', 'strasse@example.com', '\u0130@example.com', 'i@example.com',
  'a@b"},"email":"ana@example.com', '%61na@example.com', `${ONE_BELOW_LONGEST}a`, `${ONE_BELOW_LONGEST}b`, ONE_BELOW_LONGEST,
];
describeOnDynamoDbLocal('among users who look alike', (endpoint) => {
  let inquiries: Inquiries;
  const owners = SUBS.flatMap((sub) =>
    EMAILS.map((email): [Identity, Inquiry[]] => [{ sub, email }, []]),
  );
  /** Every email under each sub, newest first. The fast selection has every fourth. */
  const rows = new Map(select(owners, 4));

  beforeAll(async () => {
    inquiries = createInquiries((await createOwnStore(endpoint)).store);
    // Users take turns, so that their ids alternate, and use the same keys.
    for (let turn = 0; turn < 3; turn++) {
      for (const [owner, own] of rows) {
        const options = { key: `key-${turn}` };
        const request = { subject: '', body: '' };
        own.unshift((await inquiries.create(owner, request, makeCall(), options)).inquiry);
      }
    }
  });

  it('a request of one, sent by any other, shows the sender’s own rows only', async () => {
    for (const [victim, [newest, middle]] of rows) {
      for (const [sender, own] of rows) {
        if (sender === victim) continue;
        for (const [before = '', limit] of [[newest?.id], [middle?.id, '1']]) {
          const older = own.filter(({ id }) => id < before).slice(0, Number(limit ?? 3));
          const { list: shown } = await list(inquiries, sender, { before, limit });
          expect(shown.inquiries).toEqual(older);
        }
      }
    }
  });

  it('everybody lists their own rows alone', async () => {
    for (const [owner, own] of rows) {
      const { list: shown } = await list(inquiries, owner);
      expect(shown).toEqual({ email: owner.email, count: 3, inquiries: own });
    }
  });
});
