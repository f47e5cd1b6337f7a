import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, run } from '../../scripts/infra/terraform.ts';

let folder = '';
let stack: ChildProcess;
let url = '';
let token = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'smoke-'));
  const child = spawn(
    process.execPath,
    ['scripts/start.ts', '--port', '0', '--engine', 'dynalite', '--data', folder],
    {
      cwd: ROOT,
      env: { ...process.env, CORS_ORIGIN: 'http://localhost:5173' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  stack = child;
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('curl -X POST')) break;
  }
  [, url = ''] = /API +(\S+)\/inquiries/.exec(output) ?? [];
  const args = [join(ROOT, 'scripts/token.ts'), '--data', folder];
  token = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
});
afterAll(async () => {
  const ended = once(stack, 'exit');
  stack.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

function smoke(...args: string[]) {
  const { SMOKE_TOKEN: _, ...env } = process.env;
  return run(process.execPath, [join(ROOT, 'scripts/smoke.ts'), ...args], { env });
}
const results = (output: string) =>
  output
    .split('\n')
    .filter((line) => /^(passed|failed|skipped) /.test(line))
    .map((line) =>
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
      'passed  preflight allows the origin',
      'passed  preflight allows no other origin',
    ]);
    expect(output).toContain('smoke: 8 passed, 0 failed, 0 skipped');
    expect(output).not.toContain(token);
    expect(code).toBe(0);
  });

  it('passes again, with the inquiry of the first run in the list, and accepts a slash at the end of the URL', async () => {
    expect(await smoke('--url', `${url}/`, '--token', token)).toMatchObject({ code: 0 });
  });

  it('without a token skips the checks that need one, and says so', async () => {
    const { code, output } = await smoke('--url', url);
    expect(output).toContain('smoke: 3 passed, 0 failed, 5 skipped');
    expect(code).toBe(0);
  });

  it('checks the preflight without a token where the origin is given', async () => {
    const { output } = await smoke('--url', url, '--origin', 'http://localhost:5173');
    expect(results(output)).toContain('passed  preflight allows the origin');
  });

  it('fails where the stage allows another origin', async () => {
    const { code, output } = await smoke(
      '--url',
      url,
      '--token',
      token,
      '--origin',
      'https://www.example.com',
    );
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
    [['--url', 'localhost'], "--url must be an http or https URL, not 'localhost'"],
    [['--url', 'file:///etc'], "--url must be an http or https URL, not 'file:///etc'"],
    [['--url', 'http://localhost', '--wait', 'long'], "--wait must be a number of seconds, not 'long'"],
    [['--nonsense'], "Unknown option '--nonsense' (see --help)"],
  ])('refuses %j in one line', async (args, line) => {
    const { code, output } = await smoke(...args);
    expect([code, output]).toEqual([2, `${line}\n`]);
  });
});

/** A proxy in front of the stage changes its responses. */
describe('npm run smoke, against a stage that breaks the contract', () => {
  interface Answer {
    status: number;
    headers: Record<string, string>;
    body: string;
  }
  const servers: { close(): void }[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function broken(change: (answer: Answer, request: { method: string; target: string }) => void) {
    const server = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
        const method = request.method ?? '';
        const upstream = await fetch(`${url}${request.url}`, {
          method,
          headers: headers as Record<string, string>,
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        });
        const answer = {
          status: upstream.status,
          headers: Object.fromEntries(upstream.headers),
          body: await upstream.text(),
        };
        change(answer, { method, target: request.url ?? '' });
        delete answer.headers['content-length'];
        response.writeHead(answer.status, answer.headers).end(answer.body);
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const failures = async (base: string) =>
    results((await smoke('--url', base, '--token', token)).output).filter((line) =>
      line.startsWith('failed'),
    );

  it.each<[string, (answer: Answer, request: { method: string; target: string }) => void, string[]]>([
    [
      'lets callers in without a token',
      (answer) => {
        if (answer.status === 401) answer.status = 200;
      },
      [
        'failed  401 without a token  answered 200, not 401',
        'failed  401 with a token that is none  answered 200, not 401',
      ],
    ],
    [
      'answers 403 to PUT',
      (answer, { method }) => {
        if (method === 'PUT') answer.status = 403;
      },
      ['failed  405 for PUT, with the methods that are allowed  answered 403, not 405'],
    ],
    [
      'omits Allow',
      (answer) => {
        delete answer.headers['allow'];
      },
      ['failed  405 for PUT, with the methods that are allowed  Allow is missing, not GET, POST'],
    ],
    [
      'answers as text',
      (answer, { method }) => {
        if (method === 'POST') answer.headers['content-type'] = 'text/plain';
      },
      [
        'failed  POST creates an inquiry  Content-Type is text/plain, not application/json',
        'failed  GET sees it  there is nothing to see, since POST failed',
      ],
    ],
    [
      'omits Cache-Control',
      (answer, { target }) => {
        if (target.includes('limit')) delete answer.headers['cache-control'];
      },
      ['failed  GET sees it  Cache-Control is missing, not no-store'],
    ],
    [
      'returns a column that is not in the contract',
      (answer, { method }) => {
        if (method === 'POST') answer.body = answer.body.replace('"id"', '"reply":null,"id"');
      },
      [
        'failed  POST creates an inquiry  an inquiry has the fields body,cognito_sub,created_at,email,id,reply,subject, not body,cognito_sub,created_at,email,id,subject',
        'failed  GET sees it  there is nothing to see, since POST failed',
      ],
    ],
    [
      'reads stale data',
      (answer, { target }) => {
        if (target.includes('limit')) answer.body = '{"email":"ana@example.com","count":0,"inquiries":[]}';
      },
      ['failed  GET sees it  the new inquiry is not in the list'],
    ],
    [
      'lists the oldest first',
      (answer, { target }) => {
        if (!target.includes('limit')) return;
        const list = JSON.parse(answer.body) as { inquiries: unknown[] };
        list.inquiries.reverse();
        answer.body = JSON.stringify(list);
      },
      ['failed  GET sees it  the list is not ordered newest first'],
    ],
    [
      'returns a wrong count',
      (answer, { target }) => {
        if (target.includes('limit')) answer.body = answer.body.replace(/"count":\d+/, '"count":999');
      },
      ['failed  GET sees it  count is 999 and does not match the list'],
    ],
    [
      'allows every origin',
      (answer) => {
        answer.headers['access-control-allow-origin'] = '*';
      },
      expect.arrayContaining([
        'failed  preflight allows no other origin  Access-Control-Allow-Origin is *',
      ]) as string[],
    ],
    [
      'answers 401 to preflights',
      (answer, { method }) => {
        if (method === 'OPTIONS') answer.status = 401;
      },
      ['failed  preflight allows the origin  answered 401, not 204'],
    ],
  ])('fails where it %s', async (_, change, expected) => {
    expect(await failures(await broken(change))).toEqual(expected);
  });
});
