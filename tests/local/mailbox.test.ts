/** The mailbox itself; start.process.test.ts sends mails to it. */
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it, vi } from 'vitest';
import { close, listen } from '../../lib/loopback-server.ts';
import { startMailbox } from '../../local/mailbox.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of closing.splice(0).toReversed()) await end();
});

const open = async (report?: (event: string) => void) => {
  const mailbox = await startMailbox(0, report);
  closing.push(() => mailbox.close());
  await mailbox.load();
  await fetch(`${mailbox.url}/clear-store`, { method: 'POST' });
  const content = { Simple: { Subject: { Data: 'secret' }, Body: { Text: { Data: 'text' } } } };
  const sendMail = (to: object = {}) =>
    fetch(`${mailbox.url}/v2/email/outbound-emails`, {
      method: 'POST',
      headers: { authorization: 'AWS4-HMAC-SHA256 x', 'content-type': 'application/json' },
      body: JSON.stringify({
        FromEmailAddress: 'a@example.com',
        Destination: {},
        Content: content,
        ...to,
      }),
    });
  const mails = async () => {
    const response = await fetch(`${mailbox.url}/store`);
    return ((await response.json()) as { emails: { subject: string }[] }).emails;
  };
  return { ...mailbox, sendMail, mails };
};

it('shows its page and nothing from elsewhere', async () => {
  const { url } = await open();
  const page = await fetch(url);
  expect(await page.text()).toContain('No mail yet');
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'.*frame-ancestors 'none'$/,
  );
  for (const path of ['/', '/store', '/nothing']) {
    expect((await fetch(url + path)).headers.get('x-content-type-options')).toBe('nosniff');
  }
});

it('answers neither to another name (DNS rebinding) nor to a page of another origin', async () => {
  const { url, sendMail, mails } = await open();
  expect((await sendMail()).status).toBe(200);
  const foreign = request(`${url}/store`, {
    headers: { host: `mail.example:${new URL(url).port}` },
  }).end();
  const [response] = (await once(foreign, 'response')) as [import('node:http').IncomingMessage];
  expect([response.statusCode, response.headers.location, await text(response)]).toEqual([
    302,
    url,
    '',
  ]);
  const clear = (origin: string) =>
    fetch(`${url}/clear-store`, { method: 'POST', headers: { origin } });
  expect((await clear('https://mail.example')).status).toBe(403);
  expect(await mails()).toMatchObject([{ subject: 'secret' }]);
  await clear(url);
  expect(await mails()).toEqual([]);
});

it('sends nothing to an SMTP server of the user', async () => {
  let connections = 0;
  const smtp = createServer(() => connections++);
  const port = await listen(smtp, 0);
  closing.push(() => close(smtp));
  vi.stubEnv('SMTP_TRANSPORT', JSON.stringify({ host: '127.0.0.1', port }));
  const { sendMail, mails } = await open();
  await sendMail();
  expect(await mails()).toHaveLength(1);
  // The package opens its connection before it answers.
  expect(connections).toBe(0);
  vi.unstubAllEnvs();
});

it('reports mails to the addresses of SES’s simulator, and no others', async () => {
  const events: unknown[] = [];
  const { sendMail } = await open((event) => void events.push(JSON.parse(event)));
  const EmailTags = [{ Name: 'mail', Value: 'reply' }];
  for (const name of ['ana', 'complaint']) {
    const to = [`${name}@simulator.amazonses.com`];
    await sendMail({ Destination: { ToAddresses: to }, EmailTags });
  }
  const destination = ['complaint@simulator.amazonses.com'];
  const event = {
    complaint: { complaintFeedbackType: 'abuse' },
    mail: { destination, tags: { mail: ['reply'] } },
  };
  await expect.poll(() => events, { timeout: 5_000 }).toEqual([event]);
});
