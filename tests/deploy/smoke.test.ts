/** `npm run smoke` against the whole service in this process, and against stages that break the contract. */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { main } from '../../deploy/smoke.ts';
import { startFunction } from '../../local/lambda/function.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { refusal, startAws, type Answer as AwsAnswer } from '../helpers/aws.ts';
import { run as runHere } from '../helpers/io.ts';
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
  const lines = (output.match(/^(passed|failed|skipped) .*$/gm) ?? []).map((line) =>
    line
      .replace(/ \d+ ms$/, '')
      .replaceAll(/ {2,}/g, '  ')
      .trim(),
  );
  return {
    code,
    output,
    results: lines,
    failed: lines.filter((line) => line.startsWith('failed')),
  };
}
const smoke = (args: string) => run(hasTransactions ? args : `${args} --no-key`);
const withToken = () => `--url ${url} --token ${token}`;

describe('npm run smoke', () => {
  it('passes every check of the service, and shows no token', async () => {
    const { code, output, results } = await smoke(withToken());
    const key = hasTransactions ? ['passed', ''] : ['skipped', '  no key'];
    expect(results).toEqual([
      'skipped  the function answers 401 without claims  no function',
      'skipped  the function answers 405 for PUT  no function',
      'passed  401 without a token',
      'passed  401 with a malformed token',
      'passed  405 for PUT, with the methods that are allowed',
      'passed  GET lists the inquiries of the caller',
      'passed  POST creates an inquiry',
      'passed  GET sees it',
      `${key[0]}  POST with the same key stores nothing${key[1]}`,
      `${key[0]}  422 for the same key with another text${key[1]}`,
      'passed  preflight allows the origin',
      'passed  preflight allows no other origin',
    ]);
    expect(output).toMatch(/smoke: (10 passed, 0 failed, 2|8 passed, 0 failed, 4) skipped\n$/);
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
      expect.stringContaining('smoke: 8 passed, 0 failed, 4 skipped'),
    ]);
  });

  it('without a token skips the checks that need one, and says so; the origin is enough for the preflight', async () => {
    const { code, output } = await smoke(`--url ${url}`);
    expect(output).toMatch(
      /smoke: 3 passed, 0 failed, 9 skipped\nThe function was not reached, so it may be failing; --function NAME or a token checks it\.\n$/,
    );
    const withOrigin = await smoke(`--url ${url} --origin ${ORIGIN}`);
    expect(withOrigin.results).toContain('passed  preflight allows the origin');
    expect([code, withOrigin.code]).toEqual([0, 0]);
  });

  it('fails where the stage allows another origin, and where nothing answers', async () => {
    const other = await smoke(`${withToken()} --origin https://other.example.com`);
    expect(other.failed).toContain(
      `failed  GET lists the inquiries of the caller  Access-Control-Allow-Origin is ${ORIGIN}, not https://other.example.com`,
    );
    const nothing = await smoke(`--url http://127.0.0.1:9 --token ${token}`);
    expect(nothing.output).toContain('smoke: 0 passed,');
    expect([other.code, nothing.code]).toEqual([1, 1]);
  });

  const together = '--user-pool and --client belong together (see --help)';
  it.each([
    [
      '--data /none',
      'No local stack is running (there is no /none/stack.json); start it with npm start, or pass the --data that it printed.',
    ],
    ['--data .data --url http://localhost', '--data is for the local stack.'],
    ['--url file:///etc', "--url must be an http or https URL, not 'file:///etc'"],
    ['--url http://localhost --wait long', "--wait must be a number of seconds, not 'long'"],
    ['--user-pool pool --url http://localhost', together],
    ['--client client --function f', together],
    ['--function f --url nonsense', "--url must be an http or https URL, not 'nonsense'"],
    ['--nonsense', "Unknown option '--nonsense' (see --help)"],
  ])('refuses "%s" in one line', async (args, line) => {
    expect(await run(args)).toMatchObject({ code: 2, output: `${line}\n` });
  });
});

