/** The whole service on one machine: engine, issuer and gateway around the function, mailer and mailbox behind it. */
import { randomUUID } from 'node:crypto';
import { inspect as format } from 'node:util';
import { createAuthorizer } from './authorizer.ts';
import { startDemoServer } from './pages/demo-server.ts';
import { startDocsServer } from './pages/docs-server.ts';
import {
  startEngine,
  dynamoDbLocalUnavailableReason,
  type EngineName,
} from './database/engines.ts';
import { startFormServer } from './pages/form-server.ts';
import { createGateway } from './gateway.ts';
import { startIssuer } from './issuer/issuer-server.ts';
import { startFunction } from './lambda/function.ts';
import { startMailbox } from './mailbox.ts';
import { limits } from '../lib/gateway-replies.ts';
import { close, listen } from '../lib/loopback-server.ts';
import { startEventSourceMapping, type StreamOptions } from './stream.ts';
import { openTable } from './database/table.ts';

export interface StackOptions {
  /** The gateway's port; issuer, docs, form, mailbox and demo take the next five. 0 (the default): any free ports. */
  readonly port?: number;
  /** Default: DynamoDB Local if it can run here, otherwise dynalite. */
  readonly engine?: EngineName | undefined;
  /** Where inquiries are kept; absent: in memory. */
  readonly folder?: string | undefined;
  /** Where the issuer's key is kept; absent: in memory. */
  readonly keysFile?: string | undefined;
  /** Origins of other pages that may sign in and call the API, as the contact form does. */
  readonly corsOrigins?: readonly string[];
  /** Serves the form from its sources, and applies their changes to open pages. Default: serves web/dist. */
  readonly liveForm?: boolean;
  /** The company's settings of the form: name, colour, texts. */
  readonly branding?: Readonly<Record<string, unknown>>;
  /** Settings of the function and the mailer, for their environment, from readSettings. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Port of Node's inspector, to debug the function without its timeout. */
  readonly inspect?: number | undefined;
  /** Receives each line that the functions and the gateway log. Default: standard output, shortened. */
  readonly log?: (line: string) => void;
}

/** Milliseconds from one look for due digests to the next, as on the stages. */
const DIGEST_INTERVAL = 5 * 60_000;

export type Stack = Awaited<ReturnType<typeof startStack>>;

/** The event of a request without Idempotency-Key, which needs transactions; dynalite has none. docs/adr/0090 */
function withoutKey(event: string): string {
  const { headers, ...rest } = JSON.parse(event) as {
    readonly headers: Readonly<Record<string, string>>;
  };
  return JSON.stringify({ ...rest, headers: { ...headers, 'idempotency-key': undefined } });
}

/**
 * Prints a line that a function or the gateway logs, without metrics, requests that the gateway has printed, and mails that
 * were sent before: after a start, the mailer gets all records of the stream again.
 */
function printLine(line: string): void {
  if (!line.startsWith('{')) return void process.stdout.write(`${line}\n`);
  const { level, message } = JSON.parse(line) as {
    readonly level?: string;
    readonly message?: { readonly route?: string; readonly outcome?: string };
  };
  const isRequest = level === 'INFO' && message?.route !== undefined;
  if (level === undefined || isRequest || message?.outcome === 'already-sent') return;
  process.stdout.write(`${level} ${format(message, { breakLength: Infinity })}\n`);
}

/** What both functions are told. The user's own AWS settings are ignored. */
const createEnvironment = (engineUrl: string, tableName: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  TABLE_NAME: tableName,
  AWS_ENDPOINT_URL_DYNAMODB: engineUrl,
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
});

type Mail = Awaited<ReturnType<typeof startMail>>;

/** Starts the mailer, and what invokes it: the table's stream, SES's events and the schedule. */
async function startMail(
  environment: Readonly<Record<string, string>>,
  stream: Pick<StreamOptions, 'endpoint' | 'streamArn' | 'log'>,
) {
  const mailer = await startFunction({
    module: new URL('../src/mailer/handler.ts', import.meta.url).href,
    environment,
    timeout: 60_000,
    lazy: true,
    log: stream.log,
  });
  const invoke = async (event: string) => mailer.invoke(event, randomUUID());
  const mappings = (['inquiries', 'replies'] as const).map((kind) =>
    startEventSourceMapping({ ...stream, kind, invoke }),
  );
  /** A failed invocation is logged by the mailer. */
  const send = (event: object): void => void invoke(JSON.stringify(event)).catch(() => undefined);
  const timer = setInterval(() => send({ digest: true }), DIGEST_INTERVAL);
  return {
    /** Passes on an event of SES. */
    report: (Message: string): void => send({ Records: [{ Sns: { Message } }] }),
    reload: () => mailer.reload(),
    async close(): Promise<void> {
      clearInterval(timer);
      // At the same time: a mapping waits for its invocation, which closing the mailer aborts.
      await Promise.all([...mappings, mailer].map(async (part) => part.close()));
    },
  };
}

