/** The smoke test. Each check says what to do if it fails. */
import { randomBytes, randomUUID } from 'node:crypto';
import { resolveMx, resolveTxt } from 'node:dns/promises';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { CognitoIdentityProvider } from '@aws-sdk/client-cognito-identity-provider';
import { Lambda } from '@aws-sdk/client-lambda';
import { SESv2, type GetAccountCommandOutput } from '@aws-sdk/client-sesv2';
import { NETWORK } from '../../lib/aws/aws.ts';
import { assert, toEvent } from '../../lib/contract/contract-checks.ts';
import { listDifferences, runForm, type Form } from '../form.ts';
import type { StageOutputs } from '../stage.ts';
import { liveOf, readLive } from '../versions.ts';
import { createApiChecks } from './api.ts';
import { checkMemory, createInvoke, readMetrics, type Invoke } from './invoke.ts';
import { Pending, runChecks, type Check, type Context } from './run-checks.ts';

// The prefix satisfies every rule for passwords.
const createPassword = (): string => `aA1!${randomBytes(24).toString('base64url')}`;

/**
 * Creates a user with a temporary password, signs in with a new one, and lets the user delete itself: the role that
 * deploys may set no password and delete no user. A new user each time, because the limit per hour counts by user. If
 * the sign-in fails, the user remains, without a password that anyone knows.
 *
 * @returns The ID token.
 * @throws Error without the user's email and passwords.
 */
