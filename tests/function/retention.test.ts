/** When inquiries expire. docs/adr/0084 */
import { expect, it } from 'vitest';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createOwnStore } from '../helpers/engines.ts';
import { EMAIL, list, makeCall, SUB } from '../helpers/events.ts';

const DAY = 86_400;
const START = Date.UTC(2026, 0, 31, 12, 0, 0, 750);
/** Milliseconds. */
const END = (Math.floor(START / 1_000) + DAY) * 1_000;

it.each([
  ['a setting of a day', EMAIL, 1],
  ['a smoke test, without a setting', 'smoke-test-1@inquiries.invalid', undefined],
])(
  'retention of %s hides an inquiry from its second on and not a millisecond earlier',
  async (_, email, days) => {
    const { storeClient, ...own } = await createOwnStore();
    const owner = { sub: SUB, email };
    const serviceAt = (time: number, retentionDays?: number) => {
      const now = () => time;
      return createInquiries(createInquiryStore(storeClient, own.name, { retentionDays, now }), {
        now,
      });
    };
    const request = { subject: '', body: '' };
    const { inquiry } = await serviceAt(START, days).create(owner, request, makeCall());
    const listAt = async (time: number) => (await list(serviceAt(time), owner)).list.inquiries;
    expect(await listAt(END - 1)).toEqual([inquiry]);
    expect(await listAt(END)).toEqual([]);
    // It is hidden, but can be erased.
    const inbox = createStoredInquiries(own, () => END);
    const find = async (withExpired: boolean) =>
      (await Array.fromAsync(inbox.list({ email, withExpired }))).flat();
    expect(await find(false)).toEqual([]);
    expect(await find(true)).toMatchObject([{ id: inquiry.id }]);
    const answer = { reply: 'late', respondent: 'R' };
    expect(await inbox.answer({ ...inquiry, expires_at: END / 1_000 }, answer)).toEqual({
      status: 'not-found',
    });
  },
);