describe('npm run smoke --function', () => {
  const FUNCTION = 'inquiries-test:live';
  const UNAUTHORIZED = 'the function answers 401 without claims';
  const NOT_ALLOWED = 'the function answers 405 for PUT';
  /** The names of invocations. */
  const invoked: string[] = [];
  let result: (event: string) => Promise<string> | string;
  let built: Awaited<ReturnType<typeof startFunction>>;
  beforeAll(async () => {
    const environment = { ...service.table.environment(), CORS_ORIGIN: ORIGIN };
    built = await startFunction({ module: BUILT, environment, timeout: 30_000 });
  });
  beforeEach(() => {
    invoked.length = 0;
    result = (event) => built.invoke(event, crypto.randomUUID());
    aws.state.invoke = (name, event) => {
      invoked.push(name);
      return result(event);
    };
  });
  afterAll(() => built.close());
  /** Lambda refuses the next invocations. */
  const refuse = (...refusals: AwsAnswer[]): void => {
    const path = `/2015-03-31/functions/${encodeURIComponent(FUNCTION)}/invocations`;
    aws.state.answers[`POST ${path}`] = () => refusals.shift();
  };

  it('invokes the deployed function through its alias, without a token and without an URL', async () => {
    const { code, output, results } = await smoke(`--function ${FUNCTION}`);
    expect(results.slice(0, 3)).toEqual([
      `passed  ${UNAUTHORIZED}`,
      `passed  ${NOT_ALLOWED}`,
      'skipped  401 without a token  no url',
    ]);
    expect(output).toContain(
      '\nsmoke: 2 passed, 0 failed, 10 skipped\nOnly the function was checked, without the API; --url URL checks both.\n',
    );
    expect([code, invoked]).toEqual([0, [FUNCTION, FUNCTION]]);
  });

  it('takes the origin for the preflight from the function, and says what was not checked', async () => {
    const { code, output, results } = await smoke(`--function ${FUNCTION} --url ${url}`);
    expect(results).toContain('passed  preflight allows the origin');
    expect(output).toContain(
      '\nsmoke: 6 passed, 0 failed, 6 skipped\nWhat a signed-in user gets was not checked; ',
    );
    expect(code).toBe(0);
  });

  it.each([
    ['{"results":[]}', 0, /^passed {2}the mailer runs$/],
    [
      '{"batchItemFailures":[]}',
      1,
      /^failed {2}the mailer runs {2}the mailer returned no results$/,
    ],
  ])(
    'with --mailer invokes the mailer with nothing to send: %s',
    async (answered, expected, line) => {
      result = (event) =>
        event === '{"ids":[]}' ? answered : built.invoke(event, crypto.randomUUID());
      const { code, results } = await smoke(
        `--function ${FUNCTION} --mailer inquiries-test-mailer`,
      );
      expect([code, results[2], invoked.at(-1)]).toEqual([
        expected,
        expect.stringMatching(line),
        'inquiries-test-mailer',
      ]);
    },
  );

  const answer = (statusCode: number, body: string, headers: object = {}): string => {
    const usual = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': ORIGIN };
    return JSON.stringify({ statusCode, headers: { ...usual, ...headers }, body });
  };
  const allow = (origin?: string) => ({ 'Access-Control-Allow-Origin': origin });
  const thrown = new Error('{"errorType":"TypeError","errorMessage":"broken"}');
  const MESSAGE = 'Invalid or missing required JWT claims';
  const toBody = (error: string, message = MESSAGE) => JSON.stringify({ error, message });
  const BODY = toBody('Unauthorized');
  const NO_RESPONSE = 'the function returned something other than statusCode, headers and body';
  const HTML = { 'Content-Type': 'text/html' };
  it.each<[what: string, payload: string | Error, reason: string]>([
    ['lets everybody in', answer(200, '{}'), 'answered 200, not 401'],
    ['throws', thrown, 'the function failed: TypeError: broken'],
    [
      'answers with HTML',
      answer(401, '<h1>', HTML),
      'Content-Type is text/html, not application/json',
    ],
    ['returns no body', '{"statusCode":401,"headers":{}}', NO_RESPONSE],
    [
      'names no error',
      answer(401, '{"message":"m"}'),
      'the body has the fields message, not error,message',
    ],
    [
      'has its own text',
      answer(401, toBody('Unauthorized', 'm')),
      `message is "m", not "${MESSAGE}"`,
    ],
    ['has its own error', answer(401, toBody('E')), 'error is E, not Unauthorized'],
    ['allows no origin', answer(401, BODY, allow()), 'Access-Control-Allow-Origin is missing'],
    ['allows every origin', answer(401, BODY, allow('*')), 'Access-Control-Allow-Origin is *'],
  ])('fails when the function %s', async (_what, payload, reason) => {
    result = () => (typeof payload === 'string' ? payload : Promise.reject(payload));
    const { code, results, failed } = await smoke(`--function ${FUNCTION}`);
    expect(results[0]).toBe(`failed  ${UNAUTHORIZED}  ${reason}`);
    expect([code, failed]).toEqual([1, [results[0], expect.stringContaining(NOT_ALLOWED)]]);
  });

  it('fails when only the response to PUT is wrong', async () => {
    result = () => answer(401, BODY);
    const { code, failed } = await smoke(`--function ${FUNCTION}`);
    expect([code, failed]).toEqual([1, [`failed  ${NOT_ALLOWED}  answered 401, not 405`]]);
  });

  it('with --wait, waits for the alias and for the role, and then checks', async () => {
    refuse(
      refusal(404, 'ResourceNotFoundException', 'Function not found'),
      refusal(403, 'AccessDeniedException', 'The role cannot be assumed by Lambda.'),
    );
    const { code, failed } = await smoke(`--function ${FUNCTION} --wait 60`);
    expect([code, failed, invoked.length]).toEqual([0, [], 1 + 2]);
  });

  it.each([
    'User: ana is not authorized to perform: lambda:InvokeFunction',
    'Function not found: inquiries-test:live',
  ])('without --wait, or for what waiting does not help, fails at once: %s', async (message) => {
    const isDenied = message.startsWith('User');
    const refused = isDenied
      ? refusal(403, 'AccessDeniedException', message)
      : refusal(404, 'ResourceNotFoundException', message);
    refuse(refused, refused, ...(isDenied ? [refused] : []));
    const { code, failed } = await smoke(`--function ${FUNCTION}${isDenied ? ' --wait 60' : ''}`);
    expect([code, failed[0], invoked]).toEqual([1, `failed  ${UNAUTHORIZED}  ${message}`, []]);
  });
});

