/** Users whose claims differ as little as possible never see each other's rows. */
import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import type { GatewayEvent } from '../../src/http.ts';
import type { Identity as Owner } from '../../src/identity.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeEvent, makeKeyedPost, SUB } from '../helpers/events.ts';
import { select } from '../helpers/selection.ts';

/** Another last digit. */
const NEXT_SUB = SUB.replace(/b$/, 'c');
const SUBS = [SUB, NEXT_SUB, SUB.replaceAll(/\w/g, 'f')];
/** One character below the longest. */
const LONG = 'x'.repeat(2048 - '$inquiries#cognito_sub_#email_'.length - SUB.length - 1);
// oxfmt-ignore
const EMAILS = [
  'ana@example.com', ' ana@example.com', 'ANA@EXAMPLE.COM', 'ana@example.com ', 'Ana@example.com',
  'ana@example.com\0', 'ana@example.com#', 'ana@example.com#email_ana@example.com',
  'ana@example.com$inquiry_1#id_', '#', '#email_',
  `$inquiries#cognito_sub_${NEXT_SUB}#email_ana@example.com`, '${email}', ':pk',
  '\u00e9@example.com', 'e\u0301@example.com', 'E\u0301@example.com', '\uFF41na@example.com',
  'ana@ex\u0430mple.com', '\u212Bna@example.com', '\u00c5na@example.com', 'ana@example.com\u200B',
  'stra\u00dfe@example.com', 'strasse@example.com', '\u0130@example.com', 'i@example.com',
  'a@b"},"email":"ana@example.com', '%61na@example.com', `${LONG}a`, `${LONG}b`, LONG,
];
describeOnDynamoDbLocal('among users who look alike', (endpoint) => {
  let app: ReturnType<typeof createApp>;
  const owners = SUBS.flatMap((sub) =>
    EMAILS.map((email): [Owner, Inquiry[]] => [{ sub, email }, []]),
  );
  /** Every email under each of three subs, newest first; the fast selection has every fourth. */
  const rows = new Map(select(owners, 4));

  const ask = async (event: GatewayEvent) => {
    const { statusCode: status, body } = await app(event);
    return { status, json: JSON.parse(body) as { inquiry: Inquiry } & InquiryListResponse };
  };
  const list = async (claims: Owner, queryStringParameters: object = {}) => {
    const { status, json } = await ask({ ...makeEvent({ claims }), queryStringParameters });
    expect([status, json.email]).toEqual([200, claims.email]);
    return json.inquiries;
  };

  beforeAll(async () => {
    const { store } = await createOwnStore(endpoint);
    app = createApp({ inquiries: createInquiries(store), corsOrigin: '*' });
    // In turns, so that everybody's ids lie between the others', and with the same keys.
    for (let turn = 0; turn < 3; turn++) {
      for (const [owner, own] of rows) {
        const post = makeKeyedPost(`key-${turn}`, { subject: '', body: '' }, owner);
        own.unshift((await ask(post)).json.inquiry);
      }
    }
  });

  it('a request of one, sent by any other, shows the sender’s own rows only', async () => {
    for (const [victim, [newest, middle]] of rows) {
      for (const [sender, own] of rows) {
        if (sender === victim) continue;
        for (const [before = '', limit] of [[newest?.id], [middle?.id, '1']]) {
          const older = own.filter(({ id }) => id < before);
          expect(await list(sender, { before, limit })).toEqual(older.slice(0, Number(limit ?? 3)));
        }
      }
    }
  });

  it('everybody lists their own rows alone, whatever form of the sub', async () => {
    for (const [owner, own] of rows) {
      expect(await list(owner)).toEqual(own);
      expect(await list({ ...owner, sub: `{${owner.sub.toUpperCase()}}` })).toEqual(own);
    }
  });
});
