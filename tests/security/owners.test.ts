/** Users whose claims differ as little as possible never see each other's rows. */
import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import type { GatewayEvent } from '../../src/http.ts';
import type { Identity as Owner } from '../../src/identity.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeEvent, makeKeyedPost, makePost } from '../helpers/events.ts';
import { createTally, select } from '../helpers/tally.ts';

const SUBS = [
  '1f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b',
  '1f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1c',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
];
const LONGEST = 2048 - '$inquiries#cognito_sub_#email_'.length - 36;
// oxfmt-ignore
const EMAILS = [
  'ana@example.com', 'Ana@example.com', 'ANA@EXAMPLE.COM', 'ana@example.com ', ' ana@example.com',
  'ana@example.com\0', 'ana@example.com#', 'ana@example.com#email_ana@example.com',
  'ana@example.com$inquiry_1#id_', '#', '#email_',
  '$inquiries#cognito_sub_1f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1c#email_ana@example.com', '${email}', ':pk',
  '\u00e9@example.com', 'e\u0301@example.com', 'E\u0301@example.com', '\uFF41na@example.com',
  'ana@ex\u0430mple.com', '\u212Bna@example.com', '\u00c5na@example.com', 'ana@example.com\u200B',
  'stra\u00dfe@example.com', 'strasse@example.com', '\u0130@example.com', 'i@example.com',
  'a@b"},"email":"ana@example.com', '%61na@example.com', `${'x'.repeat(LONGEST - 1)}a`,
  `${'x'.repeat(LONGEST - 1)}b`, 'x'.repeat(LONGEST - 1),
];
/** Every email under each of three subs; the fast selection takes every fourth of them. */
const owners = select(
  SUBS.flatMap((sub) => EMAILS.map((email): Owner => ({ sub, email }))),
  4,
);

describeOnDynamoDbLocal('among users who look alike', (endpoint) => {
  const replayed = createTally(`4a requests replayed as another user`);
  const keyed = createTally(`4b a key that every user has`);
  let app: ReturnType<typeof createApp>;
  /** Newest first. */
  const rows = new Map(owners.map((owner) => [owner, [] as Inquiry[]]));

  const ask = async (event: GatewayEvent) => {
    const { statusCode: status, headers, body } = await app(event);
    const json = JSON.parse(body) as { inquiry: Inquiry } & InquiryListResponse;
    return { status, isReplay: headers['Idempotency-Replayed'], body, json };
  };
  const list = async (claims: Owner, queryStringParameters: object = {}) => {
    const { status, json } = await ask({ ...makeEvent({ claims }), queryStringParameters });
    expect([status, json.email]).toEqual([200, claims.email]);
    return json.inquiries;
  };

  beforeAll(async () => {
    const { store } = await createOwnStore(endpoint);
    app = createApp({ inquiries: createInquiries(store), corsOrigin: '*' });
    // In turns, so that everybody's ids lie between those of the others.
    for (let turn = 0; turn < 3; turn++) {
      for (const [owner, own] of rows) {
        own.unshift((await ask(makePost({ subject: '', body: '' }, owner))).json.inquiry);
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
          replayed();
        }
      }
    }
  });

  it('everybody has rows of their own, which the owner lists, and a key of one tells any other nothing', async () => {
    const send = (claims: Owner, body = claims.email) =>
      ask(makeKeyedPost('one-key-of-all', { subject: 'keyed', body }, claims));
    const firsts = new Map<Owner, string>();
    for (const owner of owners) {
      const { status, isReplay, body, json } = await send(owner);
      expect([status, isReplay]).toEqual([201, undefined]);
      expect(json.inquiry).toMatchObject({ cognito_sub: owner.sub, email: owner.email });
      firsts.set(owner, body);
    }
    for (const [owner, own] of rows) {
      const replay = await send(owner);
      expect(replay).toMatchObject({ status: 201, isReplay: 'true', body: firsts.get(owner) });
      const alias = { ...owner, sub: `{${owner.sub.toUpperCase()}}` };
      expect(await send(alias)).toEqual(replay);
      expect((await send(owner, 'another')).status).toBe(422);
      expect(await list(owner)).toEqual([replay.json.inquiry, ...own]);
      keyed();
    }
  });
});
