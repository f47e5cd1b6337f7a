import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { SendEmailRequest } from '@aws-sdk/client-sesv2';
import { refuseOtherSites } from '../../lib/pages/loopback-server.ts';
import { startPageServer } from '../../lib/pages/page-server.ts';

export type LocalMail = SendEmailRequest & { at: number };

const REPORT_DELAY = 500;

/**
 * SES's event about a mail, without headers and ARNs. Source: SES Developer Guide, "Contents of event data that Amazon
 * SES publishes to Amazon SNS".
 */
function toEvent(
  { FromEmailAddress: source, Destination, EmailTags = [] }: SendEmailRequest,
  messageId: string,
): object | undefined {
  const destination = Destination?.ToAddresses ?? [];
  const [emailAddress = ''] = destination;
  const timestamp = new Date().toISOString();
  const tags = Object.fromEntries(EmailTags.map(({ Name, Value }) => [Name, [Value]]));
  const mail = { timestamp, source, messageId, destination, tags };
  const report = { timestamp, feedbackId: randomUUID() };
  switch (emailAddress) {
    case 'bounce@simulator.amazonses.com': {
      const bounce = { bounceType: 'Permanent', bounceSubType: 'General' };
      const diagnosticCode = 'smtp; 550 5.1.1 user unknown';
      const recipient = { emailAddress, action: 'failed', status: '5.1.1', diagnosticCode };
      const bouncedRecipients = [recipient];
      return { eventType: 'Bounce', bounce: { ...bounce, bouncedRecipients, ...report }, mail };
    }
    case 'complaint@simulator.amazonses.com': {
      const complainedRecipients = [{ emailAddress }];
      const complaint = { complainedRecipients, complaintFeedbackType: 'abuse', ...report };
      return { eventType: 'Complaint', complaint, mail };
    }
    default:
      return undefined;
  }
}

export interface Answer {
  from: string;
  to: string;
  subject: string;
  text: string;
}

/**
 * @param report - Gets events about mails to SES's mailbox simulator.
 * @param answer - Sends an answer that was written on the page.
 * @returns `url` serves the page and SES.
 */
export async function startMailbox(
  port: number,
  report: (event: string) => void = () => undefined,
  answer: (answer: Answer) => Promise<unknown> = async () => undefined,
) {
  const mails: LocalMail[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const mail = (await json(request)) as SendEmailRequest;
    mails.push({ ...mail, at: Date.now() });
    const MessageId = randomUUID();
    response.end(JSON.stringify({ MessageId }));
    const event = toEvent(mail, MessageId);
    if (event !== undefined) setTimeout(report, REPORT_DELAY, JSON.stringify(event)).unref();
  };
  const actions: Partial<Record<string, typeof receive>> = {
    '/v2/email/outbound-emails': receive,
    '/answer': async (request, response) => {
      await answer((await json(request)) as Answer);
      response.end();
    },
  };
  const server = await startPageServer({
    port,
    folder: join(import.meta.dirname, '../pages'),
    configure: () => mails,
    find: (path) =>
      path === '/mails' ? { type: 'application/json', data: JSON.stringify(mails) } : undefined,
    // Mails have inline styles and load nothing else.
    policy: () => [
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "connect-src 'self'",
      'img-src data:',
    ],
    handle(request, response, url) {
      if (request.url === '/') request.url = '/mailbox.html';
      const handle = actions[request.url ?? ''];
      if (handle === undefined) return false;
      if (!refuseOtherSites(request, response, url)) {
        handle(request, response).catch(() => response.writeHead(400).end());
      }
      return true;
    },
  });
  return { ...server, mails };
}
