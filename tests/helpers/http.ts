import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export type Answer = Awaited<ReturnType<typeof send>>;

/**
 * Sends one request as it is: unlike `fetch` it repeats headers, sends any method and adds nothing of its own.
 *
 * @param headers - Names and values in turn, as `rawHeaders` has them.
 */
export async function send(
  url: string,
  {
    method = 'GET',
    headers = [],
    body,
  }: { method?: string; headers?: string[]; body?: string | Buffer | undefined } = {},
) {
  // Given an array, node:http adds neither of these itself.
  const host = headers.includes('host') ? [] : ['host', new URL(url).host];
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  const outgoing = request(url, {
    method,
    headers: [...host, ...headers, ...length],
    agent: false,
  });
  // An error after the response has begun: the server does not read the rest of the request.
  outgoing.on('error', () => undefined).end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const content = await text(incoming);
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    text: content,
    /** The body as JSON; undefined when it is empty. */
    json: content === '' ? undefined : (JSON.parse(content) as unknown),
  };
}
