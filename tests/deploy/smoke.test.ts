/** `npm run smoke` against the whole service in this process, and against stages that break the contract. */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { main, testStage } from '../../deploy/smoke.ts';
import type { StageOutputs } from '../../deploy/outputs.ts';
import { startFunction } from '../../local/lambda/function.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { refusal, startAws, type Answer as AwsAnswer } from '../helpers/aws.ts';
import { createIo, run as runHere } from '../helpers/io.ts';
import { BUILT } from '../helpers/sandbox.ts';
import { startService, type Service } from '../helpers/service.ts';

const hasTransactions = inject('engines')['dynamodb-local'] !== undefined;
if (!hasTransactions) {
  process.stdout.write(
    '\nSKIPPED: npm run smoke with Idempotency-Key, for want of DynamoDB Local.\n',
  );
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

/** Runs the command with a text of options. @returns Its exit code and output, and the results without their times. */
async function run(args: string) {
  const { code, stdout, stderr } = await runHere(main, args === '' ? [] : args.split(' '));
  const output = stdout + stderr;
  return { code, output, ...readResults(output) };
}

function readResults(output: string) {
  const results = (output.match(/^(passed|failed|pending|skipped) .*$/gm) ?? []).map((line) =>
    line
      .replace(/ \d+ ms$/, '')
      .replaceAll(/ {2,}/g, '  ')
      .trim(),
  );
  return { results, failed: results.filter((line) => line.startsWith('failed')) };
}
const smoke = (args: string) => run(hasTransactions ? args : `${args} --no-key`);
const withToken = () => `--url ${url} --token ${token}`;

describe('npm run smoke', () => {
  it('passes every check of the service, and shows no token', async () => {
    const { code, output, results } = await smoke(withToken());
    const key = hasTransactions ? ['passed', ''] : ['skipped', '  no key'];
    expect(results).toEqual([
      'passed  401 without a token',
      'passed  401 with a malformed token',
      'passed  405 for PUT, with the methods that are allowed',
      'passed  GET lists the inquiries of the caller',
      'passed  POST creates an inquiry',
      'passed  GET sees it',
      'passed  405 for PATCH and for HEAD',
      'passed  413 for a body of 6.5 MB',
      'passed  500 for a body that is not JSON',
      `${key[0]}  POST with the same key stores nothing${key[1]}`,
      `${key[0]}  422 for the same key with another text${key[1]}`,
      'passed  preflight allows the origin',
      'passed  preflight allows no other origin',
    ]);
    expect(output).toMatch(/smoke: (13 passed, 0 failed, 0|11 passed, 0 failed, 2) skipped\n$/);
    expect([code, output]).toEqual([0, expect.not.stringContaining(token)]);
  });

  it('leaves one inquiry behind, and accepts a slash at the end of the URL', async () => {
    const list = async () => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/inquiries`, { headers });
      return ((await response.json()) as InquiryListResponse).inquiries;
    };
    const before = await list();
    expect((await smoke(`--url ${url}/ --token ${token}`)).code).toBe(0);
    const [inquiry, ...older] = await list();
    expect(inquiry?.body).toBe('Left by the smoke test of a deployment.');
    expect(older).toEqual(before);
  });

  it('skips the checks of the key with --no-key', async () => {
    const { code, output } = await run(`${withToken()} --no-key`);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining('smoke: 11 passed, 0 failed, 2 skipped'),
    ]);
  });

  it('without a token skips the checks that need one, and says so', async () => {
    const { code, output } = await smoke(`--url ${url}`);
    expect(code).toBe(0);
    expect(output).toMatch(
      /smoke: 3 passed, 0 failed, 10 skipped\nWhat a signed-in user gets of the API was not checked: give a token \(--token\)\.\n$/,
    );
  });

  it('fails where nothing answers', async () => {
    const nothing = await smoke(`--url http://127.0.0.1:9 --token ${token}`);
    expect([nothing.code, nothing.output]).toEqual([
      1,
      expect.stringContaining('smoke: 0 passed,'),
    ]);
  });

  it.each([
    [
      '--data /none',
      'No local stack is running (there is no /none/stack.json); start it with npm start, or pass the --data that it printed.',
    ],
    ['--data .data --url http://localhost', '--data is for the local stack.'],
    ['--url file:///etc', "--url must be an http or https URL, not 'file:///etc'"],
    ['--mail', '--mail and --check-alarms need a stage.'],
    ['nowhere', '"nowhere" is not a stage; stages are develop, main and release.'],
    ['--nonsense', "Unknown option '--nonsense' (see --help)"],
  ])('refuses "%s" in one line', async (args, line) => {
    expect(await run(args)).toMatchObject({ code: 2, output: `${line}\n` });
  });
});

describe('the smoke test of a stage', () => {
  const NAME = 'inquiries-develop';
  let built: Awaited<ReturnType<typeof startFunction>>;
  beforeAll(async () => {
    const environment = { ...service.table.environment(), CORS_ORIGIN: ORIGIN };
    built = await startFunction({ module: BUILT, environment, timeout: 30_000 });
  });
  afterAll(() => built.close());

  const report = (metrics: object) =>
    `${JSON.stringify({ type: 'platform.report', record: { metrics } })}\n`;
  const mappings = (...found: object[]): AwsAnswer => ({
    status: 200,
    body: { EventSourceMappings: found },
  });
  /** What AWS answers about a stage in which all is well. */
  beforeEach(() => {
    aws.state.invoke = (_name, event) => built.invoke(event, crypto.randomUUID());
    aws.state.log = report({ maxMemoryUsedMB: 61, initDurationMs: 187.4 });
    const filter = { filterName: 'memory', filterPattern: '{ $.type = "platform.report" }' };
    Object.assign(aws.state.answers, {
      DescribeMetricFilters: () => ({ status: 200, body: { metricFilters: [filter] } }),
      TestMetricFilter: () => ({ status: 200, body: { matches: [{ eventNumber: 1 }] } }),
      'GET /2015-03-31/event-source-mappings': () =>
        mappings({ UUID: 'u1', State: 'Enabled', LastProcessingResult: 'OK' }),
      'GET /v2/email/identities/example.com': () => ({
        status: 200,
        body: { VerifiedForSendingStatus: true },
      }),
    });
  });

  const versions = (name: string) => ({ name, version: '10', live: '10' });
  async function runStage(
    outputs: Partial<StageOutputs> = {},
    options: { mail?: boolean; token?: string } = {},
  ) {
    const { io, stdout } = createIo();
    const isPassed = await testStage(
      {
        api_url: url,
        cors_origin: ORIGIN,
        dashboard_url: '',
        function: versions(NAME),
        mailer: { inquiries: versions(`${NAME}-mailer`) },
        mail: { from: 'inquiries@example.com', identity: 'example.com' },
        ...outputs,
      },
      undefined,
      io,
      new AbortController().signal,
      { token, wait: 0, ...options },
    );
    return { isPassed, output: stdout(), ...readResults(stdout()) };
  }

  it('asks the function, the API and AWS', async () => {
    const { isPassed, results } = await runStage();
    expect([isPassed, results.slice(0, 6), results.slice(-4)]).toEqual([
      hasTransactions,
      [
        'passed  the function answers 401 without claims',
        'passed  the function answers 405 for PUT',
        'passed  the function: 405 for PUT, with the methods that are allowed',
        'passed  the function: GET lists the inquiries of the caller',
        'passed  the function: POST creates an inquiry',
        'passed  the function: GET sees it',
      ],
      [
        'passed  memory and start of the function  61 of 128 MB, started in 187 ms, with gc',
        'passed  metric filters find their lines  1 filters',
        'passed  the stream is read for the mailer  2 mappings',
        'passed  SES may send for the domain  example.com',
      ],
    ]);
  });

  const answer = (statusCode: number, body: string, headers: object = {}): string => {
    const usual = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': ORIGIN };
    return JSON.stringify({ statusCode, headers: { ...usual, ...headers }, body });
  };
  const MESSAGE = 'Invalid or missing required JWT claims';
  const toBody = (error: string, message = MESSAGE) => JSON.stringify({ error, message });
  it.each<[what: string, payload: string | Error, reason: string]>([
    ['lets everybody in', answer(200, '{}'), 'answered 200, not 401'],
    [
      'throws',
      new Error('{"errorType":"TypeError","errorMessage":"broken"}'),
      `${NAME}:live failed: TypeError: broken`,
    ],
    [
      'answers with HTML',
      answer(401, '<h1>', { 'Content-Type': 'text/html' }),
      'Content-Type is text/html, not application/json',
    ],
    [
      'returns no body',
      '{"statusCode":401,"headers":{}}',
      'the function returned something other than statusCode, headers and body',
    ],
    ['names no error', answer(401, '{"message":"m"}'), 'the body has no error'],
    [
      'has its own text',
      answer(401, toBody('Unauthorized', 'm')),
      `message is "m", not "${MESSAGE}"`,
    ],
    ['has its own error', answer(401, toBody('E')), 'error is E, not Unauthorized'],
  ])('fails when the function %s', async (_what, payload, reason) => {
    aws.state.invoke = () => (typeof payload === 'string' ? payload : Promise.reject(payload));
    const { isPassed, results } = await runStage();
    expect([isPassed, results[0]]).toEqual([
      false,
      `failed  the function answers 401 without claims  ${reason}`,
    ]);
  });

  it('fails where the API allows another origin', async () => {
    const { failed } = await runStage({ cors_origin: 'https://other.example.com' });
    expect(failed).toContain(
      `failed  GET lists the inquiries of the caller  Access-Control-Allow-Origin is ${ORIGIN}, not https://other.example.com`,
    );
  });

  it.each<[line: string, arrange: () => unknown]>([
    [
      'failed  memory and start of the function  121 of 128 MB: docs/runbook.md, "function-memory"',
      () => (aws.state.log = report({ maxMemoryUsedMB: 121 })),
    ],
    [
      'failed  memory and start of the function  Node runs without --expose-gc, so large bodies can end an instance: docs/adr/0062',
      () => (aws.state.log += '{"level":"WARN","message":"Node runs without --expose-gc"}\n'),
    ],
    [
      'pending  memory and start of the function  the log of an invocation ends without platform.report',
      () => (aws.state.log = ''),
    ],
    [
      'failed  metric filters find their lines  memory finds no line of /aws/lambda/inquiries-develop: compare its pattern with the log',
      () => (aws.state.answers['TestMetricFilter'] = () => ({ status: 200, body: {} })),
    ],
    [
      'failed  the stream is read for the mailer  no function reads the stream; deploy again',
      () => (aws.state.answers['GET /2015-03-31/event-source-mappings'] = () => mappings()),
    ],
    [
      'failed  the stream is read for the mailer  u1 is switched off; on again: aws lambda update-event-source-mapping --uuid u1 --enabled',
      () =>
        (aws.state.answers['GET /2015-03-31/event-source-mappings'] = () =>
          mappings({ UUID: 'u1', State: 'Disabled' })),
    ],
    [
      'failed  the stream is read for the mailer  PROBLEM: denied (u1): docs/runbook.md, "mailer-delay"',
      () =>
        (aws.state.answers['GET /2015-03-31/event-source-mappings'] = () =>
          mappings({ UUID: 'u1', State: 'Enabled', LastProcessingResult: 'PROBLEM: denied' })),
    ],
    [
      'pending  SES may send for the domain  example.com is PENDING; enter in its DNS: t1._domainkey.example.com CNAME t1.dkim.eu-central-1.amazonses.com',
      () =>
        (aws.state.answers['GET /v2/email/identities/example.com'] = () => ({
          status: 200,
          body: {
            VerifiedForSendingStatus: false,
            VerificationStatus: 'PENDING',
            DkimAttributes: {
              Tokens: ['t1'],
              SigningHostedZone: 'dkim.eu-central-1.amazonses.com',
            },
          },
        })),
    ],
  ])('says with the way out: %s', async (line, arrange) => {
    arrange();
    expect((await runStage()).results).toContain(line);
  });

  it('opens the sign-in page of the user pool', async () => {
    const fetchFromStage = globalThis.fetch;
    const pages: string[] = [];
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const { href, hostname, pathname } = new URL(input instanceof Request ? input.url : input);
      if (!hostname.endsWith('.invalid')) return fetchFromStage(input, init);
      const authorization_endpoint = 'https://pool.invalid/oauth2/authorize';
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
      "failed  the sign-in page has a form  https://pool.invalid/oauth2/authorize answered 400 without a form; compare redirect_uri with the app client's: https://form.invalid/",
    );
    expect(pages).toEqual([
      'https://pool.invalid/oauth2/authorize?client_id=c1&response_type=code&scope=openid+email&redirect_uri=https%3A%2F%2Fform.invalid%2F',
    ]);
  });

  it('with --mail sends a mail that bounces, with the configuration set of the stage', async () => {
    const sent: unknown[] = [];
    aws.state.answers['POST /v2/email/outbound-emails'] = ({ body }) => {
      sent.push(JSON.parse(body));
      return { status: 200, body: { MessageId: 'm' } };
    };
    expect((await runStage({}, { mail: true })).results.at(-1)).toMatch(
      /^passed {2}a mail bounces/,
    );
    expect(sent).toEqual([
      expect.objectContaining({
        FromEmailAddress: 'inquiries@example.com',
        Destination: { ToAddresses: ['bounce@simulator.amazonses.com'] },
        ConfigurationSetName: NAME,
      }),
    ]);
  });

  const POOL = { smoke_sign_in: { user_pool_id: 'eu-central-1_test', client_id: 'client' } };
  const SIGNS_IN = 'a new user of the pool signs in';
  const ACTIONS = [
    'AdminCreateUser',
    'AdminInitiateAuth',
    'AdminRespondToAuthChallenge',
    'DeleteUser',
  ];
  interface Call extends Record<string, unknown> {
    readonly Username?: string;
    readonly TemporaryPassword?: string;
    readonly ChallengeResponses?: { readonly NEW_PASSWORD: string };
  }
  /** Requests to Cognito: the name of the action, and the body. */
  const calls: [action: string, body: Call][] = [];
  const listSecrets = () =>
    calls.flatMap(([, { Username, TemporaryPassword, ChallengeResponses }]) =>
      [Username, TemporaryPassword, ChallengeResponses?.NEW_PASSWORD].filter(
        (each) => each !== undefined,
      ),
    );
  const listGranted = (): Record<string, object> => ({
    AdminInitiateAuth: {
      ChallengeName: 'NEW_PASSWORD_REQUIRED',
      Session: 'session',
      ChallengeParameters: { USER_ID_FOR_SRP: 'name-in-the-pool' },
    },
    AdminRespondToAuthChallenge: {
      AuthenticationResult: { IdToken: token, AccessToken: 'access' },
    },
  });
  /** @param answers - For actions, in the place of success; EMAIL is the user's. */
  const arrange = (answers: Record<string, AwsAnswer> = {}): void => {
    calls.length = 0;
    for (const action of ACTIONS) {
      aws.state.answers[action] = ({ body }) => {
        const call = JSON.parse(body) as Call;
        calls.push([action, call]);
        const { body: sent = listGranted()[action] ?? {}, ...given } = answers[action] ?? {
          status: 200,
        };
        return {
          ...given,
          body: JSON.stringify(sent).replaceAll('EMAIL', calls[0]?.[1].Username ?? ''),
        };
      };
    }
  };
  beforeEach(() => arrange());

  it('creates a user without an invitation, signs in, deletes the user, and runs every check with the token', async () => {
    const { isPassed, output, results, failed } = await runStage(POOL, { token: '' });
    expect([isPassed, failed]).toEqual([true, []]);
    expect(results).toContain(`passed  ${SIGNS_IN}`);
    expect(results).toContain('passed  POST creates an inquiry');
    expect(calls.map(([action]) => action)).toEqual(ACTIONS);
    const [create, signIn, challenge, remove] = calls.map(([, body]) => body);
    const email = create?.Username;
    expect(email).toMatch(/^smoke-test-[\da-f-]{36}@inquiries\.invalid$/);
    expect(create).toEqual({
      UserPoolId: 'eu-central-1_test',
      Username: email,
      TemporaryPassword: expect.stringMatching(/^aA1!.{32}$/),
      MessageAction: 'SUPPRESS',
      UserAttributes: [
        { Name: 'email', Value: email },
        { Name: 'email_verified', Value: 'true' },
      ],
    });
    expect(signIn).toMatchObject({ ClientId: 'client', AuthFlow: 'ADMIN_USER_PASSWORD_AUTH' });
    expect(challenge?.ChallengeResponses).toEqual({
      USERNAME: 'name-in-the-pool',
      NEW_PASSWORD: expect.stringMatching(/^aA1!.{32}$/),
    });
    expect(remove).toEqual({ AccessToken: 'access' });
    const first = [token, ...new Set(listSecrets())];
    for (const secret of first) expect(output).not.toContain(secret);

    await runStage(POOL, { token: '' });
    // Another user and another password each time.
    expect(new Set([token, ...listSecrets()]).size).toBe(2 * first.length - 1);
  });

  it('takes a token that is given instead', async () => {
    expect((await runStage(POOL)).isPassed).toBe(true);
    expect(calls).toEqual([]);
  });

  it.each<[string, AwsAnswer, string]>([
    [
      'AdminRespondToAuthChallenge',
      refusal(400, 'InvalidPasswordException', 'EMAIL has a bad password'),
      'InvalidPasswordException: USER has a bad password',
    ],
    [
      'AdminInitiateAuth',
      { status: 200, body: { ChallengeName: 'SOFTWARE_TOKEN_MFA', Session: 's' } },
      'Error: Cognito asks for SOFTWARE_TOKEN_MFA instead of signing in',
    ],
    [
      'DeleteUser',
      refusal(400, 'NotAuthorizedException', 'Access Token has been revoked'),
      'NotAuthorizedException: Access Token has been revoked',
    ],
  ])(
    'fails in one line without the user’s secrets when %s does not succeed: %j',
    async (action, reply, line) => {
      arrange({ [action]: reply });
      const { isPassed, output, results } = await runStage(POOL, { token: '' });
      expect(results).toContain(`failed  ${SIGNS_IN}  ${line}`);
      expect(results).toContain('skipped  POST creates an inquiry  no token');
      for (const secret of listSecrets()) expect(output).not.toContain(secret);
      expect(isPassed).toBe(false);
    },
  );
});

