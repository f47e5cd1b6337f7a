import { afterEach, describe, expect, it } from 'vitest';
import { startFunction } from '../../scripts/local/function.ts';
import type { LocalFunction } from '../../scripts/local/function.ts';

const SOURCE = new URL('../../src/handler.ts', import.meta.url);
const lines: string[] = [];
let running: LocalFunction | undefined;

const start = async (handler: URL, { environment = {}, timeout = 5_000 } = {}): Promise<LocalFunction> => {
  running = await startFunction({ handler, environment, timeout, log: (line) => void lines.push(line) });
  return running;
};
const code = (source: string): URL => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
afterEach(async () => {
  await running?.close();
  running = undefined;
  lines.length = 0;
});

describe('initialisation', () => {
  const AWS = {
    AWS_REGION: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 's',
  };

  it.each([
    [{ CORS_ORIGIN: 'https://o' }, 'Missing environment variables: TABLE_NAME'],
    [{ TABLE_NAME: 'ttt' }, 'Missing environment variables: CORS_ORIGIN'],
    [{}, 'Missing environment variables: TABLE_NAME, CORS_ORIGIN'],
  ])('of the service fails with %j and names what is missing', async (environment, message) => {
    await expect(start(SOURCE, { environment: { ...AWS, ...environment } })).rejects.toThrow(message);
  });

  it('of the service survives a database that is down; requests answer 500 and log one line and the metrics', async () => {
    const { invoke } = await start(SOURCE, {
      environment: { ...AWS, TABLE_NAME: 'ttt', CORS_ORIGIN: 'https://o' },
    });
    const claims = { sub: '1f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b', email: 'ana@example.com' };
    const event = { requestContext: { http: { method: 'GET' }, authorizer: { jwt: { claims } } } };
    expect(JSON.parse(await invoke(JSON.stringify(event), 'r1'))).toEqual({
      statusCode: 500,
      headers: { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': 'https://o' },
      body: '{"error":"INTERNAL_SERVER_ERROR","message":"The request could not be processed. Please try again later."}',
    });
    await expect.poll(() => lines.length).toBe(2);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        timestamp: expect.any(String) as string,
        level: 'ERROR',
        requestId: 'r1',
        message: {
          requestId: 'r1',
          method: 'GET',
          route: '/inquiries',
          status: 500,
          milliseconds: expect.any(Number) as number,
          attempts: 3,
          errorName: expect.stringMatching(/^\w+$/) as string,
        },
      },
      expect.objectContaining({ FunctionName: 'inquiries-local', Requests: 1, Faults: 1 }),
    ]);
  });
});

describe('an invocation', () => {
  it('gets the event, a context and the environment given, and nothing of ours', async () => {
    const { invoke } = await start(
      code(
        'export const handler = async (event, context) => [event, context.awsRequestId, context.getRemainingTimeInMillis() > 4000, process.env]',
      ),
      { environment: { A: 'b' } },
    );
    expect(JSON.parse(await invoke('{"x":1}', 'r1'))).toEqual([{ x: 1 }, 'r1', true, { A: 'b' }]);
  });

  it('rejects with the name of what the handler throws, and the next one works', async () => {
    const { invoke } = await start(
      code(
        'export const handler = async (event) => { if (event.bad) throw new TypeError("secret"); return 1 }',
      ),
    );
    await expect(invoke('{"bad":1}', 'r')).rejects.toThrow(/^TypeError$/);
    expect(await invoke('{}', 'r')).toBe('1');
  });

  it('times out when the handler hangs, even in a loop that blocks its thread, and the next one works', async () => {
    const { invoke } = await start(
      code(
        'export const handler = async (event) => { if (event.loop) for (;;); if (event.hang) await new Promise(() => {}); return 1 }',
      ),
      { timeout: 300 },
    );
    for (const event of ['{"hang":1}', '{"loop":1}']) {
      await expect(invoke(event, 'r')).rejects.toMatchObject({ name: 'FunctionTimeout' });
      expect(await invoke('{}', 'r')).toBe('1');
    }
  });

  it('rejects when the handler ends the process, and the next one works', async () => {
    const { invoke } = await start(
      code('export const handler = async (event) => { if (event.exit) process.exit(3); return 1 }'),
    );
    await expect(invoke('{"exit":1}', 'r')).rejects.toThrow('Runtime exited with code 3');
    expect(await invoke('{}', 'r')).toBe('1');
  });

  it('logs console lines as Lambda does, with level and request id', async () => {
    const { invoke } = await start(
      code('export const handler = async () => { console.warn({ a: 1 }); console.log("text") }'),
    );
    await invoke('{}', 'r7');
    await expect.poll(() => lines.length).toBe(2);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'WARN', requestId: 'r7', message: { a: 1 } },
      { level: 'INFO', requestId: 'r7', message: 'text' },
    ]);
  });

  it('after a reload runs in a new copy, while a running one ends on the old', async () => {
    const { invoke, reload } = await start(
      code(
        'let n = 0; export const handler = async (event) => { n++; await new Promise((r) => setTimeout(r, event.wait ?? 0)); return n }',
      ),
    );
    expect(await invoke('{}', 'r')).toBe('1');
    const slow = invoke('{"wait":300}', 'r');
    await expect.poll(() => invoke('{}', 'r')).toBe('3');
    reload();
    expect(await invoke('{}', 'r')).toBe('1');
    expect(await slow).toBe('3');
  });
});
