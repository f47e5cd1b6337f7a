/** The pace of throttled mails; tests/mailer/mailer.test.ts has SES's other answers. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { RateLimited } from '../../src/mailer/send-mail.ts';
import { createSendMail } from '../../src/mailer/ses.ts';
import { createInquiryMail } from '../../src/mailer/team-mails.ts';
import { stubAws } from '../helpers/aws.ts';
import { INQUIRY, MAIL_SETTINGS } from '../helpers/events.ts';
import { always, answer, startFaultProxy } from '../helpers/fault-proxy.ts';
import { refuseMail } from '../helpers/mailer.ts';
import { toEnvironment } from '../helpers/own-table.ts';

const MAIL = createInquiryMail(INQUIRY, MAIL_SETTINGS);
const TOO_FAST = refuseMail(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.');
const sleep = vi.hoisted(() => vi.fn<(milliseconds: number) => Promise<void>>());
vi.mock('node:timers/promises', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  setTimeout: sleep,
}));

it('a mail that SES throttles is sent when SES takes it', async () => {
  const proxy = await startFaultProxy('');
  onTestFinished(proxy.close);
  proxy.plan = (attempt) => (attempt < 2 ? TOO_FAST : answer(200, '{"MessageId":"m"}'));
  stubAws({ ...toEnvironment(''), AWS_ENDPOINT_URL_SESV2: proxy.url, AWS_MAX_ATTEMPTS: '1' });
  sleep.mockResolvedValue();
  await createSendMail(MAIL_SETTINGS)(MAIL, new AbortController().signal);
  expect([proxy.attempts, sleep.mock.calls.length]).toEqual([3, 2]);
});

it('a mail that SES throttles waits longer each time, up to 4 s, until its signal ends', async () => {
  const proxy = await startFaultProxy('');
  onTestFinished(proxy.close);
  proxy.plan = always(TOO_FAST);
  // Without the SDK's attempts and waits.
  stubAws({ ...toEnvironment(''), AWS_ENDPOINT_URL_SESV2: proxy.url, AWS_MAX_ATTEMPTS: '1' });
  const waits: number[] = [];
  sleep.mockImplementation(async (milliseconds) => {
    if (waits.push(milliseconds) === 4) throw new Error('The signal has ended.');
  });
  const { signal } = new AbortController();
  const sent = createSendMail(MAIL_SETTINGS)(MAIL, signal);
  await expect(sent).rejects.toBeInstanceOf(RateLimited);
  expect(proxy.attempts).toBe(4);
  expect(sleep).toHaveBeenCalledWith(expect.any(Number), undefined, { signal });
  for (const [index, longest] of [1_000, 2_000, 4_000, 4_000].entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(longest / 2);
    expect(waits[index]).toBeLessThanOrEqual(longest);
  }
});
