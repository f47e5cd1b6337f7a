/** An emulator of the AWS APIs (moto) behind a proxy that adds what it lacks and the module needs. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { close, listen } from '../../lib/loopback-server.ts';

/** What the proxy adds, for the output of tests. */
export const PROXY_GAPS = [
  'CloudFront knows no response headers policies: the proxy of the test keeps them as they are sent',
  'CloudFront drops the origin access control and the cache policy of a distribution: the proxy returns what was sent',
  'S3 ignores the conditions of bucket policies and would refuse every upload of a form: the proxy keeps its policy',
  'UpdateUserPool of Cognito drops username settings and tags: the proxy sends those of CreateUserPool again',
  'SES v2 returns malformed configuration sets and knows no event destinations: the proxy keeps both as they are sent',
];

const HOP_BY_HOP = ['connection', 'content-length', 'expect', 'keep-alive', 'transfer-encoding'];

/** When a request is interrupted: before the emulator gets it, before its answer is sent on, or after that. */
export type Moment = 'before' | 'in flight' | 'after';

interface Answer {
  readonly status: number;
  readonly body: string;
}
const NOT_FOUND: Answer = { status: 404, body: '<Error><Code>NoSuchBucketPolicy</Code></Error>' };

/** Response headers policies, and the policies of forms' buckets. @returns Undefined for any other request. */
function createPolicies(): (method: string, url: string, body: string) => Answer | undefined {
  const policies = new Map<string, string>();
  return (method, url, body) => {
    const [, id] = /^\/2020-05-31\/response-headers-policy(\/[A-Z0-9]+)?/.exec(url) ?? [];
    const isHeaders = url.startsWith('/2020-05-31/response-headers-policy');
    if (!isHeaders && !/^\/[\w-]+-site-\d+\/?\?policy/.test(url)) return undefined;
    const key = isHeaders ? (id?.slice(1) ?? `POLICY${policies.size}`) : url;
    if (['POST', 'PUT'].includes(method)) policies.set(key, body.replace(/^<\?xml.*?\?>/, ''));
    const policy = policies.get(key);
    if (policy === undefined) {
      const code =
        '<ErrorResponse><Error><Code>NoSuchResponseHeadersPolicy</Code></Error></ErrorResponse>';
      return isHeaders ? { status: 404, body: code } : NOT_FOUND;
    }
    if (method === 'DELETE') policies.delete(key);
    if (method === 'DELETE' || (!isHeaders && method === 'PUT')) return { status: 204, body: '' };
    if (!isHeaders) return { status: 200, body: policy };
    const modified = '<LastModifiedTime>2026-01-01T00:00:00Z</LastModifiedTime>';
    return {
      status: method === 'POST' ? 201 : 200,
      body: `<ResponseHeadersPolicy><Id>${key}</Id>${modified}${policy}</ResponseHeadersPolicy>`,
    };
  };
}

/** Returns the parts of a distribution that moto does not read back as they were sent. */
function createDistributions(): (url: string, sent: string, received: string) => string {
  const parts = new Map<string, string>();
  const pattern = /<(Origins|DefaultCacheBehavior|ViewerCertificate)>[^]*?<\/\1>/g;
  return (url, sent, received) => {
    const [isDistribution, given] = /^\/2020-05-31\/distribution(?:\/([A-Z0-9]+))?/.exec(url) ?? [];
    if (isDistribution === undefined) return received;
    const id = given ?? /<Id>([A-Z0-9]+)<\/Id>/.exec(received)?.[1] ?? '';
    for (const [part, name = ''] of sent.matchAll(pattern)) parts.set(`${id} ${name}`, part);
    return received.replaceAll(pattern, (part, name: string) => parts.get(`${id} ${name}`) ?? part);
  };
}

