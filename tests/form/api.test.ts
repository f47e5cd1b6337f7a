import { expect, it, vi } from 'vitest';
import { badRequest, internalError, refusals } from '../../src/errors.ts';
import { createApi, SignedOut, type Api } from '../../web/src/api.ts';
import { INQUIRY } from '../helpers/events.ts';

const created = () => Response.json({ inquiry: INQUIRY }, { status: 201 });
const unauthorized = () => Response.json({ message: 'Unauthorized' }, { status: 401 });
const LOST = new TypeError('Failed to fetch');

const post = async ({ create }: Api) => create({ subject: 'a', body: 'b' }, 'k', 'de');

async function call(
  act: (api: Api) => Promise<unknown>,
  answers: (Response | Error)[],
  tokens: (string | Error)[] = ['t'],
  isOnline = true,
) {
  const asked: string[] = [];
  const next = <Value>(values: (Value | Error)[]): Value => {
    const value = values.shift() ?? new Error('nothing left');
    if (value instanceof Error) throw value;
    return value;
  };
  vi.stubGlobal('fetch', async (url: string, request: Record<string, string>) => {
    const { method = 'GET', headers, body = '' } = request;
    asked.push(`${method} ${url} ${JSON.stringify(headers)} ${body}`.trim());
    return next(answers);
  });
  const token = async (refused?: string) => {
    asked.push(refused === undefined ? 'token' : `token instead of ${refused}`);
    return next(tokens);
  };
  const session = { user: { sub: '', email: '' }, token };
  const wait = async (seconds: number) => void asked.push(`wait ${seconds} s`);
  const result = await act(createApi('https://api.example/v1', session, () => isOnline, wait));
  return { asked, result };
}

it('asks as the contract says, and knows what each answer means', async () => {
  const said: string[] = [];
  const note = async (what: string, ...parameters: Parameters<typeof call>) => {
    const { asked, result } = await call(...parameters);
    said.push([what, ...asked, JSON.stringify(result), ''].join('\n'));
  };
  for (const link of [
    '<?before=1&limit=50>; rel="next"',
    '<?before=1&limit=800>; rel="next"',
    '<?x=1>; rel="prev", <?before=1>; rel=next',
    '<?before=1>; rel="prev"',
  ]) {
    const page = Response.json({ inquiries: [INQUIRY] }, { headers: { link } });
    await note(`a page with the Link ${link}`, async ({ list }) => list(), [page]);
  }
  const older = Response.json({ inquiries: [] });
  await note('an older page', async ({ list }) => list('?x'), [older]);
  for (const error of [
    badRequest('why'),
    refusals.inquiry(),
    refusals.reused(),
    refusals['in use'](),
    refusals.busy(),
    refusals.limit(1, 725),
    internalError(),
  ]) {
    const { status, code, message, headers } = error;
    await note(code, post, [Response.json({ error: code, message }, { status, headers })]);
  }
  const throttled = Response.json({ message: 'Too Many Requests' }, { status: 429 });
  for (const [what, ...answers] of [
    ['stored', [created()]],
    ['429 of the gateway, before the service has the request', [throttled]],
    // The issuer's clock may be ahead of the API's.
    ['401: again, once', [unauthorized(), created()], ['old', 'new']],
    ['401 twice: the session has ended', [unauthorized(), unauthorized()], ['old', 'new']],
    ['401 and no other token: certainly not done', [unauthorized()], ['old', LOST]],
    ['signed out', [], [new SignedOut()]],
    ['no answer', [LOST]],
    ['no answer offline', [LOST], undefined, false],
    ['an answer although the browser says that it is offline', [created()], undefined, false],
  ] as [string, (Response | Error)[], (string | Error)[]?, boolean?][]) {
    await note(what, post, ...answers);
  }
  await expect(said.join('\n')).toMatchFileSnapshot('golden/requests.txt');
});

const GATEWAY = '{"message":"Forbidden"}';
it.each([
  ['<html>', 200],
  ['{}', 201],
  ['{"inquiry":{"id":"1"}}', 201],
  ['<html>', 401],
  ['<html>', 403],
  [GATEWAY, 403],
  ['', 407],
  ['<html>', 413],
  ['{"error":"rate_limited"}', 429],
  ['<html>', 503],
])('a response %s with %i that is not the contract’s is no verdict', async (body, status) => {
  for (const act of [post, async ({ list }: Api) => list()]) {
    const { result } = await call(act, [new Response(body, { status })]);
    expect(result).toEqual({ kind: 'server', mayBeDone: true });
  }
});