describe('npm run smoke, against a stage that breaks the contract, reports', () => {
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
      const { status } = response;
      const answer = {
        status,
        headers: new Headers(response.headers),
        text: await response.text(),
      };
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
  const reverse = changeList(({ inquiries }) => ({ inquiries: inquiries.toReversed() }));
  const repeat = changeList(({ count, inquiries }) => ({
    count: count + 1,
    inquiries: [...inquiries.slice(0, 1), ...inquiries],
  }));

  const PUT = 'failed  405 for PUT, with the methods that are allowed';
  const POST = 'failed  POST creates an inquiry';
  const GET = 'failed  GET sees it';
  const PREFLIGHT = 'failed  preflight allows';
  const NOTHING = `${GET}  there is nothing to see, since POST failed`;
  const KEY = 'failed  POST with the same key stores nothing';
  const REUSED = 'failed  422 for the same key with another text';
  const NOT_SENT = `${REUSED}  not sent, since it would be stored`;
  const EMPTY = '{"email":"ana@example.com","count":0,"inquiries":[]}';
  it.each<[lines: string[], requests: RegExp, change: Change]>([
    [
      ['without a token', 'with a malformed token'].map(
        (title) => `failed  401 ${title}  answered 200, not 401`,
      ),
      / 401$/,
      () => ({ status: 200 }),
    ],
    [[`${PUT}  answered 403, not 405`], /^PUT/, () => ({ status: 403 })],
    [[`${PUT}  Allow is missing, not GET, POST`], /^PUT/, without('allow')],
    [
      [
        `${POST}  an inquiry has reply, which is not in the contract`,
        NOTHING,
        `${KEY}  an inquiry has reply, which is not in the contract`,
        NOT_SENT,
      ],
      /^POST/,
      (answer) => ({ text: answer.text.replace('"id"', '"reply":null,"id"') }),
    ],
    [
      [
        `${POST}  answered 500, not 201`,
        NOTHING,
        'failed  413 for a body of 6.5 MB  answered 500, not 413',
        `${KEY}  there is nothing to send again, since POST failed`,
        NOT_SENT,
      ],
      /^POST/,
      () => ({ status: 500 }),
    ],
    [
      [
        `${KEY}  the key is ignored, as with dynalite (see --no-key): there are two inquiries now`,
        NOT_SENT,
      ],
      /^POST/,
      without('idempotency-replayed'),
    ],
    [
      [`${KEY}  the body is not the one of the first response`],
      /^POST/,
      ({ headers, text }) =>
        headers.has('idempotency-replayed') ? { text: text.replace('Left by', 'LEFT BY') } : {},
    ],
    [[`${KEY}  there are 2 inquiries`], /limit=100/, repeat],
    [[`${REUSED}  answered 409, not 422`], /^POST.* 422$/, () => ({ status: 409 })],
    [[`${GET}  Cache-Control is missing, not no-store`], /limit=20/, without('cache-control')],
    [[`${GET}  the new inquiry is not in the list`], /limit=20/, () => ({ text: EMPTY })],
    [[`${GET}  the list is not ordered newest first`], /limit=20/, reverse],
    [
      [`${GET}  count is 999 and does not match the list`],
      /limit=20/,
      changeList(() => ({ count: 999 })),
    ],
    [
      [
        `${PREFLIGHT} the origin  Access-Control-Allow-Origin is *, not ${ORIGIN}`,
        `${PREFLIGHT} no other origin  Access-Control-Allow-Origin is *`,
      ],
      /^OPTIONS/,
      () => ({ headers: new Headers({ 'access-control-allow-origin': '*' }) }),
    ],
    [[`${PREFLIGHT} the origin  answered 401, not 204`], /^OPTIONS/, () => ({ status: 401 })],
  ])('%j', async (lines, requests, change) => {
    changeResponses(requests, change);
    const { failed } = await smoke(withToken());
    expect(failed).toEqual(lines.filter((line) => hasTransactions || !line.includes(' same key ')));
  });
});
