/** What only AWS knows of a stage: each check says what to do if it fails. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { Lambda } from '@aws-sdk/client-lambda';
import { SESv2 } from '@aws-sdk/client-sesv2';
import { NETWORK } from '../lib/aws.ts';
import { assert } from '../lib/contract-checks.ts';
import { Pending, type Check } from './checks.ts';
import { listDifferences, runForm, type Form } from './form.ts';
import { toEvent, type Invoke } from './invoke.ts';
import type { StageOutputs } from './outputs.ts';
import type { Site } from './site.ts';
import { liveOf } from './versions.ts';

/** Most megabytes that the function may use after a few requests: the alarm function-memory is raised above them. */
const MOST_MEMORY_MB = 115;
const NO_REPORT = 'the log of an invocation ends without platform.report';

interface Report {
  readonly record?: {
    readonly metrics?: { readonly maxMemoryUsedMB?: number; readonly initDurationMs?: number };
  };
}

/** Several invocations at a time, of which some start an instance. */
async function checkInstances(invoke: Invoke): Promise<string> {
  const event = toEvent({ method: 'GET' });
  const logs = await Promise.all([1, 2, 3].map(async () => (await invoke(event)).log));
  const lines = logs.flat();
  const metrics = lines.map((line) => (line as Report).record?.metrics ?? {});
  const memory = Math.max(0, ...metrics.map(({ maxMemoryUsedMB = 0 }) => maxMemoryUsedMB));
  const starts = metrics.flatMap(({ initDurationMs }) => initDurationMs ?? []);
  if (memory === 0) throw new Pending(NO_REPORT);
  assert(
    !JSON.stringify(lines).includes('--expose-gc'),
    'Node runs without --expose-gc, so large bodies can end an instance: docs/adr/0062',
  );
  assert(memory <= MOST_MEMORY_MB, `${memory} of 128 MB: docs/runbook.md, "function-memory"`);
  const started = starts.length === 0 ? '' : `, started in ${Math.round(Math.max(...starts))} ms`;
  return `${memory} of 128 MB${started}, with gc`;
}

/** Whether each metric filter of the function's log finds a line of an invocation. */
async function checkMetricFilters(invoke: Invoke, logGroupName: string): Promise<string> {
  const claims = { sub: crypto.randomUUID(), email: 'test@inquiries.invalid' };
  const { log } = await invoke(toEvent({ method: 'POST', body: 'no JSON' }, claims));
  const logEventMessages = log.map((line) => JSON.stringify(line));
  if (logEventMessages.length === 0) throw new Pending(NO_REPORT);
  const logs = new CloudWatchLogs(NETWORK);
  const { metricFilters = [] } = await logs.describeMetricFilters({ logGroupName });
  const names = await Promise.all(
    metricFilters.map(async ({ filterName = '', filterPattern = '' }) => {
      const { matches = [] } = await logs.testMetricFilter({ filterPattern, logEventMessages });
      return matches.length === 0 ? filterName : '';
    }),
  );
  const blind = names.filter((name) => name !== '').join(', ');
  assert(
    blind === '',
    `${blind} finds no line of ${logGroupName}: compare its pattern with the log`,
  );
  return `${metricFilters.length} filters`;
}

/** Whether Lambda reads the stream for the functions that mail. */
async function checkMappings(functions: readonly string[]): Promise<string> {
  const lambda = new Lambda(NETWORK);
  const lists = await Promise.all(
    functions
      .flatMap((name) => [name, liveOf(name)])
      .map((FunctionName) => lambda.listEventSourceMappings({ FunctionName })),
  );
  const mappings = lists.flatMap(({ EventSourceMappings = [] }) => EventSourceMappings);
  assert(mappings.length > 0, 'no function reads the stream; deploy again');
  for (const { UUID, State = '', LastProcessingResult: result = '' } of mappings) {
    assert(
      !State.startsWith('Disabl'),
      `${UUID} is switched off; on again: aws lambda update-event-source-mapping --uuid ${UUID} --enabled`,
    );
    assert(!/problem/i.test(result), `${result} (${UUID}): docs/runbook.md, "mailer-delay"`);
    if (State !== 'Enabled') throw new Pending(`${UUID} is ${State}`);
  }
  return `${mappings.length} mappings`;
}

/** Whether SES sends for the identity. */
async function checkIdentity(identity: string): Promise<string> {
  const { VerifiedForSendingStatus, VerificationStatus, DkimAttributes } = await new SESv2(
    NETWORK,
  ).getEmailIdentity({ EmailIdentity: identity });
  if (VerifiedForSendingStatus) return identity;
  const { Tokens = [], SigningHostedZone = 'dkim.amazonses.com' } = DkimAttributes ?? {};
  const records = Tokens.map(
    (token) => `${token}._domainkey.${identity} CNAME ${token}.${SigningHostedZone}`,
  );
  throw new Pending(
    `${identity} is ${VerificationStatus}; enter in its DNS: ${records.join(', ')}`,
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
  const parameters = {
    client_id: clientId,
    response_type: 'code',
    scope: 'openid email',
    redirect_uri,
  };
  const page = await fetch(`${authorization_endpoint}?${String(new URLSearchParams(parameters))}`, {
    signal,
  });
  assert(
    page.ok && (await page.text()).includes('<form'),
    `${authorization_endpoint} answered ${page.status} without a form; compare redirect_uri with the app client's: ${redirect_uri}`,
  );
}

export function createStageChecks(outputs: StageOutputs, invoke: Invoke): Check[] {
  const {
    function: { name },
    mail,
    site,
    form_config: form,
    smoke_sign_in: signIn,
  } = outputs;
  const mailers = Object.values(outputs.mailer).map((each) => each.name);
  return [
    { title: 'memory and start of the function', run: () => checkInstances(invoke) },
    {
      title: 'metric filters find their lines',
      run: () => checkMetricFilters(invoke, `/aws/lambda/${name}`),
    },
    ...(mail
      ? [
          { title: 'the stream is read for the mailer', run: () => checkMappings(mailers) },
          { title: 'SES may send for the domain', run: () => checkIdentity(mail.identity) },
        ]
      : []),
    ...(site && form && signIn
      ? [{ title: 'the sign-in page has a form', run: () => checkSignInPage(form, site.url) }]
      : []),
  ];
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

/** @param form - What should be served; undefined: any that runs. */
export const createFormChecks = (
  site: Site,
  form: Form | undefined,
  wait: number,
  env: NodeJS.ProcessEnv,
): Check[] => [
  ...(form === undefined
    ? []
    : [{ title: 'the form is served as it was built', run: () => awaitForm(site, form, wait) }]),
  { title: 'the form runs', run: () => runForm(site.url, undefined, env) },
];

/** Sends a mail to an address that bounces (SES, "mailbox simulator"). */
export async function sendBounce({ mail, function: { name } }: StageOutputs): Promise<string> {
  assert(mail !== null && mail !== undefined, 'the stage has no inbox');
  await new SESv2(NETWORK).sendEmail({
    FromEmailAddress: mail.from,
    Destination: { ToAddresses: ['bounce@simulator.amazonses.com'] },
    ConfigurationSetName: name,
    Content: { Simple: { Subject: { Data: 'Test' }, Body: { Text: { Data: 'Test' } } } },
  });
  return 'sent; the team gets a mail about it within minutes, or see docs/runbook.md, "mailer-failures"';
}
