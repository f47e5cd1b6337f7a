import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export type Answer = Awaited<ReturnType<typeof send>>;

/**
 * Sends a request unchanged: unlike `fetch` it repeats headers, takes any method and adds nothing.
 *
 * @param headers - Names and values in turn, as in `rawHeaders`.
 */
export async function send(
  url: string,
  {
    method = 'GET',
    headers = [],
    body,
  }: { method?: string; headers?: string[]; body?: string | Buffer | undefined } = {},
) {
  // node:http adds neither to an array.
  const host = headers.includes('host') ? [] : ['host', new URL(url).host];
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  const outgoing = request(url, {
    method,
    headers: [...host, ...headers, ...length],
    agent: false,
  });
  // After the response has begun, the server reads no further.
  outgoing.on('error', () => undefined).end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const content = await text(incoming);
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    text: content,
    json: content === '' ? undefined : (JSON.parse(content) as unknown),
  };
}
