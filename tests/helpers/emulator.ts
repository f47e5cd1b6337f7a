/** An emulator of the AWS APIs (moto) behind a proxy that adds what it lacks of CloudFront and Cognito and the module needs. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { close, listen } from '../../scripts/local/server.ts';

/** What the proxy adds, for the output of tests. */
export const PROXY_GAPS = [
  'CloudFront knows no response headers policies: the proxy of the test keeps them as they are sent',
  'UpdateUserPool of Cognito drops the username settings: the proxy sends those of CreateUserPool again',
  'CloudFront drops the origin access control and the cache policy of a distribution: the proxy returns what was sent',
];

const PATH = /^\/2020-05-31\/(response-headers-policy|distribution)(?:\/([A-Z0-9]+))?/;
/** The parts of a distribution that moto does not read back as they were sent. */
const PARTS = /<(Origins|DefaultCacheBehavior|ViewerCertificate)>[^]*?<\/\1>/g;
const HOP_BY_HOP = ['connection', 'content-length', 'expect', 'keep-alive', 'transfer-encoding'];

/**
 * Forwards requests to an emulator, apart from those that {@link PROXY_GAPS} names.
 *
 * @param endpoint - URL of the emulator.
 */
export async function startEmulatorProxy(
  endpoint: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const policies = new Map<string, string>();
  const parts = new Map<string, string>();
  /** By id of the pool, what Cognito takes at its creation only. */
  const usernameSettings = new Map<string, object>();

  /** Status and body of the response to a request about a response headers policy. */
  function answerPolicy(method: string, id: string, body: string): [status: number, body: string] {
    if (['POST', 'PUT'].includes(method)) policies.set(id, body.replace(/^<\?xml.*?\?>/, ''));
    const config = policies.get(id);
    if (config === undefined) {
      return [404, '<ErrorResponse><Error><Code>NoSuchResponseHeadersPolicy</Code></Error></ErrorResponse>'];
    }
    if (method === 'DELETE') return policies.delete(id) ? [204, ''] : [404, ''];
    const modified = '<LastModifiedTime>2026-01-01T00:00:00Z</LastModifiedTime>';
    const policy = `<ResponseHeadersPolicy><Id>${id}</Id>${modified}${config}</ResponseHeadersPolicy>`;
    return [method === 'POST' ? 201 : 200, policy];
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = incoming;
    const [, cognito] =
      /CognitoIdentityProviderService\.(\w+UserPool)$/.exec(String(incoming.headers['x-amz-target'])) ?? [];
    let body = await buffer(incoming);
    if (cognito === 'UpdateUserPool') {
      const update = JSON.parse(body.toString()) as { UserPoolId: string };
      body = Buffer.from(JSON.stringify({ ...update, ...usernameSettings.get(update.UserPoolId) }));
    }
    const [, kind, id] = PATH.exec(url) ?? [];
    if (kind === 'response-headers-policy') {
      const [status, text] = answerPolicy(method, id ?? `POLICY${policies.size}`, body.toString());
      outgoing.writeHead(status, { 'content-type': 'text/xml', etag: 'E1' }).end(text);
      return;
    }
    const headers = new Headers(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    for (const name of HOP_BY_HOP) headers.delete(name);
    const response = await fetch(new URL(url, endpoint), {
      method,
      headers,
      ...(body.length > 0 && { body }),
      redirect: 'manual',
    });
    let text = Buffer.from(await response.arrayBuffer());
    if (cognito === 'CreateUserPool') {
      const { UserPool: pool } = JSON.parse(text.toString()) as { UserPool: { Id: string } };
      const { UsernameAttributes, UsernameConfiguration } = JSON.parse(body.toString()) as Record<
        string,
        unknown
      >;
      usernameSettings.set(pool.Id, { UsernameAttributes, UsernameConfiguration });
    }
    if (kind === 'distribution') {
      const xml = text.toString();
      const known = id ?? /<Id>([A-Z0-9]+)<\/Id>/.exec(xml)?.[1] ?? '';
      for (const [part, name = ''] of body.toString().matchAll(PARTS)) parts.set(`${known} ${name}`, part);
      text = Buffer.from(
        xml.replaceAll(PARTS, (part, name: string) => parts.get(`${known} ${name}`) ?? part),
      );
    }
    for (const [name, value] of response.headers)
      if (!HOP_BY_HOP.includes(name)) outgoing.setHeader(name, value);
    const length = method === 'HEAD' ? response.headers.get('content-length') : text.length;
    outgoing.writeHead(response.status, { 'content-length': length ?? 0 }).end(text);
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const port = await listen(server, 0);
  return { url: `http://127.0.0.1:${port}`, stop: async () => close(server) };
}