describe('npm run smoke --user-pool', () => {
  const POOL = '--user-pool eu-central-1_test --client client';
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
    const { code, output, results, failed } = await smoke(`--url ${url} ${POOL}`);
    expect([code, failed]).toEqual([0, []]);
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

    await smoke(`--url ${url} ${POOL}`);
    // Another user and another password each time.
    expect(new Set([token, ...listSecrets()]).size).toBe(2 * first.length - 1);
  });

  it('takes a token that is given instead', async () => {
    expect((await smoke(`${withToken()} ${POOL}`)).code).toBe(0);
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
      const { code, output, results } = await smoke(`--url ${url} ${POOL}`);
      expect(results).toContain(`failed  ${SIGNS_IN}  ${line}`);
      expect(results).toContain('skipped  POST creates an inquiry  no token');
      for (const secret of listSecrets()) expect(output).not.toContain(secret);
      expect(code).toBe(1);
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
  const FIELDS = 'body,cognito_sub,created_at,email,id';
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
        `${POST}  an inquiry has the fields ${FIELDS},reply,subject, not ${FIELDS},subject`,
        NOTHING,
        `${KEY}  an inquiry has the fields ${FIELDS},reply,subject, not ${FIELDS},subject`,
        NOT_SENT,
      ],
      /^POST/,
      (answer) => ({ text: answer.text.replace('"id"', '"reply":null,"id"') }),
    ],
    [
      [
        `${POST}  answered 500, not 201`,
        NOTHING,
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
    const { failed } = await smoke(`${withToken()} --origin ${ORIGIN}`);
    expect(failed).toEqual(lines.filter((line) => hasTransactions || !line.includes(' same key ')));
  });
});
