import { randomUUID } from 'node:crypto';
import { inspect as format } from 'node:util';
import { createTransport } from 'nodemailer';
import { limits } from '../lib/contract/gateway-replies.ts';
import { closeServer, serve } from '../lib/pages/loopback-server.ts';
import type { StackState } from '../lib/running-stack.ts';
import { createAuthorizer } from './authorizer.ts';
import { dynamoDbLocalUnavailableReason, startEngine } from './database/engines.ts';
import { createTable, WITH_STREAM } from './database/table.ts';
import { createGateway } from './gateway.ts';
import { startIssuer } from './issuer/issuer-server.ts';
import { startFunction } from './lambda/function.ts';
import { startIncomingMail } from './mail/incoming-mail.ts';
import { startMailbox } from './mail/mailbox.ts';
import {
  startDemoServer,
  startDocsServer,
  startFormServer,
  type Addresses,
} from './page-servers.ts';
import type { Settings } from './settings.ts';
import { startEventSourceMapping, type StreamOptions } from './mail/stream.ts';

/** Without a folder, inquiries are in memory; without `liveForm`, web/dist is served. */
export interface StackOptions extends Partial<Omit<Settings, 'reset' | 'seed' | 'inspect'>> {
  inspect?: number | undefined;
  keysFile: string;
  branding?: Record<string, unknown>;
  /** Gets the lines of functions and gateway. Default: standard output, shortened. */
  log?: (line: string) => void;
}

/** Milliseconds, as on the stages. */
const DIGEST_INTERVAL = 5 * 60_000;
const TABLE = 'inquiries-local';

export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Without Idempotency-Key: dynalite lacks its transactions. docs/adr/0090 */
const withoutKey = (event: string): string =>
  JSON.stringify(JSON.parse(event), (name, value: unknown) =>
    name === 'idempotency-key' ? undefined : value,
  );

/** Leaves out metrics, requests that the gateway has printed, and mails sent before. */
function printLine(line: string): void {
  if (!line.startsWith('{')) return void process.stdout.write(`${line}\n`);
  const { level, message } = JSON.parse(line) as {
    level?: string;
    message?: { route?: string; outcome?: string };
  };
  const isRequest = level === 'INFO' && message?.route !== undefined;
  if (level === undefined || isRequest || message?.outcome === 'already-sent') return;
  process.stdout.write(`${level} ${format(message, { breakLength: Infinity })}\n`);
}

type Mail = Awaited<ReturnType<typeof startMail>>;

const REPLY_DOMAIN = 'reply.example.com';

/** ICU's name of an empty or unknown TZ is none that it takes. */
function findTimeZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone === 'Etc/Unknown' ? 'UTC' : timeZone;
}

/** Mailer and receiver. */
async function startMail(
  settings: Record<string, string>,
  stream: Pick<StreamOptions, 'endpoint' | 'streamArn' | 'log'>,
  smtpPort: number,
) {
  const incoming = await startIncomingMail({
    port: smtpPort,
    domain: REPLY_DOMAIN,
    report: (event) => take(receiver, event),
  });
  const environment = { ...settings, REPLY_DOMAIN, FOLLOW_UPS: settings['FOLLOW_UPS'] ?? 'true' };
  const startPart = async (handler: string, more: Record<string, string> = {}) =>
    startFunction({
      module: new URL(handler, import.meta.url).href,
      environment: { ...environment, ...more },
      timeout: 60_000,
      lazy: true,
      log: stream.log,
    });
  const mailer = await startPart('../mail/handler.ts');
  const invoke = async (event: string) => mailer.invoke(event, randomUUID());
  /** The queue of SES's events: Lambda repeats what fails. */
  const take = (by: typeof mailer, body: string): void => {
    const event = JSON.stringify({ Records: [{ messageId: randomUUID(), body }] });
    const run = async () => by.invoke(event, randomUUID());
    void run()
      .catch(run)
      .catch(run)
      .catch(() => undefined);
  };
  const receiver = await startPart('../mail/received/handler.ts', {
    AWS_ENDPOINT_URL_S3: incoming.url,
    MAIL_BUCKET: 'mails',
    REPLY_FROM: settings['INBOX_TO'] ?? '',
  });
  const mappings = (['inquiries', 'replies'] as const).map((kind) =>
    startEventSourceMapping({ ...stream, kind, invoke }),
  );
  /** The mailer logs a failure. */
  const sendDigests = (): void => void invoke('{"digest":true}').catch(() => undefined);
  const timer = setInterval(sendDigests, DIGEST_INTERVAL);
  return {
    report: (event: string): void => take(mailer, event),
    smtpPort: incoming.port,
    storeUrl: incoming.url,
    reload(): void {
      mailer.reload();
      receiver.reload();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      // Together: a mapping waits for its invocation, which closing the mailer aborts.
      const parts = [...mappings, incoming, mailer, receiver];
      await Promise.all(parts.map(async (part) => part.close()));
    },
  };
}

