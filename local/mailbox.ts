import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { SendEmailRequest } from '@aws-sdk/client-sesv2';
import { refuseOtherSites } from '../lib/loopback-server.ts';
import { startPageServer } from '../lib/page-server.ts';

export type LocalMail = SendEmailRequest & { at: number };

const REPORT_DELAY = 500;

/** What SES's mailbox simulator reports, as far as the mailer reads it (src/mailer/bounces.ts). */
const REPORTS: Partial<Record<string, object>> = {
  'bounce@simulator.amazonses.com': {
    bounceType: 'Permanent',
    bounceSubType: 'General',
    bouncedRecipients: [{ diagnosticCode: 'smtp; 550 5.1.1 user unknown' }],
  },
  'complaint@simulator.amazonses.com': { complaintFeedbackType: 'abuse' },
};

function toEvent({ Destination, EmailTags = [] }: SendEmailRequest): object | undefined {
  const destination = Destination?.ToAddresses ?? [];
  const [address = ''] = destination;
  const report = REPORTS[address];
  const tags = Object.fromEntries(EmailTags.map(({ Name, Value }) => [Name, [Value]]));
  const [kind = ''] = address.split('@');
  return report && { [kind]: { ...report, feedbackId: randomUUID() }, mail: { destination, tags } };
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
 * @returns `url`: of the page and of SES.
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
    response.end(JSON.stringify({ MessageId: randomUUID() }));
    const event = toEvent(mail);
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
    folder: join(import.meta.dirname, 'pages'),
    configure: () => mails,
    find: (path) =>
      path === '/mails' ? { type: 'application/json', data: JSON.stringify(mails) } : undefined,
    // Mails have inline styles and load nothing.
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
