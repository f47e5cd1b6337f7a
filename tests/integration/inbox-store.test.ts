import { expect, it } from 'vitest';
import type { InquiryFilter } from '../../scripts/inbox/inbox.ts';
import { createInbox } from '../../scripts/inbox/inbox.ts';
import { createOwnStore, describeOnEngines } from '../helpers/engines.ts';
import { createInquiries } from '../../src/inquiries.ts';

describeOnEngines('the inbox', (endpoint) => {
  it('lists, answers once, and forgets', async () => {
    const own = await createOwnStore(endpoint);
    const inquiries = createInquiries(own.store);
    const call = { signal: AbortSignal.timeout(5000), attempts: 0 };
    const owner = { sub: '1daae433-47cc-48ff-bf9b-73f530b9d7bc', email: 'a@b.c' };
    const { inquiry } = await inquiries.create(owner, { subject: 's', body: 'b' }, call);
    const { inquiry: second } = await inquiries.create(owner, { subject: 's2', body: 'b' }, call);
    const inbox = createInbox(own.client, own.table);
    const all = async (f: InquiryFilter = {}) => (await Array.fromAsync(inbox.list(f))).flat();
    expect((await all({ unansweredOnly: true, email: 'a@b.c' })).length).toBe(2);
    expect((await all({ before: second.id })).map((r) => r.id)).toEqual([inquiry.id]);
    expect((await all({ since: Date.now() + 1000 })).length).toBe(0);
    expect((await all({ since: Date.now() - 1000 })).length).toBe(2);
    const { status } = await inbox.answer(inquiry.id, { reply: 'yes', respondent: 'R' });
    expect(status).toBe('answered');
    const again = await inbox.answer(inquiry.id, { reply: 'no', respondent: 'S' });
    expect(again).toMatchObject({ status: 'already-answered', respondent: 'R' });
    expect(await inbox.get(inquiry.id)).toMatchObject({ ...inquiry, reply: 'yes', respondent: 'R' });
    expect((await all({ unansweredOnly: true })).length).toBe(1);
    await inbox.remove(inquiry);
    expect(await inbox.get(inquiry.id)).toBe(undefined);
  });
});
