/** The mailbox itself; start.process.test.ts sends mails to it. */
import { expect, it, onTestFinished } from 'vitest';
import { startMailbox } from '../../local/mailbox.ts';
import { send } from '../helpers/http.ts';

it('keeps mails, reports those to SES’s simulator, and answers neither to another name nor to a page of another origin', async () => {
  const events: unknown[] = [];
  const { url, close } = await startMailbox(0, (event) => void events.push(JSON.parse(event)));
  onTestFinished(close);
  const deliver = async (to: string, origin = url) => {
    const EmailTags = [{ Name: 'mail', Value: 'reply' }];
    return fetch(`${url}/v2/email/outbound-emails`, {
      method: 'POST',
      headers: { origin },
      body: JSON.stringify({ Destination: { ToAddresses: [to] }, EmailTags }),
    });
  };
  const addresses = ['ana@simulator.amazonses.com', 'complaint@simulator.amazonses.com'];
  for (const address of addresses) expect((await deliver(address)).status).toBe(200);
  expect((await deliver('ana@example.com', 'https://mail.example')).status).toBe(403);
  const malformed = { method: 'POST', body: '{' };
  expect((await fetch(`${url}/v2/email/outbound-emails`, malformed)).status).toBe(400);
  const mails = await (await fetch(`${url}/mails`)).json();
  expect(mails).toMatchObject(addresses.map((to) => ({ Destination: { ToAddresses: [to] } })));
  // DNS rebinding.
  expect((await send(`${url}/mails`, { headers: ['host', 'mail.example'] })).status).toBe(302);
  const mail = { destination: addresses.slice(1), tags: { mail: ['reply'] } };
  const expected = [{ complaint: { complaintFeedbackType: 'abuse' }, mail }];
  await expect.poll(() => events).toEqual(expected);
});
