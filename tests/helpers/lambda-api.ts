/** Plays the part of Lambda's API that invokes functions: it runs them in sandboxes, as the local stack does. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startFunction } from '../../local/lambda/function.ts';
import type { LocalFunction } from '../../local/lambda/function.ts';
import { FunctionTimeout } from '../../local/lambda/sandbox.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { BUILT } from './sandbox.ts';

/** Answers the requests that are no invocations. */
export type Other = (request: IncomingMessage, body: string, response: ServerResponse) => unknown;

export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** What the built function needs to start. It finds no database, which it does not need before the claims are right. */
const ENVIRONMENT = {
  TABLE_NAME: 'inquiries',
  CORS_ORIGIN: 'http://localhost:5173',
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9',
};

/** URL of a module with a handler of this body. */
export const toModule = (body: string): string =>
  `data:text/javascript,${encodeURIComponent(`export const handler = async (event) => { ${body} }`)}`;

/**
 * Starts it.
 *
 * @param other - Answers everything that is no invocation.
 */
export async function startLambdaApi(other?: Other) {
  const functions = new Map<string, Promise<LocalFunction>>();
  /** Names that were invoked, with their aliases. */
  const invoked: string[] = [];
  /** What the next invocations are refused with; none of them runs the function. */
  const refusals: Refusal[] = [];

  const invoke = async (name: string, event: string, response: ServerResponse): Promise<void> => {
    invoked.push(name);
    const running = functions.get(name);
    const type = { 'content-type': 'application/json' };
    const missing = {
      status: 404,
      type: 'ResourceNotFoundException',
      message: `Function not found: ${name}`,
    };
    const refusal = refusals.shift();
    if (running === undefined || refusal !== undefined) {
      const { status, type: errorType, message } = refusal ?? missing;
      response
        .writeHead(status, { ...type, 'x-amzn-errortype': errorType })
        .end(JSON.stringify({ Message: message }));
      return;
    }
    try {
      const result = await (await running).invoke(event, crypto.randomUUID());
      response.writeHead(200, type).end(result);
    } catch (error) {
      const { message, cause } = error as Error;
      const thrown = {
        errorType: error instanceof FunctionTimeout ? 'Sandbox.Timedout' : 'Runtime.ExitError',
      };
      response
        .writeHead(200, { ...type, 'x-amz-function-error': 'Unhandled' })
        .end(typeof cause === 'string' ? cause : JSON.stringify({ ...thrown, errorMessage: message }));
    }
  };
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const [, name] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(request.url ?? '') ?? [];
      if (name !== undefined) return invoke(decodeURIComponent(name), body, response);
      if (other === undefined) return response.writeHead(404).end();
      return other(request, body, response);
    })();
  });
  return {
    server,
    url: `http://127.0.0.1:${await listen(server, 0)}`,
    invoked,
    refusals,
    /**
     * Makes a function, or replaces it.
     *
     * @param name - With its alias or version: `inquiries-develop:live`.
     */
    async deploy(name: string, module = BUILT, timeout = 30_000): Promise<void> {
      await (await functions.get(name))?.close();
      functions.set(
        name,
        startFunction({ module, environment: ENVIRONMENT, timeout, lazy: true, concurrency: 1 }),
      );
    },
    async close(): Promise<void> {
      await close(server);
      for (const running of functions.values()) await (await running).close();
    },
  };
}