/**
 * Listens last at the gateway, when all else is ready.
 *
 * @throws UsageError if the engine cannot run.
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
  variables = {},
  inspect,
  log = printLine,
}: StackOptions) {
  await using parts = new AsyncDisposableStack();
  const keep = <Part extends { close(): Promise<void> }>(part: Part): Part => {
    parts.defer(() => part.close());
    return part;
  };
  const portAt = (offset: number): number => (port === 0 ? 0 : port + offset);
  let addresses: Addresses | undefined;
  let mail: Mail | undefined;

  const demo = keep(await startDemoServer(portAt(5), () => addresses));
  const embedders = [...otherOrigins, demo.url];
  const form = keep(
    await startFormServer(portAt(3), {
      live: liveForm,
      embedders,
      configure: () =>
        addresses && {
          ...branding,
          issuer: addresses.issuer,
          clientId: issuer.clientId,
          apiUrl: addresses.apiUrl,
        },
    }),
  );
  const corsOrigins = [...new Set([form.url, ...embedders])] as [string, ...string[]];
  const docs = keep(await startDocsServer(portAt(2), () => addresses));
  const mailbox =
    engineName === 'dynalite'
      ? undefined
      : keep(
          await startMailbox(
            portAt(4),
            (event) => mail?.report(event),
            async (answer) =>
              createTransport({ host: '127.0.0.1', port: mail?.smtpPort ?? 0 }).sendMail(answer),
          ),
        );
  const issuer = keep(await startIssuer({ port: portAt(1), keysFile, webOrigins: corsOrigins }));
  const engine = keep(await startEngine(engineName, folder));
  // dynalite has no streams.
  const streamArn = await createTable(engine.url, TABLE, mailbox && WITH_STREAM);

  /** Not the user's AWS settings. */
  const environment = {
    TABLE_NAME: TABLE,
    AWS_ENDPOINT_URL_DYNAMODB: engine.url,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    ...variables,
  };
  const lambda = keep(
    await startFunction({
      module: new URL('../src/handler.ts', import.meta.url).href,
      environment: {
        ...environment,
        CORS_ORIGIN: form.url,
        // Needs transactions, too.
        ...(mailbox === undefined && { INQUIRIES_PER_HOUR: '' }),
      },
      timeout: limits.timeout,
      ...(inspect !== undefined && {
        nodeArguments: [`--inspect=127.0.0.1:${inspect}`],
        // One process has the port, and no timeout ends it at a breakpoint (24 days at most).
        concurrency: 1,
        timeout: 2 ** 31 - 1,
      }),
      log,
    }),
  );
  if (mailbox !== undefined && streamArn !== undefined) {
    mail = keep(
      await startMail(
        {
          ...environment,
          AWS_ENDPOINT_URL_SESV2: mailbox.url,
          STAGE: 'local',
          INBOX_TO: 'support@example.com',
          INBOX_FROM: 'inquiries@example.com',
          COMPANY: JSON.stringify({ ...branding, form: form.url }),
          TIME_ZONE: findTimeZone(),
        },
        { endpoint: engine.url, streamArn, log },
        portAt(6),
      ),
    );
  }
  const gateway = createGateway({
    authorize: createAuthorizer({ issuer: issuer.url, audience: [issuer.clientId] }),
    invoke: (event, requestId) =>
      lambda.invoke(mailbox === undefined ? withoutKey(event) : event, requestId),
    corsOrigins,
    log,
    accessLog: log,
  });
  const url = await serve(gateway, port);
  parts.defer(() => closeServer(gateway));
  addresses = { apiUrl: url, issuer: issuer.url, formUrl: form.url };

  const started = parts.move();
  return {
    /** For `npm run token` and `npm run inbox`. */
    state: {
      pid: process.pid,
      gateway: url,
      form: form.url,
      mailbox: mailbox?.url,
      smtp: mail && `smtp://127.0.0.1:${mail.smtpPort}`,
      mailStore: mail?.storeUrl,
      issuer: issuer.url,
      keysFile,
      engine: engine.url,
      enginePid: engine.pid,
      table: TABLE,
    } satisfies StackState,
    docsUrl: docs.url,
    demoUrl: demo.url,
    /** The contact form's is first. */
    corsOrigins,
    issuer,
    engine,
    reload(): void {
      lambda.reload();
      mail?.reload();
    },
    close: () => started.disposeAsync(),
  };
}
