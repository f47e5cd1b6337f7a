import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../deploy/terraform.ts';
import { ROOT } from '../../lib/paths.ts';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { send } from '../helpers/http.ts';
import type { Answer } from '../helpers/http.ts';
import { startLambdaApi, toModule } from '../helpers/lambda-api.ts';

const obstacle = dynamoDbLocalUnavailableReason();
const hasTransactions = obstacle === undefined;
if (!hasTransactions) {
  process.stdout.write(`\nSKIPPED: the checks of Idempotency-Key by npm run smoke, because ${obstacle}.\n`);
}

/** Of a page besides the contact form. */
const ORIGIN = 'http://localhost:5173';

interface Stack {
  readonly folder: string;
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
}
const stacks: Stack[] = [];
let url = '';
let token = '';

async function start(engine: string): Promise<Stack> {
  const folder = mkdtempSync(join(tmpdir(), 'smoke-'));
  const args = [
    'local/start.ts',
    '--port',
    '0',
    '--engine',
    engine,
    '--data',
    folder,
    '--cors-origin',
    ORIGIN,
  ];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('curl -X POST')) break;
  }
  const [, address = ''] = /API +(\S+)\/inquiries/.exec(output) ?? [];
  const tokenCommand = [join(ROOT, 'local/token.ts'), '--data', folder];
  const idToken = execFileSync(process.execPath, tokenCommand, { encoding: 'utf8' }).trim();
  const stack = { folder, child, url: address, token: idToken };
  stacks.push(stack);
  return stack;
}

