/** Plays SES v2: takes each mail and keeps the request as it came. A fault proxy before it makes it fail. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { close, listen } from '../../lib/loopback-server.ts';
import { answer } from './fault-proxy.ts';
import type { Fault } from './fault-proxy.ts';

/** The body of a SendEmail request. */
export interface SentMail {
  readonly FromEmailAddress: string;
  readonly Destination: { readonly ToAddresses: readonly string[] };
  readonly ReplyToAddresses?: readonly string[];
  readonly Content: {
    readonly Simple: {
      readonly Subject: { readonly Data: string };
      readonly Body: { readonly Text: { readonly Data: string }; readonly Html: { readonly Data: string } };
      readonly Headers: readonly { readonly Name: string; readonly Value: string }[];
    };
  };
}

/** Starts it; `mails` are those that it has accepted. */
export async function startSes() {
  const mails: SentMail[] = [];
  const accept = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const isKnown = request.url === '/v2/email/outbound-emails';
    if (isKnown) mails.push(JSON.parse(body) as SentMail);
    response
      .writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify({ MessageId: `message-${mails.length}` }));
  };
  // A request breaks off when the mailer gives it up.
  const server = createServer((request, response) => void accept(request, response).catch(() => undefined));
  const url = `http://127.0.0.1:${await listen(server, 0)}`;
  return { url, mails, close: () => close(server) };
}

/** An error in the form of SES v2. */
export const refuseMail = (status: number, type: string, message = 'A message with a secret.'): Fault =>
  answer(status, JSON.stringify({ message }), {
    'content-type': 'application/json',
    'x-amzn-errortype': type,
  });
