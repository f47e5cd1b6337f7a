/** The mailbox itself; start.process.test.ts sends mails to it. */
import { expect, it, onTestFinished } from 'vitest';
import { startMailbox } from '../../local/mailbox.ts';
import { send } from '../helpers/http.ts';

async function open(report?: (event: string) => void) {
  const mailbox = await startMailbox(0, report);
  onTestFinished(() => mailbox.close());
  const sendMail = (to: string, headers: Record<string, string> = {}) =>
    fetch(`${mailbox.url}/v2/email/outbound-emails`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        Destination: { ToAddresses: [to] },
        EmailTags: [{ Name: 'mail', Value: 'reply' }],
      }),
    });
  return { ...mailbox, sendMail };
}

it('keeps mails, and answers neither to another name (DNS rebinding) nor to a page of another origin', async () => {
  const { url, sendMail } = await open();
  expect((await sendMail('ana@example.com')).status).toBe(200);
  expect((await sendMail('ana@example.com', { origin: 'https://mail.example' })).status).toBe(403);
  const mails = await (await fetch(`${url}/mails`)).json();
  expect(mails).toMatchObject([{ Destination: { ToAddresses: ['ana@example.com'] } }]);
  expect((await send(`${url}/mails`, { headers: ['host', 'mail.example'] })).status).toBe(302);
});

it('reports mails to the addresses of SES’s simulator, and no others', async () => {
  const events: unknown[] = [];
  const { sendMail } = await open((event) => void events.push(JSON.parse(event)));
  for (const name of ['ana', 'complaint']) await sendMail(`${name}@simulator.amazonses.com`);
  const destination = ['complaint@simulator.amazonses.com'];
  const mail = { destination, tags: { mail: ['reply'] } };
  const expected = [{ complaint: { complaintFeedbackType: 'abuse' }, mail }];
  await expect.poll(() => events, { timeout: 5_000 }).toEqual(expected);
});
