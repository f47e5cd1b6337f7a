import { createAuthorizer } from '../../local/authorizer.ts';
import { createGateway } from '../../local/gateway.ts';
import { startIssuer } from '../../local/issuer/issuer-server.ts';
import type { TokenRequest } from '../../lib/issuer-tokens.ts';
import { startFunction } from '../../local/lambda/function.ts';
import { closeServer, serve } from '../../lib/loopback-server.ts';
import { send } from './http.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { createOwnTable } from './own-table.ts';
import { BUILT } from './sandbox.ts';

export type Service = Awaited<ReturnType<typeof startService>>;
export type User = Awaited<ReturnType<Service['signIn']>>;

/** Gateway, authorizer, issuer and function on their own table, whose connection can fail. */
export async function startService({
  pageSize,
  settings = {},
  timeout = 30_000,
}: {
  pageSize?: number;
  settings?: Record<string, string>;
  /** Milliseconds that the gateway waits for the function. */
  timeout?: number;
} = {}) {
  const table = await createOwnTable();
  const proxy = await startFaultProxy(table.engine, pageSize);
  const issuer = await startIssuer({ port: 0 });
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const lambda = await startFunction({
    module: BUILT,
    environment: {
      ...table.environment(proxy.url),
      CORS_ORIGIN: 'https://www.example.com',
      ...settings,
    },
    timeout,
    log,
  });
  const gateway = createGateway({
    authorize: createAuthorizer({ issuer: issuer.url, audience: [issuer.clientId] }),
    invoke: (event, requestId) => lambda.invoke(event, requestId),
    corsOrigins: ['https://www.example.com'],
    log,
  });
  const url = `${await serve(gateway)}/inquiries`;
  return {
    url,
    table,
    proxy,
    lines,
    async signIn(request: TokenRequest & { email: string; sub: string }) {
      const token = await issuer.token(request);
      return {
        email: request.email,
        sub: request.sub,
        token,
        call: (
          method: string,
          query = '',
          body?: string | Buffer,
          contentType = 'application/json',
          headers: string[] = [],
        ) =>
          send(`${url}${query}`, {
            method,
            headers: ['Authorization', `Bearer ${token}`, 'Content-Type', contentType, ...headers],
            body,
          }),
      };
    },
    async close(): Promise<void> {
      await closeServer(gateway);
      await lambda.close();
      await issuer.close();
      await proxy.close();
    },
  };
}
