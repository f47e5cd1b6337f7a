/** The mailbox of the local stack: SES v2 (aws-ses-v2-local), and a page that shows the mails. */
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SendEmailRequest } from '@aws-sdk/client-sesv2';
import sirv from 'sirv';
import { replies } from '../lib/gateway-replies.ts';
import { close, listen, refuseOtherSites } from '../lib/loopback-server.ts';

type SesLocal = typeof import('aws-ses-v2-local', { with: { 'resolution-mode': 'require' } });

/** Replaces the package's own page, which shows a mail after a click on one of its tools. */
const sendPage = sirv(join(import.meta.dirname, 'pages/mailbox'), { dev: true });
/** Holds for the content of mails, too, which has inline styles and loads nothing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What SES reports of mails to its mailbox simulator. */
const SIMULATOR: Readonly<Record<string, object>> = {
  'bounce@simulator.amazonses.com': {
    bounce: { bounceType: 'Permanent', bounceSubType: 'General' },
  },
  'complaint@simulator.amazonses.com': { complaint: { complaintFeedbackType: 'abuse' } },
};

/** Milliseconds after a mail until SES reports that it has not arrived. */
const REPORT_DELAY = 500;

/** The event of SES about a mail to its mailbox simulator; undefined for any other request. */
function toEvent(body: string): string | undefined {
  const { Destination, EmailTags = [] } = JSON.parse(body) as SendEmailRequest;
  const destination = Destination?.ToAddresses ?? [];
  const event = SIMULATOR[destination[0] ?? ''];
  const tags = Object.fromEntries(EmailTags.map(({ Name = '', Value }) => [Name, [Value]]));
  return event && JSON.stringify({ ...event, mail: { destination, tags } });
}

/**
 * Serves the mailbox on a loopback port. Mails are kept in memory and sent to nobody.
 *
 * @param report - Receives SES's events about mails to bounce@ and complaint@simulator.amazonses.com.
 * @returns Its address: that of the page and the endpoint of SES. Until it is loaded every request gets 503.
 * @throws Error with `code` EADDRINUSE and `port` when the port is taken.
 */
export async function startMailbox(
  port: number,
  report: (event: string) => void = () => undefined,
) {
  let app: RequestListener | undefined;
  const server = createServer((request, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    if (app === undefined) return void response.writeHead(replies.unavailable.status).end();
    if (refuseOtherSites(request, response, url)) return undefined;
    response.setHeader('content-security-policy', POLICY);
    if (request.url === '/v2/email/outbound-emails') {
      const body: Buffer[] = [];
      request.on('data', (chunk: Buffer) => body.push(chunk));
      response.on('finish', () => {
        const event =
          response.statusCode === 200 ? toEvent(Buffer.concat(body).toString()) : undefined;
        if (event !== undefined) setTimeout(report, REPORT_DELAY, event).unref();
      });
    }
    const handle = app;
    return sendPage(request, response, () => handle(request, response));
  });
  const url = `http://127.0.0.1:${await listen(server, port)}`;
  return {
    url,
    /** Loads the package, which occupies this process for half a second. */
    load: async () => void (app = await loadApp()),
    close: () => close(server),
  };
}

/** The package's Express application, without its server, which checks neither Host nor Origin. */
async function loadApp(): Promise<RequestListener> {
  // With this variable, the package forwards mails to an SMTP server.
  delete process.env['SMTP_TRANSPORT'];
  // Node and Vitest import the default export of such a CommonJS module differently.
  const { default: startServer } = createRequire(import.meta.url)('aws-ses-v2-local') as SesLocal;
  const server = await startServer({ host: '127.0.0.1', port: 0 });
  const [app] = server.listeners('request') as RequestListener[];
  await close(server);
  if (app === undefined) throw new Error('aws-ses-v2-local has no request listener.');
  return app;
}
