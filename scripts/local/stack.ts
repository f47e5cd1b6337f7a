/** The whole service on one machine: engine, issuer and gateway around the function. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthorizer } from './authorizer.ts';
import { startDocsServer } from './docs.ts';
import { startEngine, dynamoDbLocalUnavailableReason } from './dynamodb.ts';
import type { Engine, EngineName } from './dynamodb.ts';
import { startFormServer } from './form.ts';
import { createGateway } from './gateway.ts';
import { startIssuer } from './issuer.ts';
import type { Issuer } from './issuer.ts';
import { startFunction } from './lambda/function.ts';
import { limits } from './replies.ts';
import { checkPort, close, listen } from './server.ts';
import { createTable } from './table.ts';

export interface StackOptions {
  /** The gateway's port; issuer, docs and contact form take the next three. 0 (the default): any free ports. */
  readonly port?: number;
  /** Default: DynamoDB Local where Java allows it, otherwise dynalite. */
  readonly engine?: EngineName | undefined;
  /** Where inquiries and the issuer's keys are kept; absent: in memory. */
  readonly folder?: string | undefined;
  /** URL of the module with the handler. Default: the source. */
  readonly handler?: URL;
  /** The one origin that CORS allows. Default: that of the form, which is served only then. */
  readonly corsOrigin?: string;
  /** Port of Node's inspector, to debug the function without its timeout. */
  readonly inspect?: number | undefined;
  /** Receives each line that the function and the gateway log. */
  readonly log?: (line: string) => void;
}

export interface Stack {
  /** The gateway's address without a path. */
  readonly url: string;
  /** The contact form's address without a path; absent where another origin has the API. */
  readonly formUrl?: string;
  /** The address of the page that describes the service. */
  readonly docsUrl: string;
  readonly issuer: Issuer;
  /** The issuer's key file, which `npm run token` signs with. */
  readonly keysFile: string;
  readonly engine: Engine;
  readonly tableName: string;
  /** Serves the next requests with the code as it is now. */
  reload(): void;
  close(): Promise<void>;
}

/** Prints a log line; those with metrics are for CloudWatch and would only fill the terminal. */
function printLine(line: string): void {
  if (!line.startsWith('{"_aws":')) process.stdout.write(`${line}\n`);
}

/**
 * Starts the stack on loopback ports.
 *
 * @throws UsageError when the engine asked for cannot run here; Error with `code` EADDRINUSE when a port is taken.
 * What had been started is stopped again.
 */
export async function startStack({
  port = 0,
  engine: engineName = dynamoDbLocalUnavailableReason() === undefined ? 'dynamodb-local' : 'dynalite',
  folder,
  handler = new URL('../../src/handler.ts', import.meta.url),
  corsOrigin: otherOrigin,
  inspect,
  log = printLine,
}: StackOptions = {}): Promise<Stack> {
  const tableName = 'inquiries-local';
  await using resources = new AsyncDisposableStack();

  // The one origin that CORS allows is the form's, or there is no form. docs/adr/0055
  const form = otherOrigin === undefined ? await startFormServer(port === 0 ? 0 : port + 3) : undefined;
  resources.defer(async () => form?.close());
  const corsOrigin = otherOrigin ?? form?.url ?? '';
  const docs = await startDocsServer(port === 0 ? 0 : port + 2);
  resources.defer(() => docs.close());

  const lambda = Promise.withResolvers<Awaited<ReturnType<typeof startFunction>>>();
  lambda.promise.catch(() => undefined);
  const keysFolder = folder ?? (await mkdtemp(join(tmpdir(), 'inquiries-keys-')));
  if (folder === undefined) resources.defer(() => rm(keysFolder, { recursive: true }));
  const keysFile = join(keysFolder, 'issuer-keys.json');
  const issuer = await startIssuer({
    port: port === 0 ? 0 : port + 1,
    keysFile,
    webOrigins: [corsOrigin, docs.url],
  });
  resources.defer(() => issuer.close());

  const gateway = createGateway({
    authorize: createAuthorizer({ issuer: issuer.url, audience: [issuer.audience] }),
    invoke: async (event, requestId) => (await lambda.promise).invoke(event, requestId),
    corsOrigin,
    log,
  });
  const gatewayPort = await listen(gateway, port);
  resources.defer(() => close(gateway));

  const url = `http://127.0.0.1:${gatewayPort}`;
  form?.configure({ issuer: issuer.url, clientId: issuer.clientId, apiUrl: url });
  docs.configure({ gateway: url, issuer: issuer.url, clientId: issuer.clientId });

  const engine = await startEngine(engineName, folder);
  resources.defer(() => engine.close());
  await createTable(engine.url, tableName);

  const { PATH = '' } = process.env;
  if (inspect !== undefined) await checkPort(inspect);
  const startedFunction = await startFunction({
    module: handler.href,
    environment: {
      PATH,
      TABLE_NAME: tableName,
      CORS_ORIGIN: corsOrigin,
      AWS_ENDPOINT_URL_DYNAMODB: engine.url,
      AWS_REGION: 'local',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      // Nothing of the user's own AWS settings may reach a local run.
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    },
    timeout: limits.timeout,
    ...(inspect !== undefined && {
      nodeArguments: [`--inspect=127.0.0.1:${inspect}`],
      // One process has the port, and no timeout ends it at a breakpoint: the longest that setTimeout takes is 24 days.
      concurrency: 1,
      timeout: 2 ** 31 - 1,
    }),
    log,
  });
  resources.defer(() => startedFunction.close());
  lambda.resolve(startedFunction);

  const started = resources.move();
  return {
    url,
    ...(form !== undefined && { formUrl: form.url }),
    docsUrl: docs.url,
    issuer,
    keysFile,
    engine,
    tableName,
    reload: () => startedFunction.reload(),
    close: () => started.disposeAsync(),
  };
}
