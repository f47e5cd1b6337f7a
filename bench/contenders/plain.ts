/** The packages of the function (SDK, ElectroDB, uuidv7) without a framework. */
import { createInquiry, listInquiries } from './shared/inquiries.ts';
import { createHandler } from './shared/requests.ts';

export const handler = createHandler(async (owner, query) => {
  const { inquiries, headers } = await listInquiries(owner, query);
  return { body: { email: owner.email, count: inquiries.length, inquiries }, headers };
}, createInquiry);
