import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { limits, replies } from '../lib/contract/gateway-replies.ts';
import { DEMO_TEAM, INBOX_CLIENT_ID } from '../lib/issuer/issuer-tokens.ts';
import { closeServer, serve } from '../lib/pages/loopback-server.ts';
import { toEvent } from './event.ts';
import { startFunction } from './lambda/function.ts';

/** A result of payload format 2.0. */
interface Result {
  statusCode: number;
  headers: Record<string, string>;
  cookies?: string[];
  body: string;
}

interface InboxOptions {
  environment: Record<string, string>;
  issuer: string;
  hasMail?: boolean;
  log: (line: string) => void;
}

/** Listens for the team's pages, which answer 503 until `start`. The issuer needs their address before. */
export async function openInbox(port: number) {
  const server = createServer();
  const url = await serve(server, port);
  let invoke: ((event: string) => Promise<string>) | undefined;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const routeKey = '$default';
    const body = await buffer(request);
    const event = JSON.stringify(toEvent(request, { routeKey, body, claims: {} }));
    const isTooLarge = Buffer.byteLength(event) > limits.lambdaPayload;
    if (isTooLarge) return void response.writeHead(replies.payloadTooLarge.status).end();
    const json = await invoke?.(event);
    if (json === undefined) return void response.writeHead(replies.unavailable.status).end();
    const result = JSON.parse(json) as Result;
    const { cookies = [] } = result;
    response.writeHead(result.statusCode, { ...result.headers, 'set-cookie': cookies });
    response.end(result.body);
  }
  server.on('request', (request, response) => {
    respond(request, response).catch(() => response.writeHead(replies.unavailable.status).end());
  });

  return {
    url,
    close: async () => closeServer(server),
    /** Runs the inbox in a function. The team signs in through the local issuer. */
    async start({ environment, issuer, hasMail = false, log }: InboxOptions) {
      const app = await startFunction({
        module: new URL('../inbox/handler.ts', import.meta.url).href,
        environment: {
          ...environment,
          ORIGIN: url,
          ISSUER: issuer,
          SIGN_IN_ORIGIN: issuer,
          CLIENT_ID: INBOX_CLIENT_ID,
          TEAM: DEMO_TEAM.join(),
          MAIL: hasMail ? 'sent' : 'none',
        },
        timeout: limits.timeout,
        lazy: true,
        log,
      });
      invoke = async (event) => app.invoke(event, randomUUID());
      return app;
    },
  };
}
