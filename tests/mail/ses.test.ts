import { expect, it, onTestFinished, vi } from 'vitest';
import { RateLimited } from '../../mail/send-mail.ts';
import { createSendMail } from '../../mail/ses.ts';
import { createInquiryMail } from '../../mail/team-mails.ts';
import { stubAws } from '../local/aws.ts';
import { INQUIRY } from '../helpers/events.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';
import {
  always,
  answer,
  first,
  RESET,
  startFaultProxy,
  type Plan,
} from '../resilience/fault-proxy.ts';
import { toEnvironment } from '../helpers/own-table.ts';

const MAIL = createInquiryMail(INQUIRY, MAIL_SETTINGS);
const sleep = vi.hoisted(() => vi.fn<(...options: unknown[]) => Promise<void>>());
vi.mock('node:timers/promises', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  setTimeout: sleep,
}));

const refuse = (status: number, type: string, message = 'no') =>
  answer(status, JSON.stringify({ message }), {
    'content-type': 'application/json',
    'x-amzn-errortype': type,
  });
const TOO_FAST = refuse(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.');

/** SES, which takes a mail unless the plan has a fault. */
async function setUp(plan: Plan) {
  const received: string[] = [];
  const proxy = await startFaultProxy('');
  onTestFinished(proxy.close);
  proxy.plan = (attempt, operation) => async (exchange) => {
    received.push(String(await exchange.receive()));
    await (plan(attempt, operation) ?? answer(200, '{"MessageId":"m"}'))(exchange);
  };
  // Without the SDK's attempts and waits.
  stubAws({ ...toEnvironment(''), AWS_ENDPOINT_URL_SESV2: proxy.url, AWS_MAX_ATTEMPTS: '1' });
  const { signal } = new AbortController();
  const config = { ...MAIL_SETTINGS, configurationSet: 'inquiries-develop' };
  return { received, signal, send: async (mail = MAIL) => createSendMail(config)(mail, signal) };
}

it('SES gets the mail as golden has it', async () => {
  const { received, send } = await setUp(() => undefined);
  await send();
  const sent = received.map((body) => JSON.stringify(JSON.parse(body), undefined, 2));
  expect(sent.join('\n')).toMatchSnapshot();
});

it('SES gets files as attachments of the mail', async () => {
  const { received, send } = await setUp(() => undefined);
  const file = { name: 'offer.pdf', type: 'application/pdf', data: Buffer.from('Yes') };
  await send({ ...MAIL, files: [file] });
  expect(JSON.parse(String(received[0]))).toHaveProperty('Content.Simple.Attachments', [
    {
      FileName: 'offer.pdf',
      ContentType: 'application/pdf',
      RawContent: 'WWVz',
      ContentDisposition: 'ATTACHMENT',
      ContentTransferEncoding: 'BASE64',
    },
  ]);
});

it.each([
  ['olga@EXAMPLE.com', 'team'],
  ['ana@users.example', 'owners'],
])('a mail to %s has the configuration set of the %s', async (to, set) => {
  const { received, signal } = await setUp(() => undefined);
  const sets = { configurationSet: 'owners', teamConfigurationSet: 'team' };
  await createSendMail({ ...MAIL_SETTINGS, ...sets })({ ...MAIL, to }, signal);
  expect(JSON.parse(String(received[0]))).toMatchObject({ ConfigurationSetName: set });
});

it('a mail that SES throttles waits longer each time, up to 4 s, until SES takes it', async () => {
  const { received, signal, send } = await setUp(first(4, TOO_FAST));
  sleep.mockResolvedValue();
  await send();
  expect(received).toHaveLength(5);
  for (const [index, longest] of [1_000, 2_000, 4_000, 4_000].entries()) {
    const [wait, ...others] = sleep.mock.calls[index] ?? [];
    expect(wait).toBeGreaterThanOrEqual(longest / 2);
    expect(wait).toBeLessThanOrEqual(longest);
    expect(others).toEqual([undefined, { signal }]);
  }
});

it('a mail that SES throttles until its signal ends is to be tried later', async () => {
  const { send } = await setUp(always(TOO_FAST));
  sleep.mockRejectedValue(new Error('The signal has ended.'));
  await expect(send()).rejects.toBeInstanceOf(RateLimited);
});

// Tried again, but for MailRejected and AddressRejected.
it.each([
  [
    'has sent its quota',
    refuse(429, 'TooManyRequestsException', 'Daily message quota exceeded.'),
    'TooManyRequestsException',
  ],
  ['sends HTML', answer(503, '<html>', { 'content-type': 'text/html' }), 'SyntaxError'],
  [
    'has no identity',
    refuse(400, 'MessageRejected', 'Email address is not verified.'),
    'MessageRejected',
  ],
  ['names no id', answer(200, '{}'), 'UnconfirmedMail'],
  ['ends the connection', RESET, 'TimeoutError'],
  ['rejects the mail', refuse(400, 'MessageRejected'), 'MailRejected'],
  ['refuses an address', refuse(400, 'BadRequestException'), 'AddressRejected'],
])('an SES that %s is an error with its name', async (_, fault, name) => {
  const { send } = await setUp(always(fault));
  await expect(send()).rejects.toMatchObject({ name });
});
