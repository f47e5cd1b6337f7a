/** Users whose claims differ as little as possible never see each other's rows. */
import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
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
const everybody = SUBS.flatMap((sub) => EMAILS.map((email): Owner => ({ sub, email })));
const owners = select(everybody, 4);

describeOnDynamoDbLocal('among users who look alike', (endpoint) => {
  const replayed = createTally(`4a requests replayed as another user`);
  const keyed = createTally(`4b a key that every user has`);
  let app: ReturnType<typeof createApp>;
  const rows = new Map<Owner, Inquiry[]>();

  const list = async (claims: Owner, queryStringParameters: object = {}) => {
    const response = await app({ ...makeEvent({ claims }), queryStringParameters });
    return {
      status: response.statusCode,
      ...(JSON.parse(response.body) as Partial<InquiryListResponse>),
    };
  };
  const post = async (claims: Owner, subject: string): Promise<Inquiry> => {
    const response = await app(makePost({ subject, body: claims.email }, claims));
    expect(response.statusCode).toBe(201);
    return (JSON.parse(response.body) as { inquiry: Inquiry }).inquiry;
  };
  const of = (owner: Owner): Inquiry[] => rows.get(owner) ?? [];

  beforeAll(async () => {
    const { store } = await createOwnStore(endpoint);
    app = createApp({ inquiries: createInquiries(store), corsOrigin: 'https://www.example.com' });
    // In turns, so that everybody's ids lie between those of the others.
    for (let turn = 0; turn < 3; turn++) {
      for (const owner of owners) {
        rows.set(owner, [await post(owner, `turn ${turn}`), ...of(owner)]);
      }
    }
  });

  it('a request of one, sent by any other, shows the sender’s own rows only', async () => {
    for (const victim of owners) {
      for (const sender of owners) {
        if (sender === victim) continue;
        const [newest, middle] = of(victim) as [Inquiry, Inquiry];
        for (const query of [{ before: newest.id }, { before: middle.id, limit: '1' }]) {
          const got = await list(sender, query);
          const older = of(sender).filter(({ id }) => id < query.before);
          expect(got).toMatchObject({ status: 200, email: sender.email });
          expect(got.inquiries).toEqual(older.slice(0, query.limit === '1' ? 1 : undefined));
          replayed();
        }
      }
    }
  });

  it('everybody has rows of their own, which the owner lists, and a key of one tells any other nothing', async () => {
    const send = async (claims: Owner, text = JSON.stringify(claims)) => {
      const event = makeKeyedPost('one-key-of-all', { subject: 'keyed', body: text }, claims);
      const { statusCode, headers, body } = await app(event);
      const { inquiry } = JSON.parse(body) as { inquiry?: Inquiry };
      return { statusCode, isReplay: headers['Idempotency-Replayed'], body, inquiry };
    };
    const firsts = new Map<Owner, string>();
    for (const owner of owners) {
      const first = await send(owner);
      expect(first).toMatchObject({ statusCode: 201, isReplay: undefined });
      expect(first.inquiry).toMatchObject({ cognito_sub: owner.sub, email: owner.email });
      firsts.set(owner, first.body);
    }
    for (const owner of owners) {
      const replay = await send(owner);
      expect(replay).toMatchObject({ statusCode: 201, isReplay: 'true', body: firsts.get(owner) });
      const alias = { ...owner, sub: `{${owner.sub.toUpperCase()}}` };
      expect(await send(alias, JSON.stringify(owner))).toEqual(replay);
      const stranger = owners.find((other) => other !== owner);
      expect(await send(owner, JSON.stringify(stranger))).toMatchObject({
        statusCode: 422,
        isReplay: undefined,
      });
      const inquiries = [replay.inquiry, ...of(owner)];
      expect(await list(owner)).toEqual({ status: 200, email: owner.email, count: 4, inquiries });
      keyed();
    }
  });
});
