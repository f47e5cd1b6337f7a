/** `npm run smoke` against the whole service in this process, and against stages that break the contract. */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { main, testStage } from '../../deploy/smoke.ts';
import type { Form } from '../../deploy/form.ts';
import type { StageOutputs } from '../../deploy/outputs.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { refusal, startAws } from '../helpers/aws.ts';
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
  return { output, results };
}
/** Runs the command with a text of options. */
async function smoke(args: string, SMOKE_TOKEN = token) {
  const { code, stdout, stderr } = await runHere(main, args.split(' '), { env: { SMOKE_TOKEN } });
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
    const { code, output, results } = await smoke(`--url ${url}/`);
    expect(results).toEqual(API.map((title) => `passed  ${title}`));
    expect([code, output]).toEqual([0, expect.not.stringContaining(token)]);
    const [inquiry, ...older] = await list();
    expect(inquiry?.body).toBe('Left by the smoke test of a deployment.');
    expect(older).toEqual(before);
  });

  it('without a token skips the checks that need one, and says so', async () => {
    const { code, output } = await smoke(`--url ${url}`, '');
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/ 2 passed, 0 failed, 0 pending, 10 skipped; set SMOKE_TOKEN /),
    ]);
  });

  it('refuses --mail without a stage', async () => {
    const output = expect.stringMatching('--mail and --check-alarms need a stage.') as string;
    expect(await smoke('--mail')).toMatchObject({ code: 2, output });
  });

  interface Answer {
    status: number;
    readonly headers: Headers;
    text: string;
  }
  type Change = (answer: Answer) => void;
  const fetchFromStage = globalThis.fetch;
  const without =
    (name: string): Change =>
    ({ headers }) =>
      headers.delete(name);
  const rewrite =
    (pattern: RegExp | string, text: string): Change =>
    (answer) => {
      answer.text = answer.text.replace(pattern, text);
    };
  const GET = 'GET sees it  ';
  const KEY = 'POST with the same key stores nothing  ';

  it.each<[line: string, requests: RegExp, change: Change]>([
    ['401 without a token  answered 200, not 401', / 401$/, (answer) => (answer.status = 200)],
    [`${API[2]}  Allow is missing, not GET, POST`, /^PUT/, without('allow')],
    [
      `${API[3]}  Access-Control-Allow-Origin is missing, not ${ORIGIN}`,
      /^GET  200/,
      without('access-control-allow-origin'),
    ],
    [
      'POST creates an inquiry  an inquiry has reply, which is not in the contract',
      /^POST/,
      rewrite('"id"', '"reply":null,"id"'),
    ],
    [`${KEY}the key is ignored`, /^POST/, without('idempotency-replayed')],
    [
      `${KEY}the body is not the one of the first response`,
      /^POST  201 true/,
      rewrite('Left by', 'LEFT BY'),
    ],
    [
      `${KEY}there are 2 inquiries`,
      /limit=100/,
      rewrite(/"count":.*?\[(\{.*?\}).*/, '"count":2,"inquiries":[$1,$1]}'),
    ],
    [`${GET}Cache-Control is missing, not no-store`, /limit=20/, without('cache-control')],
    [
      `${GET}the new inquiry is not in the list`,
      /limit=20/,
      rewrite(/"count".*/, '"count":0,"inquiries":[]}'),
    ],
    [
      `${GET}the list is not ordered newest first`,
      /limit=20/,
      rewrite(/"created_at":"2\d/, '"created_at":"19'),
    ],
    [`${GET}count is 9 and does not match`, /limit=20/, rewrite(/"count":\d+/, '"count":9')],
    [
      `${API[11]}  it does not allow ${ORIGIN}`,
      /^OPTIONS/,
      ({ headers }) => headers.set('access-control-allow-origin', '*'),
    ],
    [`${API[11]}  it does not allow post`, /^OPTIONS/, without('access-control-allow-methods')],
  ])('against a stage that breaks the contract reports: %s', async (line, requests, change) => {
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const response = await fetchFromStage(input, init);
      const { status } = response;
      const answer = {
        status,
        headers: new Headers(response.headers),
        text: await response.text(),
      };
      const replayed = answer.headers.get('idempotency-replayed') ?? '';
      const request = `${init?.method} ${new URL(input).search} ${status} ${replayed}`;
      if (requests.test(request.trim())) change(answer);
      return new Response(answer.text || null, answer);
    });
    const { code, results } = await smoke(`--url ${url}`);
    expect([code, results.join('\n')]).toEqual([1, expect.stringContaining(`failed  ${line}`)]);
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
    {
      form,
      mail = false,
      SMOKE_TOKEN = token,
    }: { form?: Form; mail?: boolean; SMOKE_TOKEN?: string } = {},
  ) {
    const { io, stdout } = createIo({ env: { SMOKE_TOKEN } });
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
    const isPassed = await testStage(stage, form, io, signal, { wait: 0, mail });
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

  it('looks whether the form is served, and runs, and whether the user pool has a page to sign in', async () => {
    const { AWS_ENDPOINT_URL: endpoint } = aws.env;
    const site = { bucket: 'b', distribution_id: 'd', url: `${endpoint}/form/` };
    const asked: object[] = [];
    arrange({
      'GET /issuer/.well-known/openid-configuration': {
        authorization_endpoint: `${endpoint}/authorize`,
      },
    });
    aws.state.answers['GET /form/'] = () => ({
      status: 200,
      body: `<script>throw new Error('boom')</script>`,
    });
    aws.state.answers['GET /authorize'] = ({ query }) => {
      asked.push(Object.fromEntries(query));
      return { status: 400, body: '<p>An error was encountered</p>' };
    };
    const { results } = await runStage(
      {
        site,
        form_config: { issuer: `${endpoint}/issuer`, clientId: 'c1', apiUrl: url },
        smoke_sign_in: { user_pool_id: 'p', client_id: 'c2' },
      },
      { form: new Map(['index.html', 'config.json'].map((name) => [name, Buffer.from(name)])) },
    );
    expect(results.slice(-3, -1)).toEqual([
      `failed  the sign-in page has a form  ${endpoint}/authorize answered 400 without a form; compare redirect_uri with the app client's: ${site.url}`,
      'failed  the form is served as it was built  index.html is not the one that was built; config.json is answered with 404: npm run deploy serves it again',
    ]);
    expect(results.at(-1)).toMatch(
      /^\w+ {2}the form runs {2}(the form does not run: boom|not run: )/,
    );
    expect(asked).toEqual([
      {
        client_id: 'c1',
        response_type: 'code',
        scope: 'openid email',
        redirect_uri: site.url,
      },
    ]);
  });

  it('with mail sends one that bounces, with the configuration set of the stage', async () => {
    let sent: unknown;
    aws.state.answers['POST /v2/email/outbound-emails'] = ({ body }) => {
      sent = JSON.parse(body);
      return { status: 200, body: {} };
    };
    const { results } = await runStage({}, { mail: true });
    expect(results.at(-1)).toMatch(/^passed {2}a mail bounces/);
    expect(sent).toMatchObject({
      FromEmailAddress: 'inquiries@example.com',
      Destination: { ToAddresses: ['bounce@simulator.amazonses.com'] },
      ConfigurationSetName: NAME,
    });
  });

  it('signs in as a new user without an invitation, who deletes itself, and shows no secret', async () => {
    const calls: Record<string, unknown> = {};
    const answers = {
      AdminCreateUser: {},
      AdminInitiateAuth: { ChallengeParameters: { USER_ID_FOR_SRP: 'name-in-the-pool' } },
      AdminRespondToAuthChallenge: {
        AuthenticationResult: { IdToken: token, AccessToken: 'access' },
      },
      DeleteUser: {},
    };
    for (const [action, body] of Object.entries(answers)) {
      aws.state.answers[action] = (request) => {
        calls[action] = JSON.parse(request.body);
        return { status: 200, body };
      };
    }
    const secrets = new Set([token]);
    const signIn = async () => {
      const smoke_sign_in = { user_pool_id: 'pool', client_id: 'client' };
      const { output, results } = await runStage({ smoke_sign_in }, { SMOKE_TOKEN: '' });
      for (const secret of JSON.stringify(calls).match(/(smoke-test-|aA1!)[^"]+/g) ?? []) {
        secrets.add(secret);
      }
      for (const secret of secrets) expect(output).not.toContain(secret);
      return results;
    };

    expect((await signIn()).slice(2, 4)).toEqual([
      'passed  a new user of the pool signs in',
      `passed  ${API[2]}`,
    ]);
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

    aws.state.answers['AdminRespondToAuthChallenge'] = ({ body }) => {
      calls['AdminRespondToAuthChallenge'] = JSON.parse(body);
      return refusal(400, 'InvalidPasswordException', JSON.stringify(calls));
    };
    const results = await signIn();
    expect(results[2]).toMatch(/^failed {2}a new user .* InvalidPasswordException: .*…/);
    expect(results).toContain('skipped  POST creates an inquiry  no token');
    // The token, and each time another address and two other passwords.
    expect(secrets.size).toBe(7);
  });
});
