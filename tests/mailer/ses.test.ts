/** The pace of mails that SES throttles. tests/mailer/mailer.test.ts has the requests and everything else that SES answers. */
import { expect, it, onTestFinished } from 'vitest';
import { RateLimited } from '../../src/mailer/send-mail.ts';
import { createSendMail } from '../../src/mailer/ses.ts';
import { createInquiryMail } from '../../src/mailer/team-mails.ts';
import { stubAws } from '../helpers/aws.ts';
import { INQUIRY, MAIL_SETTINGS } from '../helpers/events.ts';
import { startFaultProxy } from '../helpers/fault-proxy.ts';
import { refuseMail } from '../helpers/mailer.ts';
import { toEnvironment } from '../helpers/own-table.ts';

it('a mail that SES throttles waits before it is tried again, until its signal ends', async () => {
  const times: number[] = [];
  const proxy = await startFaultProxy('');
  onTestFinished(proxy.close);
  proxy.plan = () => {
    times.push(performance.now());
    return refuseMail(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.');
  };
  stubAws({ ...toEnvironment(''), AWS_ENDPOINT_URL_SESV2: proxy.url });
  const mail = createInquiryMail(INQUIRY, MAIL_SETTINGS);
  const sent = createSendMail(MAIL_SETTINGS)(mail, AbortSignal.timeout(5_000));
  await expect(sent).rejects.toBeInstanceOf(RateLimited);
  // The SDK itself tries three times.
  const [, , third = 0, fourth = 0] = times;
  expect(fourth - third).toBeGreaterThan(450);
});
