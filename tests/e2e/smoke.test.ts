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
import { ROOT, run } from '../../scripts/infra/terraform.ts';
import { dynamoDbLocalUnavailableReason } from '../../scripts/local/dynamodb.ts';
import { close, listen } from '../../scripts/local/server.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { send } from '../helpers/http.ts';
import type { Answer } from '../helpers/http.ts';

const obstacle = dynamoDbLocalUnavailableReason();
const hasTransactions = obstacle === undefined;
if (!hasTransactions) {
  process.stdout.write(`\nSKIPPED: the checks of Idempotency-Key by npm run smoke, because ${obstacle}.\n`);
}

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
  const args = ['scripts/start.ts', '--port', '0', '--engine', engine, '--data', folder];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, CORS_ORIGIN: 'http://localhost:5173' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('curl -X POST')) break;
  }
  const [, address = ''] = /API +(\S+)\/inquiries/.exec(output) ?? [];
  const tokenCommand = [join(ROOT, 'scripts/token.ts'), '--data', folder];
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

function smoke(...args: string[]) {
  const { SMOKE_TOKEN: _, ...env } = process.env;
  const key = hasTransactions ? [] : ['--no-key'];
  return run(process.execPath, [join(ROOT, 'scripts/smoke.ts'), ...key, ...args], { env });
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
    expect(output).toMatch(/smoke: (10 passed, 0 failed, 0|8 passed, 0 failed, 2) skipped/);
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
    expect(skipped.output).toContain('smoke: 8 passed, 0 failed, 2 skipped');
    const { SMOKE_TOKEN: _, ...env } = process.env;
    const failed = await run(process.execPath, [join(ROOT, 'scripts/smoke.ts'), ...args], { env });
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
    const { code, output } = await smoke('--url', url, '--origin', 'http://localhost:5173');
    expect(results(output)).toContain('passed  preflight allows the origin');
    expect(output).toContain('smoke: 4 passed, 0 failed, 6 skipped');
    expect(code).toBe(0);
    expect((await smoke('--url', url)).output).toContain('smoke: 3 passed, 0 failed, 7 skipped');
  });

  it('fails where the stage allows another origin', async () => {
    const origin = ['--origin', 'https://www.example.com'];
    const { code, output } = await smoke('--url', url, '--token', token, ...origin);
    expect(results(output)).toContain(
      'failed  GET lists the inquiries of the caller  Access-Control-Allow-Origin is http://localhost:5173, not https://www.example.com',
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
    [['--nonsense'], "Unknown option '--nonsense' (see --help)"],
  ])('refuses %j in one line', async (args, line) => {
    const { code, output } = await smoke(...args);
    expect([code, output]).toEqual([2, `${line}\n`]);
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
        `${PREFLIGHT} the origin  Access-Control-Allow-Origin is *, not http://localhost:5173`,
        `${PREFLIGHT} no other origin  Access-Control-Allow-Origin is *`,
      ],
      /^OPTIONS/,
      () => ({ headers: { 'access-control-allow-origin': '*' } }),
    ],
    [[`${PREFLIGHT} the origin  answered 401, not 204`], /^OPTIONS/, () => ({ status: 401 })],
  ])('%j', async (lines, requests, change) => {
    const { output } = await smoke('--url', await startProxy(requests, change), '--token', token);
    expect(results(output).filter((line) => line.startsWith('failed'))).toEqual(
      lines.filter((line) => hasTransactions || !line.includes(' same key ')),
    );
  });
});
