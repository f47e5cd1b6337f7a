/** An emulator of the AWS APIs (moto) behind a proxy that adds what it lacks of CloudFront and the module needs. */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { close, listen } from '../../scripts/local/server.ts';

/** What the proxy adds, for the output of tests. */
export const PROXY_GAPS = [
  'CloudFront knows no response headers policies: the proxy of the test keeps them as they are sent',
  'CloudFront drops the origin access control and the cache policy of a distribution: the proxy returns what was sent',
];

/** The parts of a distribution that moto does not read back as they were sent. */
const PARTS = /<(Origins|DefaultCacheBehavior|ViewerCertificate)>[^]*?<\/\1>/g;

/**
 * Forwards requests to an emulator, apart from those that {@link PROXY_GAPS} names.
 *
 * @param endpoint - URL of the emulator.
 */
export async function startEmulatorProxy(
  endpoint: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const policies = new Map<string, string>();
  const distributions = new Map<string, string>();

  /** Status and body of the response to a request about a response headers policy. */
  function answerPolicy(method: string, id: string, body: string): [number, string] {
    if (['POST', 'PUT'].includes(method)) policies.set(id, body.replace(/^<\?xml.*?\?>/, ''));
    const config = policies.get(id);
    if (config === undefined) {
      return [404, '<ErrorResponse><Error><Code>NoSuchResponseHeadersPolicy</Code></Error></ErrorResponse>'];
    }
    if (method === 'DELETE') return policies.delete(id) ? [204, ''] : [404, ''];
    const modified = '<LastModifiedTime>2026-01-01T00:00:00Z</LastModifiedTime>';
    return [
      method === 'POST' ? 201 : 200,
      `<ResponseHeadersPolicy><Id>${id}</Id>${modified}${config}</ResponseHeadersPolicy>`,
    ];
  }

  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const { method = 'GET', url = '/', headers } = incoming;
    const [, kind, givenId] =
      /^\/2020-05-31\/(response-headers-policy|distribution)(?:\/([A-Z0-9]+))?/.exec(url) ?? [];
    if (kind === 'response-headers-policy') {
      const [status, text] = answerPolicy(method, givenId ?? `POLICY${policies.size}`, body.toString());
      return outgoing.writeHead(status, { 'content-type': 'text/xml', etag: 'E1' }).end(text);
    }
    const { connection: _, 'transfer-encoding': __, expect: ___, ...forwarded } = headers;
    const response = await fetch(new URL(url, endpoint), {
      method,
      headers: Object.entries(forwarded).map(([name, value]) => [name, String(value)]),
      ...(body.length > 0 && { body }),
      redirect: 'manual',
    });
    let answer = Buffer.from(await response.arrayBuffer());
    if (kind === 'distribution') {
      const text = answer.toString();
      const id = givenId ?? /<Id>([A-Z0-9]+)<\/Id>/.exec(text)?.[1] ?? '';
      for (const [part, name] of body.toString().matchAll(PARTS)) distributions.set(`${id} ${name}`, part);
      answer = Buffer.from(
        text.replaceAll(PARTS, (part, name: string) => distributions.get(`${id} ${name}`) ?? part),
      );
    }
    const {
      'content-length': ____,
      'transfer-encoding': _____,
      connection: ______,
      ...rest
    } = Object.fromEntries(response.headers);
    return outgoing.writeHead(response.status, { ...rest, 'content-length': answer.length }).end(answer);
  });
  const port = await listen(server, 0);
  return { url: `http://127.0.0.1:${port}`, stop: async () => close(server) };
}
