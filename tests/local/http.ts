import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export type Answer = Awaited<ReturnType<typeof send>>;

/**
 * Sends a request unchanged. Unlike `fetch` it repeats headers, takes any method and adds nothing.
 *
 * @param headers - Alternating names and values, as in `rawHeaders`.
 */
export async function send(
  url: string,
  {
    method = 'GET',
    headers = [],
    body,
  }: { method?: string; headers?: string[]; body?: string | Buffer | undefined } = {},
) {
  // node:http adds neither if headers are an array.
  const host = headers.includes('host') ? [] : ['host', new URL(url).host];
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  const outgoing = request(url, {
    method,
    headers: [...host, ...headers, ...length],
    agent: false,
  });
  // The server may stop reading when the response has begun.
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
