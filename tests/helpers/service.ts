import { createAuthorizer } from '../../scripts/local/authorizer.ts';
import { createGateway } from '../../scripts/local/gateway.ts';
import { startIssuer } from '../../scripts/local/issuer.ts';
import type { TokenRequest } from '../../scripts/local/issuer/tokens.ts';
import { startFunction } from '../../scripts/local/lambda/function.ts';
import { close, listen } from '../../scripts/local/server.ts';
import { send } from './http.ts';
import type { Answer } from './http.ts';
import { bestEngine, createOwnTable } from './own-table.ts';
import type { OwnTable } from './own-table.ts';

export interface User {
  readonly email: string;
  readonly sub: string;
  call(method: string, query?: string, body?: string | Buffer, contentType?: string): Promise<Answer>;
}

export interface Service {
  /** Address of the one path. */
  readonly url: string;
  readonly table: OwnTable;
  /** What the function and the gateway have logged. */
  readonly lines: readonly string[];
  signIn(request: TokenRequest & { email: string; sub: string }): Promise<User>;
  close(): Promise<void>;
}

const BUILT = new URL('../../dist/handler.mjs', import.meta.url);

/**
 * The whole service on a table of its own: gateway, authorizer, issuer and the built function.
 *
 * @param endpoint - Where the function finds the database, when it is not the engine itself.
 */
export async function startService(
  engine = bestEngine(),
  endpoint?: (engine: string) => Promise<string>,
): Promise<Service> {
  const table = await createOwnTable(engine);
  const issuer = await startIssuer({ port: 0 });
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const lambda = await startFunction({
    module: BUILT.href,
    environment: { ...table.environment(await endpoint?.(engine)), CORS_ORIGIN: 'https://www.example.com' },
    timeout: 30_000,
    log,
  });
  const gateway = createGateway({
    authorize: createAuthorizer({ issuer: issuer.url, audience: [issuer.audience] }),
    invoke: (event, requestId) => lambda.invoke(event, requestId),
    corsOrigin: 'https://www.example.com',
    log,
  });
  const url = `http://127.0.0.1:${await listen(gateway, 0)}/inquiries`;
  return {
    url,
    table,
    lines,
    async signIn(request) {
      const token = await issuer.token(request);
      return {
        email: request.email,
        sub: request.sub,
        call: (method, query = '', body, contentType = 'application/json') =>
          send(`${url}${query}`, {
            method,
            headers: ['Authorization', `Bearer ${token}`, 'Content-Type', contentType],
            ...(body !== undefined && { body }),
          }),
      };
    },
    async close() {
      await close(gateway);
      await lambda.close();
      await issuer.close();
      table.close();
    },
  };
}
