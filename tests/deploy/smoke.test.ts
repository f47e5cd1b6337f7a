/** `npm run smoke` against the whole service in this process, and against stages that break the contract. */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { main, testStage } from '../../deploy/smoke.ts';
import type { StageOutputs } from '../../deploy/outputs.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { refusal, startAws, type Answer as AwsAnswer } from '../helpers/aws.ts';
import { createIo, run as runHere } from '../helpers/io.ts';
import { startService, type Service } from '../helpers/service.ts';

const hasTransactions = inject('engines')['dynamodb-local'] !== undefined;
if (!hasTransactions) {
  process.stdout.write('\nSKIPPED: npm run smoke, for want of DynamoDB Local.\n');
}

const ORIGIN = 'https://www.example.com';
const aws = await startAws();
let service: Service;
let url = '';
let token = '';
beforeAll(async () => {
  service = await startService();
  url = service.url.replace('/inquiries', '');
  ({ token } = await service.signIn({ email: 'ana@example.com', sub: crypto.randomUUID() }));
});
beforeEach(() => aws.reset());
afterAll(async () => {
  await service.close();
  await aws.close();
});

/** What was printed, and the results without their times. */
function readResults(output: string) {
  const lines = output.match(/^(passed|failed|pending|skipped) .*$/gm) ?? [];
  const results = lines.map((line) =>
    line
      .replace(/ \d+ ms$/, '')
      .replaceAll(/ {2,}/g, '  ')
      .trim(),
  );
  return { output, results, failed: results.filter((line) => line.startsWith('failed')) };
}
/** Runs the command with a text of options. */
async function smoke(args: string) {
  const { code, stdout, stderr } = await runHere(main, args.split(' '));
  return { code, ...readResults(stdout + stderr) };
}

const API = [
  '401 without a token',
  '401 with a malformed token',
  '405 for PUT, with the methods that are allowed',
  'GET lists the inquiries of the caller',
  'POST creates an inquiry',
  'GET sees it',
  '405 for PATCH and for HEAD',
  '413 for a body of 6.5 MB',
  '500 for a body that is not JSON',
  'POST with the same key stores nothing',
  '422 for the same key with another text',
  'preflights allow the origin alone',
];

