import { closeServer, serve } from '../../lib/pages/loopback-server.ts';
import { createGateway, type GatewayOptions } from '../../local/gateway.ts';
import { createApp } from '../../src/app.ts';
import { inquiriesPath } from '../../src/contract.ts';
import type { GatewayEvent } from '../../src/http.ts';
import type { Inquiries } from '../../src/inquiries.ts';

export const ORIGIN = 'https://www.example.com';

/** Tokens are claims in JSON. */
export async function serveApp(inquiries: Inquiries, parts: Partial<GatewayOptions> = {}) {
  const app = createApp({ inquiries, corsOrigin: ORIGIN });
  const gateway = createGateway({
    authorize: async (header = '') => {
      const token = header.replace(/^Bearer /, '');
      return token.startsWith('{') ? { claims: JSON.parse(token) } : { challenge: 'Bearer' };
    },
    invoke: async (event) => JSON.stringify(await app(JSON.parse(event) as GatewayEvent)),
    corsOrigins: [ORIGIN],
    log: () => undefined,
    ...parts,
  });
  const url = `${await serve(gateway)}${inquiriesPath}`;
  return { url, close: () => closeServer(gateway) };
}
