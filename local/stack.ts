import { inspect as format } from 'node:util';
import { limits } from '../lib/contract/gateway-replies.ts';
import { closeServer, serve } from '../lib/pages/loopback-server.ts';
import type { StackState } from '../lib/running-stack.ts';
import { createAuthorizer } from './authorizer.ts';
import { dynamoDbLocalUnavailableReason, startEngine } from './database/engines.ts';
import { createTable, WITH_STREAM } from './database/table.ts';
import { createGateway } from './gateway.ts';
import { openInbox } from './inbox.ts';
import { discoverIssuer } from './issuer/discover.ts';
import { startIssuer } from './issuer/issuer-server.ts';
import { startFunction } from './lambda/function.ts';
import { keepIn, type Keep } from './keep-parts.ts';
import { startMail } from './mail/start-mail.ts';
import {
  startDemoServer,
  startDocsServer,
  startFormServer,
  type Addresses,
} from './page-servers.ts';
import type { Settings } from './settings.ts';

/** Without a folder, inquiries are kept in memory. Without `liveForm`, web/dist is served. */
export interface StackOptions extends Partial<Omit<Settings, 'reset' | 'seed' | 'inspect'>> {
  inspect?: number | undefined;
  keysFile: string;
  branding?: Record<string, unknown>;
  /** Gets lines of functions and gateway. Default: prints them, shortened. */
  log?: (line: string) => void;
}

const TABLE = 'inquiries-local';

export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Removes Idempotency-Key, because dynalite has no transactions. docs/adr/0090 */
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

/** What the form is given, too (web/README.md). */
type FormAddresses = Addresses & { clientId: string };

async function startPages(
  keep: Keep,
  portAt: (offset: number) => number,
  { corsOrigins: others = [], liveForm: live = false, branding = {} }: StackOptions,
  find: () => FormAddresses | undefined,
) {
  const demo = keep(await startDemoServer(portAt(5), find));
  const embedders = [...others, demo.url];
  const form = keep(
    await startFormServer(portAt(3), {
      live,
      embedders,
      configure() {
        const addresses = find();
        if (addresses === undefined) return undefined;
        const { issuer, clientId, apiUrl } = addresses;
        return { ...branding, issuer, clientId, apiUrl };
      },
    }),
  );
  const docs = keep(await startDocsServer(portAt(2), find));
  const corsOrigins = [...new Set([form.url, ...embedders])] as [string, ...string[]];
  return { demo, form, docs, corsOrigins };
}

/** ICU does not take its own name for an empty or unknown TZ. */
function findTimeZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone === 'Etc/Unknown' ? 'UTC' : timeZone;
}

const toEnvironment = (engineUrl: string): Record<string, string> => ({
  STAGE: 'local',
  TIME_ZONE: findTimeZone(),
  TABLE_NAME: TABLE,
  AWS_ENDPOINT_URL_DYNAMODB: engineUrl,
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
});

const startRequestFunction = async (
  environment: Record<string, string>,
  inspect: number | undefined,
  log: (line: string) => void,
) =>
  startFunction({
    module: new URL('../src/handler.ts', import.meta.url).href,
    environment,
    timeout: limits.timeout,
    ...(inspect !== undefined && {
      nodeArguments: [`--inspect=127.0.0.1:${inspect}`],
      // One process has the port, and no timeout (24 days at most) ends it at a breakpoint.
      concurrency: 1,
      timeout: 2 ** 31 - 1,
    }),
    log,
  });

/**
 * The gateway starts last, when all else is ready.
 *
 * @throws UsageError if the engine cannot run.
 */
export async function startStack(options: StackOptions) {
  const { port = 0, folder, keysFile, variables = {}, log = printLine } = options;
  const hasDynamoDbLocal = dynamoDbLocalUnavailableReason() === undefined;
  const { engine: engineName = hasDynamoDbLocal ? 'dynamodb-local' : 'dynalite' } = options;
  const hasStreamsAndTransactions = engineName !== 'dynalite';
  await using parts = new AsyncDisposableStack();
  const keep = keepIn(parts);
  const portAt = (offset: number): number => (port === 0 ? 0 : port + offset);
  let addresses: FormAddresses | undefined;

  const pages = await startPages(keep, portAt, options, () => addresses);
  const { corsOrigins, form } = pages;
  const inbox = keep(await openInbox(portAt(7)));
  const issuer = keep(
    await startIssuer({
      port: portAt(1),
      keysFile,
      webOrigins: corsOrigins,
      inboxOrigin: inbox.url,
    }),
  );
  const signIn = options.signIn && (await discoverIssuer(options.signIn));
  const engine = keep(await startEngine(engineName, folder));
  const streamArn = await createTable(
    engine.url,
    TABLE,
    hasStreamsAndTransactions ? WITH_STREAM : undefined,
  );
  const environment = { ...toEnvironment(engine.url), ...variables };
  const lambda = keep(
    await startRequestFunction(
      {
        ...environment,
        CORS_ORIGIN: form.url,
        ...(hasStreamsAndTransactions && { STORED_FOR_MAIL: 'language,email_verified' }),
        ...(!hasStreamsAndTransactions && { INQUIRIES_PER_HOUR: '' }),
      },
      options.inspect,
      log,
    ),
  );
  const mail =
    streamArn === undefined
      ? undefined
      : keep(
          await startMail({
            environment: {
              ...environment,
              INBOX_URL: `${inbox.url}/`,
            },
            company: { ...options.branding, form: form.url },
            mailboxPort: portAt(4),
            smtpPort: portAt(6),
            stream: { endpoint: engine.url, streamArn, log },
          }),
        );
  const team = keep(
    await inbox.start({
      environment,
      issuer: issuer.url,
      hasMail: mail !== undefined,
      log,
    }),
  );
  const gateway = createGateway({
    authorize: createAuthorizer({ issuer: issuer.url, audience: [issuer.clientId], ...signIn }),
    invoke: (event, requestId) =>
      lambda.invoke(hasStreamsAndTransactions ? event : withoutKey(event), requestId),
    corsOrigins,
    log,
    accessLog: log,
  });
  const url = await serve(gateway, port);
  parts.defer(() => closeServer(gateway));
  const { url: ownIssuer, clientId: ownClient } = issuer;
  const { issuer: usersIssuer = ownIssuer, clientId = ownClient } = signIn ?? {};
  addresses = { apiUrl: url, issuer: usersIssuer, formUrl: form.url, clientId };

  const started = parts.move();
  return {
    state: {
      pid: process.pid,
      gateway: url,
      form: form.url,
      inbox: inbox.url,
      mailbox: mail?.mailboxUrl,
      smtp: mail?.smtpUrl,
      mailStore: mail?.storeUrl,
      issuer: issuer.url,
      usersIssuer: signIn?.issuer,
      keysFile,
      engine: engine.url,
      enginePid: engine.pid,
      table: TABLE,
    } satisfies StackState,
    docsUrl: pages.docs.url,
    demoUrl: pages.demo.url,
    corsOrigins,
    issuer,
    engine,
    reload(): void {
      lambda.reload();
      team.reload();
      mail?.reload();
    },
    close: () => started.disposeAsync(),
  };
}
