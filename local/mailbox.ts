/** The mailbox of the local stack: the one operation of SES v2 that the mailer calls, and a page that shows the mails. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { SendEmailRequest } from '@aws-sdk/client-sesv2';
import { refuseOtherSites } from '../lib/loopback-server.ts';
import { startPageServer } from '../lib/page-server.ts';

/** A mail as SES got it, and when. */
export type LocalMail = SendEmailRequest & { at: number };

/** What SES reports of mails to its mailbox simulator. */
const SIMULATOR: Record<string, object> = {
  'bounce@simulator.amazonses.com': {
    bounce: { bounceType: 'Permanent', bounceSubType: 'General' },
  },
  'complaint@simulator.amazonses.com': { complaint: { complaintFeedbackType: 'abuse' } },
};
/** Milliseconds after a mail until SES reports that it has not arrived. */
const REPORT_DELAY = 500;

/**
 * Serves the mailbox on a loopback port. Mails are kept in memory and sent to nobody.
 *
 * @param report - Receives SES's events about mails to bounce@ and complaint@simulator.amazonses.com.
 * @returns Its `url` is that of the page and the endpoint of SES; `mails` are those so far.
 * @throws Error with `code` EADDRINUSE and `port` when the port is taken.
 */
export async function startMailbox(
  port: number,
  report: (event: string) => void = () => undefined,
) {
  const mails: LocalMail[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const mail = (await json(request)) as SendEmailRequest;
    mails.push({ ...mail, at: Date.now() });
    response.end(JSON.stringify({ MessageId: randomUUID() }));
    const destination = mail.Destination?.ToAddresses ?? [];
    const event = SIMULATOR[destination.join()];
    if (event === undefined) return;
    const tags = Object.fromEntries(
      mail.EmailTags?.map(({ Name, Value }) => [Name, [Value]]) ?? [],
    );
    const text = JSON.stringify({ ...event, mail: { destination, tags } });
    setTimeout(report, REPORT_DELAY, text).unref();
  };
  const server = await startPageServer({
    port,
    folder: join(import.meta.dirname, 'pages'),
    configure: () => mails,
    find: (path) =>
      path === '/mails' ? { type: 'application/json', data: JSON.stringify(mails) } : undefined,
    // Holds for the content of mails, too, which has inline styles and loads nothing.
    policy: () => [
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "connect-src 'self'",
      'img-src data:',
    ],
    handle(request, response, url) {
      if (request.url === '/') request.url = '/mailbox.html';
      if (request.url !== '/v2/email/outbound-emails') return false;
      if (!refuseOtherSites(request, response, url)) {
        receive(request, response).catch(() => response.writeHead(400).end());
      }
      return true;
    },
  });
  return { ...server, mails };
}