describe.skipIf(!hasTransactions)('npm run smoke', () => {
  it('passes every check of the service, leaves one inquiry behind, and shows no token', async () => {
    const list = async () => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/inquiries`, { headers });
      return ((await response.json()) as InquiryListResponse).inquiries;
    };
    const before = await list();
    const { code, output, results } = await smoke(`--url ${url}/ --token ${token}`);
    expect(results).toEqual(API.map((title) => `passed  ${title}`));
    expect([code, output]).toEqual([0, expect.not.stringContaining(token)]);
    const [inquiry, ...older] = await list();
    expect(inquiry?.body).toBe('Left by the smoke test of a deployment.');
    expect(older).toEqual(before);
  });

  it('without a token skips the checks that need one, and says so', async () => {
    const { code, output } = await smoke(`--url ${url}`);
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/ 2 passed, 0 failed, 0 pending, 10 skipped; give a token /),
    ]);
  });

  it.each([
    ['--url file:///etc', "--url must be an http or https URL, not 'file:///etc'"],
    ['--mail', '--mail and --check-alarms need a stage.'],
  ])('refuses "%s"', async (args, line) => {
    const { code, output } = await smoke(args);
    expect([code, output]).toEqual([2, expect.stringContaining(line)]);
  });

  interface Answer {
    readonly status: number;
    readonly headers: Headers;
    readonly text: string;
  }
  type Change = (answer: Answer) => Partial<Answer>;
  const fetchFromStage = globalThis.fetch;
  /** Changes the stage's responses to these requests: METHOD QUERY STATUS. */
  const changeResponses = (requests: RegExp, change: Change) =>
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const response = await fetchFromStage(input, init);
      const { status, headers } = response;
      const answer = { status, headers: new Headers(headers), text: await response.text() };
      const query = new URL(input instanceof Request ? input.url : input).search;
      const isChanged = requests.test(`${init?.method} ${query} ${status}`);
      const changed = { ...answer, ...(isChanged && change(answer)) };
      return new Response(changed.text || null, changed);
    });
  const without =
    (name: string): Change =>
    ({ headers }) => {
      headers.delete(name);
      return {};
    };
  const changeList =
    (change: (list: InquiryListResponse) => Partial<InquiryListResponse>): Change =>
    ({ text }) => {
      const list = JSON.parse(text) as InquiryListResponse;
      return { text: JSON.stringify({ ...list, ...change(list) }) };
    };
  const GET = 'GET sees it  ';
  const KEY = 'POST with the same key stores nothing  ';

  it.each<[line: string, requests: RegExp, change: Change]>([
    ['401 without a token  answered 200, not 401', / 401$/, () => ({ status: 200 })],
    [`${API[2]}  Allow is missing, not GET, POST`, /^PUT/, without('allow')],
    [
      `${API[3]}  Access-Control-Allow-Origin is missing, not ${ORIGIN}`,
      /^GET  200/,
      without('access-control-allow-origin'),
    ],
    [
      'POST creates an inquiry  an inquiry has reply, which is not in the contract',
      /^POST/,
      ({ text }) => ({ text: text.replace('"id"', '"reply":null,"id"') }),
    ],
    [`${KEY}the key is ignored`, /^POST/, without('idempotency-replayed')],
    [
      `${KEY}the body is not the one of the first response`,
      /^POST/,
      ({ headers, text }) =>
        headers.has('idempotency-replayed') ? { text: text.replace('Left by', 'LEFT BY') } : {},
    ],
    [
      `${KEY}there are 2 inquiries`,
      /limit=100/,
      changeList(({ count, inquiries }) => ({
        count: count + 1,
        inquiries: [...inquiries.slice(0, 1), ...inquiries],
      })),
    ],
    [`${GET}Cache-Control is missing, not no-store`, /limit=20/, without('cache-control')],
    [
      `${GET}the new inquiry is not in the list`,
      /limit=20/,
      () => ({ text: '{"email":"ana@example.com","count":0,"inquiries":[]}' }),
    ],
    [
      `${GET}the list is not ordered newest first`,
      /limit=20/,
      changeList(({ inquiries }) => ({ inquiries: inquiries.toReversed() })),
    ],
    [`${GET}count is 9 and does not match`, /limit=20/, changeList(() => ({ count: 9 }))],
    [
      `${API[11]}  it does not allow ${ORIGIN}`,
      /^OPTIONS/,
      ({ headers }) => {
        headers.set('access-control-allow-origin', '*');
        return {};
      },
    ],
    [`${API[11]}  it does not allow post`, /^OPTIONS/, without('access-control-allow-methods')],
  ])('against a stage that breaks the contract reports: %s', async (line, requests, change) => {
    changeResponses(requests, change);
    const { code, failed } = await smoke(`--url ${url} --token ${token}`);
    expect([code, failed.join('\n')]).toEqual([1, expect.stringContaining(`failed  ${line}`)]);
  });
});

describe.skipIf(!hasTransactions)('the smoke test of a stage', () => {
  const NAME = 'inquiries-develop';
  const log = (metrics: object, more = '') =>
    `${JSON.stringify({ type: 'platform.report', record: { metrics } })}\n${more}`;
  const IDENTITY = 'GET /v2/email/identities/example.com';
  const MAPPINGS = 'GET /2015-03-31/event-source-mappings';
  const mapping = (State: string, LastProcessingResult = 'OK') => ({
    EventSourceMappings: [{ UUID: 'u1', State, LastProcessingResult }],
  });
  /** What AWS answers, by the request. */
  const arrange = (answers: Record<string, object>): void => {
    for (const [request, body] of Object.entries(answers)) {
      aws.state.answers[request] = () => ({ status: 200, body });
    }
  };
  /** All is well. */
  beforeEach(() => {
    aws.state.log = log({ maxMemoryUsedMB: 61, initDurationMs: 187.4 });
    arrange({
      DescribeMetricFilters: { metricFilters: [{ filterName: 'memory', filterPattern: 'p' }] },
      TestMetricFilter: { matches: [{ eventNumber: 1 }] },
      [MAPPINGS]: mapping('Enabled'),
      [IDENTITY]: { VerifiedForSendingStatus: true },
    });
  });

  const versions = (name: string) => ({ name, version: '10', live: '10' });
  async function runStage(
    outputs: Partial<StageOutputs> = {},
    options: { mail?: boolean; token?: string } = {},
  ) {
    const { io, stdout } = createIo();
    const stage = {
      api_url: url,
      cors_origin: ORIGIN,
      dashboard_url: '',
      function: versions(NAME),
      mailer: { inquiries: versions(`${NAME}-mailer`) },
      mail: { from: 'inquiries@example.com', identity: 'example.com' },
      ...outputs,
    };
    const { signal } = new AbortController();
    const isPassed = await testStage(stage, undefined, io, signal, { token, wait: 0, ...options });
    return { isPassed, ...readResults(stdout()) };
  }

  it('asks the API and AWS', async () => {
    const { isPassed, results } = await runStage();
    expect([isPassed, results]).toEqual([
      true,
      [
        ...API.map((title) => `passed  ${title}`),
        'passed  memory and start of the function  61 of 128 MB, started in 187 ms, with gc',
        'passed  metric filters find their lines  1 filters',
        'passed  the stream is read for the mailer  1 mappings',
        'passed  SES may send for the domain  example.com',
      ],
    ]);
  });

  it.each<[line: string, answers: Record<string, object>, log?: string]>([
    [
      'failed  memory and start of the function  121 of 128 MB: docs/runbook.md, "function-memory"',
      {},
      log({ maxMemoryUsedMB: 121 }),
    ],
    [
      'failed  memory and start of the function  Node runs without --expose-gc',
      {},
      log({ maxMemoryUsedMB: 61 }, '{"message":"Node runs without --expose-gc"}\n'),
    ],
    [
      'pending  metric filters find their lines  the log of an invocation ends without platform.report',
      {},
      '',
    ],
    [
      'failed  metric filters find their lines  memory finds no line of /aws/lambda/inquiries-develop',
      { TestMetricFilter: {} },
    ],
    [
      'failed  the stream is read for the mailer  that of inquiries-develop-mailer is Disabled; on again',
      { [MAPPINGS]: mapping('Disabled') },
    ],
    [
      'pending  the stream is read for the mailer  u1 is Creating',
      { [MAPPINGS]: mapping('Creating') },
    ],
    [
      'failed  the stream is read for the mailer  PROBLEM: denied (inquiries-develop-mailer): docs',
      { [MAPPINGS]: mapping('Enabled', 'PROBLEM: denied') },
    ],
    [
      'pending  SES may send for the domain  example.com is PENDING; enter in its DNS: t1._domainkey.example.com CNAME t1.dkim.example',
      {
        [IDENTITY]: {
          VerificationStatus: 'PENDING',
          DkimAttributes: { Tokens: ['t1'], SigningHostedZone: 'dkim.example' },
        },
      },
    ],
  ])('says with the way out: %s', async (line, answers, text = aws.state.log) => {
    aws.state.log = text;
    arrange(answers);
    expect((await runStage()).output.replaceAll(/ {2,}/g, '  ')).toContain(line);
  });

  it('opens the sign-in page of the user pool', async () => {
    const fetchFromStage = globalThis.fetch;
    const pages: string[] = [];
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const { href, hostname, pathname } = new URL(input instanceof Request ? input.url : input);
      if (!hostname.endsWith('.invalid')) return fetchFromStage(input, init);
      const authorization_endpoint = 'https://pool.invalid/authorize';
      if (pathname.includes('well-known')) return Response.json({ authorization_endpoint });
      pages.push(href);
      return new Response('<p>An error was encountered</p>', { status: 400 });
    });
    const { results } = await runStage({
      site: { bucket: 'b', distribution_id: 'd', url: 'https://form.invalid/' },
      form_config: { issuer: 'https://issuer.invalid', clientId: 'c1', apiUrl: url },
      smoke_sign_in: { user_pool_id: 'p', client_id: 'c2' },
    });
    expect(results).toContain(
      "failed  the sign-in page has a form  https://pool.invalid/authorize answered 400 without a form; compare redirect_uri with the app client's: https://form.invalid/",
    );
    expect(pages).toContain(
      'https://pool.invalid/authorize?client_id=c1&response_type=code&scope=openid+email&redirect_uri=https%3A%2F%2Fform.invalid%2F',
    );
  });

  it('with --mail sends a mail that bounces, with the configuration set of the stage', async () => {
    const sent: unknown[] = [];
    aws.state.answers['POST /v2/email/outbound-emails'] = ({ body }) => {
      sent.push(JSON.parse(body));
      return { status: 200, body: { MessageId: 'm' } };
    };
    const { results } = await runStage({}, { mail: true });
    expect(results.at(-1)).toMatch(/^passed {2}a mail bounces/);
    expect(sent).toMatchObject([
      {
        FromEmailAddress: 'inquiries@example.com',
        Destination: { ToAddresses: ['bounce@simulator.amazonses.com'] },
        ConfigurationSetName: NAME,
      },
    ]);
  });

  it('creates a user of the pool without an invitation, signs in, deletes the user, and shows no secret', async () => {
    interface Call extends Record<string, unknown> {
      readonly Username?: string;
      readonly TemporaryPassword?: string;
      readonly ChallengeResponses?: { readonly NEW_PASSWORD: string };
    }
    const calls: Record<string, Call> = {};
    /** What Cognito answers to each action; EMAIL is the user's. */
    const answers: Record<string, AwsAnswer> = {};
    const succeed = (action: string, body: object): void => {
      answers[action] = { status: 200, body };
      aws.state.answers[action] = (request) => {
        calls[action] = JSON.parse(request.body) as Call;
        const { body: sent, ...given } = answers[action] ?? { status: 200 };
        const email = calls['AdminCreateUser']?.Username ?? '';
        return { ...given, body: JSON.stringify(sent).replaceAll('EMAIL', email) };
      };
    };
    succeed('AdminCreateUser', {});
    succeed('AdminInitiateAuth', { ChallengeParameters: { USER_ID_FOR_SRP: 'name-in-the-pool' } });
    succeed('AdminRespondToAuthChallenge', {
      AuthenticationResult: { IdToken: token, AccessToken: 'access' },
    });
    succeed('DeleteUser', {});
    const listSecrets = () =>
      Object.values(calls).flatMap(({ Username, TemporaryPassword, ChallengeResponses }) =>
        [Username, TemporaryPassword, ChallengeResponses?.NEW_PASSWORD].filter(Boolean),
      );
    const outputs = { smoke_sign_in: { user_pool_id: 'pool', client_id: 'client' } };
    const signIn = () => runStage(outputs, { token: '' });

    const { isPassed, output } = await signIn();
    expect([isPassed, output]).toEqual([true, expect.stringContaining('a new user of the pool')]);
    const email = expect.stringMatching(/^smoke-test-[\da-f-]{36}@inquiries\.invalid$/) as string;
    const password = expect.stringMatching(/^aA1!.{32}$/) as string;
    expect(calls).toMatchObject({
      AdminCreateUser: {
        UserPoolId: 'pool',
        Username: email,
        TemporaryPassword: password,
        MessageAction: 'SUPPRESS',
        UserAttributes: [
          { Name: 'email', Value: email },
          { Name: 'email_verified', Value: 'true' },
        ],
      },
      AdminInitiateAuth: { ClientId: 'client', AuthFlow: 'ADMIN_USER_PASSWORD_AUTH' },
      AdminRespondToAuthChallenge: {
        ChallengeResponses: { USERNAME: 'name-in-the-pool', NEW_PASSWORD: password },
      },
      DeleteUser: { AccessToken: 'access' },
    });
    const secrets = [token, ...listSecrets()];
    for (const secret of secrets) expect(output).not.toContain(secret);

    const refused = refusal(400, 'InvalidPasswordException', 'EMAIL has a bad password');
    answers['AdminRespondToAuthChallenge'] = refused;
    const failed = await signIn();
    expect(failed.results).toContain(
      'failed  a new user of the pool signs in  InvalidPasswordException: … has a bad password',
    );
    expect(failed.results).toContain('skipped  POST creates an inquiry  no token');
    for (const secret of listSecrets()) expect(failed.output).not.toContain(secret);
    // Another user and other passwords each time.
    expect(new Set([...secrets, ...listSecrets()]).size).toBe(7);
  });
});