/**
 * Starts the stack on loopback ports. The gateway listens last, when everything behind it is ready.
 *
 * @throws UsageError when the engine cannot run here; Error with `code` EADDRINUSE and `port` when a port is taken.
 * Parts that were started are closed.
 */
export async function startStack({
  port = 0,
  engine: engineName = dynamoDbLocalUnavailableReason() === undefined
    ? 'dynamodb-local'
    : 'dynalite',
  folder,
  keysFile,
  corsOrigins: otherOrigins = [],
  liveForm = false,
  branding = {},
  settings = {},
  inspect,
  log = printLine,
}: StackOptions = {}) {
  const tableName = 'inquiries-local';
  await using resources = new AsyncDisposableStack();

  const portAt = (offset: number): number => (port === 0 ? 0 : port + offset);
  const closeLater = <Part extends { close(): Promise<void> } | undefined>(part: Part): Part => {
    resources.defer(() => part?.close());
    return part;
  };
  const demo = closeLater(await startDemoServer(portAt(5)));
  const embedders = [...otherOrigins, demo.url];
  const form = closeLater(await startFormServer(portAt(3), { live: liveForm, embedders }));
  const corsOrigins = [...new Set([form.url, ...embedders])] as [string, ...string[]];
  const docs = closeLater(await startDocsServer(portAt(2)));
  let mail: Mail | undefined;
  const mailbox = closeLater(
    engineName === 'dynalite'
      ? undefined
      : await startMailbox(portAt(4), (message) => mail?.report(message)),
  );
  const issuer = closeLater(
    await startIssuer({ port: portAt(1), keysFile, webOrigins: corsOrigins }),
  );

  // Loaded while the engine's process starts.
  const loading = form.load();
  const engine = closeLater(await startEngine(engineName, folder));
  await loading;
  const streamArn = await openTable(engine, tableName);
  const environment = { ...createEnvironment(engine.url, tableName), ...settings };
  const lambda = closeLater(
    await startFunction({
      module: new URL('../src/handler.ts', import.meta.url).href,
      environment: {
        ...environment,
        CORS_ORIGIN: form.url,
        // A limit needs transactions, as a key does.
        ...(engine.name === 'dynalite' && { INQUIRIES_PER_HOUR: '' }),
      },
      timeout: limits.timeout,
      ...(inspect !== undefined && {
        nodeArguments: [`--inspect=127.0.0.1:${inspect}`],
        // One process has the port, and no timeout ends it at a breakpoint: the longest that setTimeout takes is 24 days.
        concurrency: 1,
        timeout: 2 ** 31 - 1,
      }),
      log,
    }),
  );
  if (mailbox !== undefined && streamArn !== undefined) {
    mail = closeLater(
      await startMail(
        {
          ...environment,
          AWS_ENDPOINT_URL_SESV2: mailbox.url,
          STAGE: 'local',
          INBOX_TO: 'support@example.com',
          INBOX_FROM: 'inquiries@example.com',
          COMPANY: JSON.stringify({ ...branding, form: form.url }),
          TIME_ZONE: Intl.DateTimeFormat().resolvedOptions().timeZone,
        },
        { endpoint: engine.url, streamArn, log },
      ),
    );
  }
  const gateway = createGateway({
    authorize: createAuthorizer({ issuer: issuer.url, audience: [issuer.clientId] }),
    invoke: (event, requestId) =>
      lambda.invoke(engineName === 'dynalite' ? withoutKey(event) : event, requestId),
    corsOrigins,
    log,
    accessLog: log,
  });
  const url = `http://127.0.0.1:${await listen(gateway, port)}`;
  resources.defer(() => close(gateway));
  form.configure({ ...branding, issuer: issuer.url, clientId: issuer.clientId, apiUrl: url });
  demo.configure({ issuer: issuer.url, apiUrl: url, formUrl: form.url });
  docs.configure({ gateway: url });

  const started = resources.move();
  return {
    /** The gateway's address without a path. */
    url,
    formUrl: form.url,
    /** The origins that may call the API; the contact form's is the first. */
    corsOrigins,
    docsUrl: docs.url,
    /** A page of another origin with the custom element. */
    demoUrl: demo.url,
    /** The mailbox's address; undefined with dynalite. */
    mailboxUrl: mailbox?.url,
    issuer,
    engine,
    tableName,
    /** Runs the next requests, and sends the next mails, on the code as it is now. */
    reload(): void {
      lambda.reload();
      mail?.reload();
    },
    close: () => started.disposeAsync(),
  };
}