beforeAll(async () => {
  ({ url, token } = await start(hasTransactions ? 'dynamodb-local' : 'dynalite'));
});
afterAll(async () => {
  for (const { folder, child } of stacks) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Where the AWS clients of the smoke test send their requests. */
let awsUrl = 'http://127.0.0.1:9';
function smoke(...args: string[]) {
  const { SMOKE_TOKEN: _, ...env } = process.env;
  const key = hasTransactions ? [] : ['--no-key'];
  return run(process.execPath, [join(ROOT, 'deploy/smoke.ts'), ...key, ...args], {
    env: {
      ...env,
      AWS_ENDPOINT_URL: awsUrl,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
  });
}
const results = (output: string) =>
  (output.match(/^(passed|failed|skipped) .*$/gm) ?? []).map((line) =>
    line
      .replace(/ \d+ ms$/, '')
      .replaceAll(/ {2,}/g, '  ')
      .trim(),
  );

describe('npm run smoke', () => {
  it('passes every check against the local stack', async () => {
    const { code, output } = await smoke('--url', url, '--token', token);
    expect(results(output)).toEqual([
      'skipped  the function answers 401 without claims  no function',
      'skipped  the function answers 405 for PUT  no function',
      'passed  401 without a token',
      'passed  401 with a token that is none',
      'passed  405 for PUT, with the methods that are allowed',
      'passed  GET lists the inquiries of the caller',
      'passed  POST creates an inquiry',
      'passed  GET sees it',
      ...(hasTransactions
        ? ['passed  POST with the same key stores nothing', 'passed  422 for the same key with another text']
        : [
            'skipped  POST with the same key stores nothing  no key',
            'skipped  422 for the same key with another text  no key',
          ]),
      'passed  preflight allows the origin',
      'passed  preflight allows no other origin',
    ]);
    expect(output).toMatch(/smoke: (10 passed, 0 failed, 2|8 passed, 0 failed, 4) skipped\n$/);
    expect(output).not.toContain(token);
    expect(code).toBe(0);
  });

  it('leaves one inquiry behind', async () => {
    const authorization = `Bearer ${token}`;
    const list = async () => {
      const response = await fetch(`${url}/inquiries`, { headers: { authorization } });
      return ((await response.json()) as InquiryListResponse).inquiries;
    };
    const before = await list();
    expect(await smoke('--url', url, '--token', token)).toMatchObject({ code: 0 });
    const [inquiry, ...older] = await list();
    expect(inquiry?.body).toBe('Left by the smoke test of a deployment.');
    expect(older).toEqual(before);
  });

  it('tells that a stack with dynalite ignores the key, and skips these checks with --no-key', async () => {
    const dynalite = hasTransactions ? await start('dynalite') : { url, token };
    const args = ['--url', dynalite.url, '--token', dynalite.token];
    const skipped = await smoke(...args, '--no-key');
    expect(skipped.output).toContain('smoke: 8 passed, 0 failed, 4 skipped');
    const { SMOKE_TOKEN: _, ...env } = process.env;
    const failed = await run(process.execPath, [join(ROOT, 'deploy/smoke.ts'), ...args], { env });
    expect(results(failed.output).filter((line) => line.startsWith('failed'))).toEqual([
      'failed  POST with the same key stores nothing  the key is ignored, as with dynalite (see --no-key): there are two inquiries now',
      'failed  422 for the same key with another text  not sent, since it would be stored',
    ]);
    expect([skipped.code, failed.code]).toEqual([0, 1]);
  });

  it('passes again, with the inquiry of the first run in the list, and accepts a slash at the end of the URL', async () => {
    expect(await smoke('--url', `${url}/`, '--token', token)).toMatchObject({ code: 0 });
  });

  it('without a token skips the checks that need one; the origin is enough for the preflight', async () => {
    const { code, output } = await smoke('--url', url, '--origin', ORIGIN);
    expect(results(output)).toContain('passed  preflight allows the origin');
    expect(output).toContain('smoke: 4 passed, 0 failed, 8 skipped');
    expect(code).toBe(0);
    expect((await smoke('--url', url)).output).toContain('smoke: 3 passed, 0 failed, 9 skipped');
  });

  it('says in its last line that the function was not reached, without a function and a token', async () => {
    const { code, output } = await smoke('--url', url);
    expect(output).toMatch(
      /skipped\nThe function was not reached, so it may be failing; --function NAME or a token checks it\.\n$/,
    );
    expect(code).toBe(0);
  });

  it('fails where the stage allows another origin', async () => {
    const origin = ['--origin', 'https://www.example.com'];
    const { code, output } = await smoke('--url', url, '--token', token, ...origin);
    expect(output).toMatch(
      /^failed +GET lists the inquiries of the caller +Access-Control-Allow-Origin is http:\S+, not https:\/\/www\.example\.com$/m,
    );
    expect(code).toBe(1);
  });

  it('fails where nothing answers', async () => {
    const { code, output } = await smoke('--url', 'http://127.0.0.1:9', '--token', token);
    expect(output).toContain('smoke: 0 passed,');
    expect(code).toBe(1);
  });

  it.each([
    [[], '--url is missing (see --help)'],
    [['--url', 'file:///etc'], "--url must be an http or https URL, not 'file:///etc'"],
    [['--url', 'http://localhost', '--wait', 'long'], "--wait must be a number of seconds, not 'long'"],
    [
      ['--user-pool', 'pool', '--url', 'http://localhost'],
      '--user-pool and --client belong together (see --help)',
    ],
    [['--client', 'client', '--function', 'f'], '--user-pool and --client belong together (see --help)'],
    [['--function', 'f', '--url', 'nonsense'], "--url must be an http or https URL, not 'nonsense'"],
    [['--nonsense'], "Unknown option '--nonsense' (see --help)"],
  ])('refuses %j in one line', async (args, line) => {
    const { code, output } = await smoke(...args);
    expect([code, output]).toEqual([2, `${line}\n`]);
  });
});

const FUNCTION = 'inquiries-test:live';
const UNAUTHORIZED = 'the function answers 401 without claims';
const NOT_ALLOWED = 'the function answers 405 for PUT';
const ONLY_FUNCTION = '\nOnly the function was checked, without the API; --url URL checks both.\n';

describe('npm run smoke --function', () => {
  let api: Awaited<ReturnType<typeof startLambdaApi>>;
  beforeAll(async () => {
    api = await startLambdaApi();
    awsUrl = api.url;
  });
  afterEach(() => {
    api.invoked.length = 0;
    api.refusals.length = 0;
  });
  afterAll(() => api.close());

  it('invokes the deployed function through its alias, without a token and without an URL', async () => {
    await api.deploy(FUNCTION);
    const { code, output } = await smoke('--function', FUNCTION);
    expect(results(output).slice(0, 3)).toEqual([
      `passed  ${UNAUTHORIZED}`,
      `passed  ${NOT_ALLOWED}`,
      'skipped  401 without a token  no url',
    ]);
    expect(output).toMatch(new RegExp(`\nsmoke: 2 passed, 0 failed, 10 skipped${ONLY_FUNCTION}$`));
    expect(api.invoked).toEqual([FUNCTION, FUNCTION]);
    expect(code).toBe(0);
  });

  it('takes the origin for the preflight from the function, and says what was not checked', async () => {
    await api.deploy(FUNCTION);
    const { code, output } = await smoke('--function', FUNCTION, '--url', url);
    expect(results(output)).toContain('passed  preflight allows the origin');
    expect(output).toMatch(
      /\nsmoke: 6 passed, 0 failed, 6 skipped\nWhat a signed-in user gets was not checked; /,
    );
    expect(code).toBe(0);
  });

  const answer = (status: number, headers: object, body: string): string =>
    toModule(`return ${JSON.stringify({ statusCode: status, headers, body })};`);
  const HEADERS = {
    'Content-Type': 'application/json',
    'Access-Control-Allow-Origin': 'https://www.example.com',
  };
  const BODY = '{"error":"Unauthorized","message":"Invalid or missing required JWT claims"}';
  const { 'Access-Control-Allow-Origin': _, ...withoutOrigin } = HEADERS;
  const OTHER = 'the function returned something other than statusCode, headers and body';

  it.each<[what: string, module: string, reason: string, timeout?: number]>([
    [
      'answers 500 to everything',
      answer(500, HEADERS, '{"error":"INTERNAL_SERVER_ERROR","message":"m"}'),
      'answered 500, not 401',
    ],
    ['lets everybody in', answer(200, HEADERS, '{}'), 'answered 200, not 401'],
    ['throws', toModule('throw new TypeError("broken");'), 'the function failed: TypeError: broken'],
    [
      'is not initialised',
      `data:text/javascript,${encodeURIComponent('throw new Error("no settings")')}`,
      'the function failed: Runtime.ExitError: no settings',
    ],
    [
      'runs out of time',
      toModule('return new Promise((resolve) => setTimeout(resolve, 60_000));'),
      'the function failed: Sandbox.Timedout: Task timed out after 0.2 seconds',
      200,
    ],
    [
      'ends its process',
      toModule('process.exit(1);'),
      'the function failed: Runtime.ExitError: Runtime exited with code 1',
    ],
    [
      'answers with HTML',
      answer(401, { ...HEADERS, 'Content-Type': 'text/html' }, '<h1>Unauthorized</h1>'),
      'Content-Type is text/html, not application/json',
    ],
    ['returns a text', toModule('return "Hello from Lambda!";'), OTHER],
    ['returns nothing', toModule(''), OTHER],
    ['returns no body', toModule('return { statusCode: 401, headers: {} };'), OTHER],
    [
      "answers with the gateway's body",
      answer(401, HEADERS, '{"message":"Unauthorized"}'),
      'the body has the fields message, not error,message',
    ],
    [
      'answers with another message',
      answer(401, HEADERS, '{"error":"Unauthorized","message":"no"}'),
      'message is "no", not "Invalid or missing required JWT claims"',
    ],
    [
      'answers with another error',
      answer(401, HEADERS, BODY.replace('Unauthorized', 'UNAUTHORIZED')),
      'error is UNAUTHORIZED, not Unauthorized',
    ],
    ['allows no origin', answer(401, withoutOrigin, BODY), 'Access-Control-Allow-Origin is missing'],
    [
      'allows every origin',
      answer(401, { ...HEADERS, 'Access-Control-Allow-Origin': '*' }, BODY),
      'Access-Control-Allow-Origin is *',
    ],
  ])('fails when the function %s', async (_what, module, reason, timeout) => {
    await api.deploy(FUNCTION, module, timeout);
    const { code, output } = await smoke('--function', FUNCTION);
    expect(results(output)[0]).toBe(`failed  ${UNAUTHORIZED}  ${reason}`);
    expect(results(output)[1]).toMatch(`failed  ${NOT_ALLOWED}`);
    expect(output).toContain('smoke: 0 passed, 2 failed,');
    expect(code).toBe(1);
  });

  it.each([
    [answer(401, HEADERS, BODY), 'answered 401, not 405'],
    [
      toModule(
        `return event.requestContext.http.method === 'GET' ? ${JSON.stringify({ statusCode: 401, headers: HEADERS, body: BODY })} :
          ${JSON.stringify({ statusCode: 405, headers: HEADERS, body: '{"error":"METHOD_NOT_ALLOWED","message":"m"}' })};`,
      ),
      'Allow is missing, not GET, POST',
    ],
  ])('fails when only the response to PUT is wrong: %#', async (module, reason) => {
    await api.deploy(FUNCTION, module);
    const { code, output } = await smoke('--function', FUNCTION);
    expect(results(output).slice(0, 2)).toEqual([
      `passed  ${UNAUTHORIZED}`,
      `failed  ${NOT_ALLOWED}  ${reason}`,
    ]);
    expect(code).toBe(1);
  });

  it('fails when the function allows another origin than the one given', async () => {
    await api.deploy(FUNCTION);
    const { code, output } = await smoke('--function', FUNCTION, '--origin', 'https://www.example.com');
    expect(results(output)[0]).toBe(
      `failed  ${UNAUTHORIZED}  Access-Control-Allow-Origin is http://localhost:5173, not https://www.example.com`,
    );
    expect(code).toBe(1);
  });

  it('fails when there is no such function, alias or version', async () => {
    const { code, output } = await smoke('--function', 'inquiries-test:2');
    expect(results(output)[0]).toBe(`failed  ${UNAUTHORIZED}  Function not found: inquiries-test:2`);
    expect(code).toBe(1);
  });

  it('with --wait, waits for the alias and for the role, and then checks', async () => {
    await api.deploy(FUNCTION);
    api.refusals.push(
      { status: 404, type: 'ResourceNotFoundException', message: 'Function not found' },
      {
        status: 403,
        type: 'AccessDeniedException',
        message: 'The role defined for the function cannot be assumed by Lambda.',
      },
    );
    const { code, output } = await smoke('--function', FUNCTION, '--wait', '60');
    expect(output).toContain('smoke: 2 passed, 0 failed,');
    expect(api.invoked.length).toBe(2 + 1 + 2);
    expect(code).toBe(0);
  });

  it('with --wait, does not wait for credentials that may not invoke the function, nor for a function that fails', async () => {
    await api.deploy(FUNCTION, answer(500, HEADERS, '{}'));
    expect((await smoke('--function', FUNCTION, '--wait', '60')).code).toBe(1);
    expect(api.invoked.length).toBe(1 + 2);
    const message =
      'User: arn:aws:iam::111122223333:user/ana is not authorized to perform: lambda:InvokeFunction';
    const refused = { status: 403, type: 'AccessDeniedException', message };
    api.refusals.push(refused, refused, refused);
    const { code, output } = await smoke('--function', FUNCTION, '--wait', '60');
    expect(results(output)[0]).toBe(`failed  ${UNAUTHORIZED}  ${message}`);
    expect(api.invoked.length).toBe(3 + 1 + 2);
    expect(code).toBe(1);
  });
});

describe('npm run smoke --user-pool', () => {
  const POOL = ['--user-pool', 'eu-central-1_test', '--client', 'client'];
  const SIGNS_IN = 'a new user of the pool signs in';
  /** Requests to Cognito: the name of the action, and the body. */
  const calls: [action: string, body: Record<string, unknown>][] = [];
  /** Answers for actions, in the place of success. */
  const answers: Record<string, { status: number; type?: string; json: object }> = {};
  let secrets: string[] = [];
  let cognito: Server;
  beforeAll(async () => {
    cognito = createServer((request, response) => {
      void (async () => {
        const [, action = ''] = String(request.headers['x-amz-target']).split('.');
        const body = JSON.parse(await text(request)) as Record<string, unknown>;
        calls.push([action, body]);
        secrets.push(...[body['Username'], body['Password']].filter((secret) => typeof secret === 'string'));
        const granted = action === 'AdminInitiateAuth' ? { AuthenticationResult: { IdToken: token } } : {};
        const { status, type, json } = answers[action] ?? { status: 200, json: granted };
        const names = {
          'content-type': 'application/x-amz-json-1.1',
          ...(type && { 'x-amzn-errortype': type }),
        };
        response
          .writeHead(status, names)
          .end(JSON.stringify(json).replaceAll('EMAIL', String(body['Username'])));
      })();
    });
    awsUrl = `http://127.0.0.1:${await listen(cognito, 0)}`;
  });
  afterAll(() => close(cognito));
  afterEach(() => {
    calls.length = 0;
    secrets = [];
    for (const action of Object.keys(answers)) delete answers[action];
  });

  it('creates a user without an invitation, signs in, deletes the user, and runs every check with the token', async () => {
    const { code, output } = await smoke('--url', url, ...POOL);
    expect(results(output)).toContain(`passed  ${SIGNS_IN}`);
    expect(results(output)).toContain('passed  POST creates an inquiry');
    expect(output).toMatch(/smoke: (11 passed, 0 failed, 2|9 passed, 0 failed, 4) skipped\n$/);
    expect(code).toBe(0);
    expect(calls.map(([action]) => action)).toEqual([
      'AdminCreateUser',
      'AdminSetUserPassword',
      'AdminInitiateAuth',
      'AdminDeleteUser',
    ]);
    const [create, password, signIn, remove] = calls.map(([, body]) => body);
    const user = { UserPoolId: 'eu-central-1_test', Username: create?.['Username'] };
    expect(user.Username).toMatch(/^smoke-test-[\da-f-]{36}@inquiries\.invalid$/);
    expect(create).toEqual({
      ...user,
      MessageAction: 'SUPPRESS',
      UserAttributes: [
        { Name: 'email', Value: user.Username },
        { Name: 'email_verified', Value: 'true' },
      ],
    });
    expect(password).toEqual({ ...user, Password: expect.stringMatching(/^aA1!.{32}$/), Permanent: true });
    expect(signIn).toMatchObject({ ClientId: 'client', AuthFlow: 'ADMIN_USER_PASSWORD_AUTH' });
    expect(remove).toEqual(user);
    for (const secret of [token, ...secrets]) expect(output).not.toContain(secret);
  });

  it('uses another user and another password each time', async () => {
    await smoke('--url', url, ...POOL);
    await smoke('--url', url, ...POOL);
    const passwords = calls.flatMap(([, body]) => body['Password'] ?? []);
    expect(new Set(passwords).size).toBe(2);
    expect(new Set(calls.flatMap(([, body]) => body['Username'] ?? [])).size).toBe(2);
  });

  it('takes a token that is given instead', async () => {
    expect(await smoke('--url', url, ...POOL, '--token', token)).toMatchObject({ code: 0 });
    expect(calls).toEqual([]);
  });

  it.each([
    [
      'AdminInitiateAuth',
      { status: 400, type: 'NotAuthorizedException', json: { message: 'Incorrect username or password.' } },
      'NotAuthorizedException: Incorrect username or password.',
    ],
    [
      'AdminSetUserPassword',
      { status: 400, type: 'InvalidPasswordException', json: { message: 'EMAIL has a bad password' } },
      'InvalidPasswordException: USER has a bad password',
    ],
    [
      'AdminInitiateAuth',
      { status: 200, json: { ChallengeName: 'SOFTWARE_TOKEN_MFA', Session: 's' } },
      'Error: Cognito asks for SOFTWARE_TOKEN_MFA instead of signing in',
    ],
  ])('deletes the user and fails in one line when %s does not succeed: %j', async (action, reply, line) => {
    answers[action] = reply;
    const { code, output } = await smoke('--url', url, ...POOL);
    expect(results(output)).toContain(`failed  ${SIGNS_IN}  ${line}`);
    expect(results(output)).toContain('skipped  POST creates an inquiry  no token');
    expect(calls.at(-1)?.[0]).toBe('AdminDeleteUser');
    for (const secret of secrets) expect(output).not.toContain(secret);
    expect(code).toBe(1);
  });

  it('fails when the user cannot be deleted', async () => {
    answers['AdminDeleteUser'] = {
      status: 400,
      type: 'AccessDeniedException',
      json: {
        message: 'User: arn:aws:iam::1:user/ana is not authorized to perform: cognito-idp:AdminDeleteUser',
      },
    };
    const { code, output } = await smoke('--url', url, ...POOL);
    expect(results(output).join('\n')).toMatch(
      /failed {2}a new user of the pool signs in {2}AccessDeniedException: User: .* cognito-idp:AdminDeleteUser/,
    );
    expect(code).toBe(1);
  });
});

describe('npm run smoke, against a stage that breaks the contract, reports', () => {
  type Change = (answer: Answer) => { status?: number; headers?: Record<string, string>; text?: string };
  const servers: Server[] = [];
  afterEach(() => Promise.all(servers.splice(0).map(close)));

  /** A proxy in front of the stage, which changes the responses to these requests: METHOD TARGET STATUS. */
  async function startProxy(requests: RegExp, change: Change): Promise<string> {
    const server = createServer((incoming, response) => {
      void (async () => {
        const { method = '', url: target = '' } = incoming;
        const headers = Object.entries(incoming.headers).filter(
          ([name]) => !/^(host|connection|content-length)$/.test(name),
        );
        const body = await text(incoming);
        const sent = { method, headers: headers.flat() as string[], ...(body !== '' && { body }) };
        const answer = await send(url + target, sent);
        delete answer.headers['content-length'];
        const changes = requests.test(`${method} ${target} ${answer.status}`) ? change(answer) : {};
        const changed = { ...answer, ...changes };
        response.writeHead(changed.status, { ...answer.headers, ...changes.headers }).end(changed.text);
      })();
    });
    servers.push(server);
    return `http://127.0.0.1:${await listen(server, 0)}`;
  }
  const without =
    (name: string): Change =>
    ({ headers }) => {
      delete headers[name];
      return {};
    };
  const reverse: Change = ({ json }) => {
    const { inquiries, ...list } = json as InquiryListResponse;
    return { text: JSON.stringify({ ...list, inquiries: inquiries.toReversed() }) };
  };

  const repeat: Change = ({ json }) => {
    const { count, inquiries, ...list } = json as InquiryListResponse;
    const repeated = [...inquiries.slice(0, 1), ...inquiries];
    return { text: JSON.stringify({ ...list, count: count + 1, inquiries: repeated }) };
  };

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
      ['without a token', 'with a token that is none'].map(
        (title) => `failed  401 ${title}  answered 200, not 401`,
      ),
      / 401$/,
      () => ({ status: 200 }),
    ],
    [[`${PUT}  answered 403, not 405`], /^PUT/, () => ({ status: 403 })],
    [[`${PUT}  Allow is missing, not GET, POST`], /^PUT/, without('allow')],
    [
      [
        `${POST}  Content-Type is text/plain, not application/json`,
        NOTHING,
        `${KEY}  Content-Type is text/plain, not application/json`,
        NOT_SENT,
      ],
      /^POST/,
      () => ({ headers: { 'content-type': 'text/plain' } }),
    ],
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
      [`${KEY}  the key is ignored, as with dynalite (see --no-key): there are two inquiries now`, NOT_SENT],
      /^POST/,
      without('idempotency-replayed'),
    ],
    [
      [`${KEY}  the body is not the one of the first response`],
      /^POST/,
      ({ headers, text: body }) =>
        'idempotency-replayed' in headers ? { text: body.replace('Left by', 'LEFT BY') } : {},
    ],
    [[`${KEY}  there are 2 inquiries`], /limit=100/, repeat],
    [[`${REUSED}  answered 409, not 422`], /^POST.* 422$/, () => ({ status: 409 })],
    [[`${GET}  Cache-Control is missing, not no-store`], /limit=20/, without('cache-control')],
    [[`${GET}  the new inquiry is not in the list`], /limit=20/, () => ({ text: EMPTY })],
    [[`${GET}  the list is not ordered newest first`], /limit=20/, reverse],
    [
      [`${GET}  count is 999 and does not match the list`],
      /limit=20/,
      (answer) => ({ text: answer.text.replace(/"count":\d+/, '"count":999') }),
    ],
    [
      [
        `${PREFLIGHT} the origin  Access-Control-Allow-Origin is *, not ${ORIGIN}`,
        `${PREFLIGHT} no other origin  Access-Control-Allow-Origin is *`,
      ],
      /^OPTIONS/,
      () => ({ headers: { 'access-control-allow-origin': '*' } }),
    ],
    [[`${PREFLIGHT} the origin  answered 401, not 204`], /^OPTIONS/, () => ({ status: 401 })],
  ])('%j', async (lines, requests, change) => {
    const { output } = await smoke(
      '--url',
      await startProxy(requests, change),
      '--token',
      token,
      '--origin',
      ORIGIN,
    );
    expect(results(output).filter((line) => line.startsWith('failed'))).toEqual(
      lines.filter((line) => hasTransactions || !line.includes(' same key ')),
    );
  });
});