/** Configuration sets of SES and their event destinations. @returns Undefined for any other request. */
function createConfigurationSets(): (
  method: string,
  url: string,
  body: string,
) => Answer | undefined {
  const sets = new Map<string, Map<string, object>>();
  const created = new Map<string, Readonly<Record<string, unknown>>>();
  return (method, url, body) => {
    const [, tagged = ''] =
      /^\/v2\/email\/tags\?ResourceArn=.*configuration-set%2F(.+)$/.exec(url) ?? [];
    if (created.has(tagged)) {
      return { status: 200, body: JSON.stringify({ Tags: created.get(tagged)?.['Tags'] ?? [] }) };
    }
    const [isAboutSets, given, list, destination] =
      /^\/v2\/email\/configuration-sets(?:\/([^/]+)(\/event-destinations)?(?:\/(.+))?)?$/.exec(
        url,
      ) ?? [];
    if (isAboutSets === undefined) return undefined;
    const sent = JSON.parse(body || '{}') as Readonly<Record<string, string>> & {
      EventDestination?: object;
    };
    const name = given ?? sent['ConfigurationSetName'] ?? '';
    if (given === undefined) {
      sets.set(name, new Map());
      created.set(name, sent);
    }
    const set = sets.get(name);
    if (set === undefined) return { status: 404, body: '{"__type":"NotFoundException"}' };
    const to = destination ?? sent['EventDestinationName'] ?? '';
    if (sent.EventDestination !== undefined) set.set(to, { Name: to, ...sent.EventDestination });
    if (method === 'DELETE' && destination !== undefined) set.delete(destination);
    else if (method === 'DELETE') sets.delete(name);
    const found = list === undefined ? created.get(name) : { EventDestinations: [...set.values()] };
    return { status: 200, body: JSON.stringify(method === 'GET' ? found : {}) };
  };
}

/** Keeps what Cognito takes at the creation of a user pool, by the pool's id, and adds it to updates. */
function createUserPools() {
  const settings = new Map<string, object>();
  return {
    complete(operation: string, body: string): string {
      if (!operation.endsWith('.UpdateUserPool')) return body;
      const update = JSON.parse(body) as { UserPoolId: string };
      return JSON.stringify({ ...settings.get(update.UserPoolId), ...update });
    },
    keep(operation: string, body: string, received: string): void {
      if (!operation.endsWith('.CreateUserPool')) return;
      const { UsernameAttributes, UsernameConfiguration, UserPoolTags } = JSON.parse(
        body,
      ) as Record<string, unknown>;
      const { UserPool: pool } = JSON.parse(received) as { UserPool: { Id: string } };
      settings.set(pool.Id, { UsernameAttributes, UsernameConfiguration, UserPoolTags });
    },
  };
}

/**
 * Forwards requests to an emulator, apart from those that {@link PROXY_GAPS} names.
 *
 * @param endpoint - URL of the emulator.
 * @param reach - Awaited before each request, before its response is sent on, and called after that, with what was asked for:
 * `METHOD PATH [SERVICE.Operation] [Action=Operation]`.
 */
export async function startEmulatorProxy(
  endpoint: string,
  reach: (request: string, moment: Moment) => Promise<void> | void = () => {},
): Promise<{ url: string; stop: () => Promise<void> }> {
  const policies = createPolicies();
  const configurationSets = createConfigurationSets();
  const distributions = createDistributions();
  const pools = createUserPools();

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = incoming;
    const operation = String(incoming.headers['x-amz-target'] ?? '');
    const content = await buffer(incoming);
    const text = content.toString();
    const action = /Action=\w+/.exec(text)?.[0] ?? '';
    const request = [method, url, operation, action].join(' ');
    outgoing.once('finish', () => void reach(request, 'after'));
    await reach(request, 'before');

    const kept = policies(method, url, text) ?? configurationSets(method, url, text);
    if (kept !== undefined) {
      outgoing.writeHead(kept.status, { 'content-type': 'text/xml', etag: 'E1' }).end(kept.body);
      return;
    }
    const headers = new Headers(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    for (const name of HOP_BY_HOP) headers.delete(name);
    const completed = pools.complete(operation, text);
    const response = await fetch(new URL(url, endpoint), {
      method,
      headers,
      ...(content.length > 0 && { body: completed === text ? content : completed }),
      redirect: 'manual',
    });
    await reach(request, 'in flight');
    let received = Buffer.from(await response.arrayBuffer());
    pools.keep(operation, text, received.toString());
    const corrected = distributions(url, text, received.toString());
    if (corrected !== received.toString()) received = Buffer.from(corrected);
    for (const [name, value] of response.headers) {
      if (!HOP_BY_HOP.includes(name)) outgoing.setHeader(name, value);
    }
    const length = method === 'HEAD' ? response.headers.get('content-length') : received.length;
    outgoing.writeHead(response.status, { 'content-length': length ?? 0 }).end(received);
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const port = await listen(server, 0);
  return { url: `http://127.0.0.1:${port}`, stop: async () => close(server) };
}