async function signInOnce({
  user_pool_id: UserPoolId,
  client_id: ClientId,
}: NonNullable<StageOutputs['smoke_sign_in']>): Promise<string> {
  const client = new CognitoIdentityProvider(NETWORK);
  const email = `smoke-test-${randomUUID()}@inquiries.invalid`;
  const temporary = createPassword();
  const password = createPassword();
  try {
    await client.adminCreateUser({
      UserPoolId,
      Username: email,
      TemporaryPassword: temporary,
      MessageAction: 'SUPPRESS',
      UserAttributes: [
        { Name: 'email', Value: email },
        { Name: 'email_verified', Value: 'true' },
      ],
    });
    const { Session, ChallengeParameters } = await client.adminInitiateAuth({
      UserPoolId,
      ClientId,
      AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
      AuthParameters: { USERNAME: email, PASSWORD: temporary },
    });
    const { AuthenticationResult, ChallengeName } = await client.adminRespondToAuthChallenge({
      UserPoolId,
      ClientId,
      ChallengeName: 'NEW_PASSWORD_REQUIRED',
      Session,
      // The pool's name for the user, whose email address is an alias.
      ChallengeResponses: {
        USERNAME: ChallengeParameters?.['USER_ID_FOR_SRP'] ?? email,
        NEW_PASSWORD: password,
      },
    });
    const { IdToken, AccessToken } = AuthenticationResult ?? {};
    assert(IdToken !== undefined, `Cognito asks for ${ChallengeName} instead of signing in`);
    await client.deleteUser({ AccessToken });
    return IdToken;
  } catch (error) {
    // Cognito's messages may repeat what was sent.
    const failure = error as Error;
    const message = failure.message.replaceAll(/(smoke-test-|aA1!)[^"\s]+/g, '…');
    failure.message = `${failure.name}: ${message}`;
    throw error;
  }
}

/** Checks new instances, which invocations at the same time start. */
async function checkInstances(invoke: Invoke): Promise<string> {
  const event = toEvent({ method: 'GET' });
  const found = await Promise.all([1, 2, 3].map(() => invoke(event)));
  const log = found.flatMap((each) => each.log);
  const metrics = readMetrics(log);
  assert(
    !JSON.stringify(log).includes('--expose-gc'),
    'Node runs without --expose-gc, so large bodies can end an instance: docs/adr/0062',
  );
  const memory = checkMemory(log);
  const start = Math.max(...metrics.map(({ initDurationMs = 0 }) => initDurationMs));
  return `${memory} of 128 MB, started in ${Math.round(start)} ms, with gc`;
}

/** Whether each metric filter of the function's log finds a line of an invocation. */
async function checkMetricFilters(invoke: Invoke, logGroupName: string): Promise<string> {
  const claims = { sub: crypto.randomUUID(), email: 'test@inquiries.invalid' };
  const { log } = await invoke(toEvent({ method: 'POST', body: 'no JSON' }, claims));
  readMetrics(log);
  const logEventMessages = log.map((line) => JSON.stringify(line));
  const logs = new CloudWatchLogs(NETWORK);
  const { metricFilters = [] } = await logs.describeMetricFilters({ logGroupName });
  for (const { filterName, filterPattern } of metricFilters) {
    const { matches = [] } = await logs.testMetricFilter({ filterPattern, logEventMessages });
    assert(
      matches.length > 0,
      `${filterName} finds no line of ${logGroupName}: compare its pattern with the log`,
    );
  }
  return `${metricFilters.length} filters`;
}

/** Invokes the live version by its number, since the roles of GitHub may not invoke the alias. */
function createRunningChecks(name: string): Check[] {
  const invoke: Invoke = async (event) => {
    const { version } = await readLive(name);
    return createInvoke(`${name}:${version}`)(event);
  };
  return [
    ['memory and start of the function', () => checkInstances(invoke)],
    ['metric filters find their lines', () => checkMetricFilters(invoke, `/aws/lambda/${name}`)],
  ];
}

async function checkMappings(name: string): Promise<string> {
  const { EventSourceMappings = [] } = await new Lambda(NETWORK).listEventSourceMappings({
    FunctionName: liveOf(name),
  });
  assert(EventSourceMappings.length > 0, 'it reads nothing; deploy the stage');
  for (const { UUID, State = '', LastProcessingResult: result = '' } of EventSourceMappings) {
    assert(!/problem/i.test(result), `${result}: docs/runbook.md, "mailer-delay"`);
    if (/^(Creat|Enabling|Updat)/.test(State)) throw new Pending(`a mapping is ${State}`);
    assert(
      State === 'Enabled',
      `a mapping is ${State}; on again: deploy, or aws lambda update-event-source-mapping --uuid ${UUID} --enabled`,
    );
  }
  return `${EventSourceMappings.length} mappings`;
}

/** Whether SES sends for the identity. Its plan fails no deployment (docs/operations.md). */
async function checkIdentity(EmailIdentity: string): Promise<string> {
  const ses = new SESv2(NETWORK);
  const {
    VerifiedForSendingStatus: isVerified,
    VerificationStatus: status,
    DkimAttributes: { Tokens = [], SigningHostedZone = 'dkim.amazonses.com' } = {},
  } = await ses.getEmailIdentity({ EmailIdentity });
  if (isVerified) {
    const { PricingAttributes: { CurrentPlan: plan = 'unknown' } = {} } = await ses
      .getAccount()
      .catch(() => ({}) as GetAccountCommandOutput);
    return `${EmailIdentity}, plan ${plan}`;
  }
  const records = Tokens.map(
    (token) => `${token}._domainkey.${EmailIdentity} CNAME ${token}.${SigningHostedZone}`,
  );
  throw new Pending(`${EmailIdentity} is ${status}; enter in its DNS: ${records.join(', ')}`);
}

/** Whether the domain or a parent of it has a DMARC record (RFC 7489, 6.6.3). */
async function hasDmarc(domain: string): Promise<boolean> {
  const records = await resolveTxt(`_dmarc.${domain}`).catch(() => []);
  if (records.some((parts) => parts.join('').startsWith('v=DMARC1'))) return true;
  const parent = domain.slice(domain.indexOf('.') + 1);
  return parent.includes('.') && hasDmarc(parent);
}

/** Whether mails come to SES, and whether it can tell who wrote them. */
async function checkReplies(
  records: NonNullable<StageOutputs['mail_dns_records']>,
  from: readonly string[],
): Promise<string> {
  const missing: string[] = [];
  for (const { name, type, value } of records.filter((record) => record.type === 'MX')) {
    const found = await resolveMx(name).catch(() => []);
    if (!found.some(({ exchange }) => value.endsWith(` ${exchange}`))) {
      missing.push(`${name} ${type} ${value}`);
    }
  }
  const domains = new Set(from.map((sender) => sender.slice(sender.indexOf('@') + 1)));
  for (const domain of domains) {
    if (!(await hasDmarc(domain))) missing.push(`_dmarc.${domain} TXT "v=DMARC1; p=none"`);
  }
  if (missing.length === 0) return [...domains].join(', ');
  throw new Pending(
    `no answer by mail is taken before these are in the DNS: ${missing.join(', ')}`,
  );
}

/** Sends a mail to an address that bounces (SES, "mailbox simulator"). */
async function sendBounce({ mail, function: { name } }: StageOutputs): Promise<string> {
  await new SESv2(NETWORK).sendEmail({
    FromEmailAddress: mail?.from,
    Destination: { ToAddresses: ['bounce@simulator.amazonses.com'] },
    ConfigurationSetName: name,
    Content: { Simple: { Subject: { Data: 'Test' }, Body: { Text: { Data: 'Test' } } } },
  });
  return 'sent; the team gets a mail about it within minutes, or see docs/runbook.md, "mailer-failures"';
}

function createMailChecks(outputs: StageOutputs, bounces: boolean): Check[] {
  const { mailer, mail, mail_dns_records = [], reply_from } = outputs;
  const checks = Object.values(mailer).map(({ name }): Check => [
    `events are read for ${name}`,
    () => checkMappings(name),
  ]);
  if (mail) checks.push(['SES may send for the domain', () => checkIdentity(mail.identity)]);
  if (reply_from) {
    checks.push(['SES receives answers', () => checkReplies(mail_dns_records, reply_from)]);
  }
  if (bounces) checks.push(['a mail bounces', () => sendBounce(outputs)]);
  return checks;
}

const createInboxChecks = (url: string): Check[] => [
  [
    'the inbox leads to the sign-in of the team',
    async () => {
      const { status, headers } = await fetch(url, { redirect: 'manual' });
      const location = headers.get('location') ?? '';
      if (status === 302 && location.includes('/oauth2/authorize?')) return;
      throw new Pending(`${url} answered ${status}: docs/runbook.md, "inbox-errors"`);
    },
  ],
];

async function checkSignInPage(
  { issuer, clientId }: Record<'issuer' | 'clientId', string>,
  redirect_uri: string,
): Promise<void> {
  const signal = AbortSignal.timeout(20_000);
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`, { signal });
  const { authorization_endpoint } = (await discovery.json()) as { authorization_endpoint: string };
  const parameters = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    scope: 'openid email',
    redirect_uri,
  });
  const page = await fetch(`${authorization_endpoint}?${String(parameters)}`, { signal });
  assert(
    page.ok && (await page.text()).includes('<form'),
    `${authorization_endpoint} answered ${page.status} without a form; compare redirect_uri with the app client's: ${redirect_uri}`,
  );
}

async function checkForm(url: string, form: Form): Promise<string> {
  const differences = await listDifferences(url, form);
  assert(differences.length === 0, `${differences.join('; ')}: npm run deploy serves it again`);
  return `${form.size} files`;
}

/**
 * @param form - What should be served; undefined: any that runs.
 * @param wait - Seconds that CloudFront may take.
 */
function createFormChecks(
  { site, form_config: config, smoke_sign_in: signIn }: StageOutputs,
  form: Form | undefined,
  wait: number,
  env: NodeJS.ProcessEnv,
): Check[] {
  if (!site) return [];
  const { url } = site;
  const checks: Check[] = [];
  // Only a pool of the stage's own has a user for the smoke test.
  if (config && signIn) {
    checks.push(['the sign-in page has a form', () => checkSignInPage(config, url)]);
  }
  if (form) checks.push(['the form is served as it was built', () => checkForm(url, form), wait]);
  checks.push(['the form runs', () => runForm(url, undefined, env)]);
  return checks;
}

/**
 * @param form - What should be served; undefined: any that runs.
 * @param options - `wait`: seconds that a new API, and CloudFront, may take; `mail`: whether a mail is sent, which
 *   bounces.
 * @returns The titles of the checks that failed.
 */
export function testStage(
  outputs: StageOutputs,
  form: Form | undefined,
  context: Context,
  { wait = 60, mail = false } = {},
): Promise<string[]> {
  const { api_url: url, cors_origin: origin, smoke_sign_in: signIn } = outputs;
  const { env } = context.io;
  const target = { url, origin, token: env['SMOKE_TOKEN'] ?? '' };
  const checks: Check[] = [];
  if (signIn && target.token === '') {
    const signInOfUser = async () => void (target.token = await signInOnce(signIn));
    checks.push(['a new user of the pool signs in', signInOfUser]);
  }
  checks.push(
    ...createApiChecks(target, wait),
    ...createRunningChecks(outputs.function.name),
    ...createMailChecks(outputs, mail),
    ...(outputs.inbox ? createInboxChecks(outputs.inbox.url) : []),
    ...createFormChecks(outputs, form, wait, env),
  );
  return runChecks(checks, context);
}
