import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is empty. */
  readonly json: unknown;
}

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
  }: { method?: string; headers?: string[]; body?: string | Buffer } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  // Given an array, node:http adds neither of these itself.
  const host = ['host', new URL(url).host];
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  const outgoing = request(
    url,
    { method, headers: [...host, ...headers, ...length], agent: false },
    (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const json: unknown = text === '' ? undefined : JSON.parse(text);
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json });
      });
    },
  );
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}
