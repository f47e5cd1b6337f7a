/** What only AWS knows of a stage: each check says what to do if it fails. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { Lambda } from '@aws-sdk/client-lambda';
import { SESv2 } from '@aws-sdk/client-sesv2';
import { NETWORK } from '../lib/aws.ts';
import { assert } from '../lib/contract-checks.ts';
import { Undecided, type Check } from './checks.ts';
import { listDifferences, runForm, type Form } from './form.ts';
import { createInvoke, toEvent, type Invoke } from './invoke.ts';
import type { StageOutputs } from './outputs.ts';
import type { Site } from './site.ts';
import { liveOf } from './versions.ts';

/** Most megabytes that the function may use after a few requests: the alarm function-memory is raised above them. */
const MOST_MEMORY_MB = 115;

interface Report {
  readonly record?: {
    readonly metrics?: { readonly maxMemoryUsedMB?: number; readonly initDurationMs?: number };
  };
}

/** Lambda's measurements in the log of invocations. @throws {@link Undecided} if it has none. */
function readMetrics(log: readonly Report[]) {
  const metrics = log.flatMap(({ record }) => record?.metrics ?? []);
  if (metrics.length > 0) return metrics;
  throw new Undecided('pending', 'the log of an invocation ends without platform.report');
}

/** Several invocations at a time, of which some start an instance. */
async function checkInstances(invoke: Invoke): Promise<string> {
  const event = toEvent({ method: 'GET' });
  const found = await Promise.all([1, 2, 3].map(() => invoke(event)));
  const lines = found.flatMap(({ log }) => log);
  const metrics = readMetrics(lines);
  const most = (name: keyof (typeof metrics)[0]): number =>
    Math.round(Math.max(...metrics.map((each) => each[name] ?? 0)));
  assert(
    !JSON.stringify(lines).includes('--expose-gc'),
    'Node runs without --expose-gc, so large bodies can end an instance: docs/adr/0062',
  );
  const memory = most('maxMemoryUsedMB');
  assert(memory <= MOST_MEMORY_MB, `${memory} of 128 MB: docs/runbook.md, "function-memory"`);
  return `${memory} of 128 MB, started in ${most('initDurationMs')} ms, with gc`;
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

/** Whether Lambda reads the stream for the functions that mail. */
async function checkMappings(functions: readonly string[]): Promise<string> {
  const lambda = new Lambda(NETWORK);
  for (const name of functions) {
    const FunctionName = liveOf(name);
    const { EventSourceMappings = [] } = await lambda.listEventSourceMappings({ FunctionName });
    const [{ UUID, State = 'missing', LastProcessingResult: result = '' } = {}] =
      EventSourceMappings;
    assert(!/problem/i.test(result), `${result} (${name}): docs/runbook.md, "mailer-delay"`);
    if (/^(Creat|Enabling|Updat)/.test(State)) {
      throw new Undecided('pending', `${UUID} is ${State}`);
    }
    assert(
      State === 'Enabled',
      `that of ${name} is ${State}; on again: deploy, or aws lambda update-event-source-mapping --uuid ${UUID} --enabled`,
    );
  }
  return `${functions.length} mappings`;
}

/** Whether SES sends for the identity. */
async function checkIdentity(EmailIdentity: string): Promise<string> {
  const { VerifiedForSendingStatus, VerificationStatus, DkimAttributes } = await new SESv2(
    NETWORK,
  ).getEmailIdentity({ EmailIdentity });
  if (VerifiedForSendingStatus) return EmailIdentity;
  const { Tokens = [], SigningHostedZone = 'dkim.amazonses.com' } = DkimAttributes ?? {};
  const records = Tokens.map(
    (token) => `${token}._domainkey.${EmailIdentity} CNAME ${token}.${SigningHostedZone}`,
  );
  throw new Undecided(
    'pending',
    `${EmailIdentity} is ${VerificationStatus}; enter in its DNS: ${records.join(', ')}`,
  );
}

/** Whether the user pool has a page to sign in. */
async function checkSignInPage(
  { issuer, clientId }: Readonly<Record<'issuer' | 'clientId', string>>,
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

/** Waits until CloudFront has forgotten the files from before. */
async function awaitForm({ url }: Site, form: Form, seconds: number): Promise<string> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const differences = await listDifferences(url, form);
    if (differences.length === 0) return `${form.size} files`;
    assert(
      performance.now() < deadline,
      `${differences.join('; ')}: npm run deploy serves it again`,
    );
    await sleep(2_000);
  }
}

/**
 * @param form - What should be served; undefined: any that runs.
 * @param wait - Seconds that CloudFront may take.
 */
export function createStageChecks(
  { function: { name }, mailer, mail, site, form_config, smoke_sign_in }: StageOutputs,
  form: Form | undefined,
  wait: number,
  env: NodeJS.ProcessEnv,
  interruption: AbortSignal,
): Check[] {
  const invoke = createInvoke(liveOf(name), interruption);
  const checks: Record<string, false | undefined | null | Check[1]> = {
    'memory and start of the function': () => checkInstances(invoke),
    'metric filters find their lines': () => checkMetricFilters(invoke, `/aws/lambda/${name}`),
    'the stream is read for the mailer':
      mail && (() => checkMappings(Object.values(mailer).map((each) => each.name))),
    'SES may send for the domain': mail && (() => checkIdentity(mail.identity)),
    'the sign-in page has a form':
      site && form_config && smoke_sign_in && (() => checkSignInPage(form_config, site.url)),
    'the form is served as it was built': site && form && (() => awaitForm(site, form, wait)),
    'the form runs': site && (() => runForm(site.url, undefined, env)),
  };
  return Object.entries(checks).flatMap(([title, run]) => (run ? [[title, run] as const] : []));
}

/** Sends a mail to an address that bounces (SES, "mailbox simulator"). */
export async function sendBounce({ mail, function: { name } }: StageOutputs): Promise<string> {
  await new SESv2(NETWORK).sendEmail({
    FromEmailAddress: mail?.from,
    Destination: { ToAddresses: ['bounce@simulator.amazonses.com'] },
    ConfigurationSetName: name,
    Content: { Simple: { Subject: { Data: 'Test' }, Body: { Text: { Data: 'Test' } } } },
  });
  return 'sent; the team gets a mail about it within minutes, or see docs/runbook.md, "mailer-failures"';
}
