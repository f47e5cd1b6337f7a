import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { close, listen } from '../../scripts/local/server.ts';
import { createClient, UnexpectedAnswerError } from '../../web/src/api/client.ts';
import type { Client } from '../../web/src/api/client.ts';

const LIST = { email: 'ana@example.com', count: 0, inquiries: [] };
const INPUT = { subject: 'Hello', body: 'Is anyone there?' };

/** What the server under the client answers next, and what it was asked. */
let answer: { status: number; body?: string; headers?: Record<string, string> };
let asked: { request: IncomingMessage; body: string }[];
const server = createServer((request, response) => {
  void text(request).then((body) => {
    asked.push({ request, body });
    return response.writeHead(answer.status, answer.headers).end(answer.body);
  });
});
let origin = '';
let client: Client;
beforeAll(async () => {
  origin = `http://127.0.0.1:${await listen(server, 0)}`;
  client = createClient({ baseUrl: origin, getToken: () => 'token' });
});
afterAll(() => close(server));
beforeEach(() => {
  asked = [];
  answer = { status: 200, body: JSON.stringify(LIST) };
});

describe('a call', () => {
  it('carries the token that is given for it', async () => {
    let count = 0;
    const { listInquiries } = createClient({ baseUrl: origin, getToken: async () => `token-${++count}` });
    await listInquiries();
    await listInquiries();
    expect(asked.map(({ request }) => request.headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  it.each(['', '/', '/v1', '/v1/'])('goes below a base URL that ends in "%s"', async (path) => {
    await createClient({ baseUrl: origin + path, getToken: () => 't' }).listInquiries();
    expect(asked[0]?.request.url).toBe(`${path.replace(/\/$/, '')}/inquiries`);
  });

  it('sends nothing when there is no token', async () => {
    const { listInquiries } = createClient({
      baseUrl: origin,
      getToken: () => Promise.reject(new Error('signed out')),
    });
    await expect(listInquiries()).rejects.toThrow('signed out');
    expect(asked).toEqual([]);
  });

  it('ends with the reason of its signal', async () => {
    const signal = AbortSignal.abort(new Error('left the page'));
    await expect(client.listInquiries({}, { signal })).rejects.toThrow('left the page');
    await expect(client.createInquiry(INPUT, { signal })).rejects.toThrow('left the page');
    expect(asked).toEqual([]);
  });

  it.each([
    ['a status that the contract does not know', { status: 502, body: '{}' }],
    ['a body that is not JSON', { status: 503, body: '<html>' }],
    ['no body', { status: 200 }],
  ])('rejects with the status when it is answered with %s', async (_, given) => {
    answer = given;
    const failure = await client.listInquiries().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnexpectedAnswerError);
    expect(failure).toMatchObject({ status: given.status });
  });

  it('rejects with a TypeError when nobody answers', async () => {
    const nowhere = createClient({ baseUrl: 'http://127.0.0.1:1', getToken: () => 't' });
    await expect(nowhere.listInquiries()).rejects.toThrow(TypeError);
  });
});

describe('listInquiries', () => {
  it('asks for all without parameters and resolves to the list', async () => {
    expect(await client.listInquiries()).toEqual({ status: 200, body: LIST });
    expect(asked).toMatchObject([{ request: { method: 'GET', url: '/inquiries' }, body: '' }]);
  });

  it('sends the parameters that are given and no others', async () => {
    await client.listInquiries({ limit: 2 });
    await client.listInquiries({ limit: 2, before: 'a&b' });
    expect(asked.map(({ request }) => request.url)).toEqual([
      '/inquiries?limit=2',
      '/inquiries?limit=2&before=a%26b',
    ]);
  });

  it.each([
    ['<?before=01a1f830&limit=2>; rel="next"', { before: '01a1f830', limit: 2 }],
    ['<?before=01a1f830>; rel="next"', { before: '01a1f830' }],
    ['<?x=1>; rel="prev", <?before=01a1f830>; rel=next', { before: '01a1f830' }],
    ['<?before=01a1f830>; rel="prev"', undefined],
  ])('reads the query of what comes next from Link: %s', async (Link, next) => {
    answer.headers = { Link };
    const result = await client.listInquiries({ limit: 2 });
    expect(result).toEqual({ status: 200, body: LIST, ...(next && { next }) });
  });

  it('resolves to errors of the function and of the gateway, which tell themselves apart', async () => {
    const shapes = [];
    for (const body of [{ error: 'Unauthorized', message: 'claims' }, { message: 'Unauthorized' }]) {
      answer = { status: 401, body: JSON.stringify(body) };
      const result = await client.listInquiries();
      if (result.status === 401) shapes.push('error' in result.body ? result.body.error : 'gateway');
    }
    expect(shapes).toEqual(['Unauthorized', 'gateway']);
  });
});

describe('createInquiry', () => {
  it('posts the inquiry as JSON and resolves to what is stored', async () => {
    const inquiry = { id: '1', cognito_sub: '2', email: 'e', ...INPUT, created_at: 't' };
    answer = { status: 201, body: JSON.stringify({ inquiry }) };
    const result = await client.createInquiry(INPUT);
    // The status narrows the body: this is also a test of the types.
    expect(result.status === 201 && result.body.inquiry).toEqual(inquiry);
    expect(asked).toMatchObject([
      {
        request: {
          method: 'POST',
          url: '/inquiries',
          headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
        },
        body: JSON.stringify(INPUT),
      },
    ]);
  });

  it.each([400, 413, 429, 500, 503])('resolves to a %i', async (status) => {
    answer = { status, body: '{"message":"m"}' };
    expect(await client.createInquiry(INPUT)).toEqual({ status, body: { message: 'm' } });
  });
});
