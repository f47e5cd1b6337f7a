import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startIncomingMail } from '../../local/mail/incoming-mail.ts';
import { startMailbox } from '../../local/mail/mailbox.ts';
import { parseBounce } from '../../mail/bounces.ts';
import { send } from './http.ts';

async function begin() {
  const events: string[] = [];
  const { url, close } = await startMailbox(0, (event) => void events.push(event));
  onTestFinished(close);
  const deliver = async (to: string, origin = url) => {
    const EmailTags = [{ Name: 'mail', Value: 'reply' }];
    return fetch(`${url}/v2/email/outbound-emails`, {
      method: 'POST',
      headers: { origin },
      body: JSON.stringify({ Destination: { ToAddresses: [to] }, EmailTags }),
    });
  };
  return { url, events, deliver };
}

it('keeps mails, and answers neither to another name nor to a page of another origin', async () => {
  const { url, deliver } = await begin();
  expect((await deliver('ana@example.com')).status).toBe(200);
  expect((await deliver('ana@example.com', 'https://mail.example')).status).toBe(403);
  const malformed = { method: 'POST', body: '{' };
  expect((await fetch(`${url}/v2/email/outbound-emails`, malformed)).status).toBe(400);
  const mails = await (await fetch(`${url}/mails`)).json();
  expect(mails).toMatchObject([{ Destination: { ToAddresses: ['ana@example.com'] } }]);
  // This is DNS rebinding.
  expect((await send(`${url}/mails`, { headers: ['host', 'mail.example'] })).status).toBe(302);
});

it.each([
  ['bounce', { cause: 'General', diagnostics: 'smtp; 550 5.1.1 user unknown' }],
  ['complaint', {}],
] as const)('reports a %s of SES’s mailbox simulator as the mailer reads it', async (why, more) => {
  const { events, deliver } = await begin();
  const address = `${why}@simulator.amazonses.com`;
  for (const to of ['ana@simulator.amazonses.com', address, address]) await deliver(to);
  await expect.poll(() => events).toHaveLength(2);
  const [first, second] = events.map((event) => parseBounce(event, 'support@example.com'));
  const id = expect.any(String) as string;
  expect(first).toMatchObject({ why, address, id, ...more });
  // Events with the same id would count as one.
  expect(second).not.toMatchObject({ id: (first as { id: string }).id });
});

it('ends at once, although a mail program stays connected', async () => {
  const report = () => undefined;
  const { port, close } = await startIncomingMail({ port: 0, domain: 'example.com', report });
  await once(connect(port, '127.0.0.1'), 'data');
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = vi.fn<() => void>();
  void close().then(closed);
  // Each poll lets a millisecond pass.
  await vi.waitFor(() => expect(closed).toHaveBeenCalled(), { interval: 1, timeout: 20_000 });
});
