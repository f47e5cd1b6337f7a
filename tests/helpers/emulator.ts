/**
 * An emulator of AWS (moto 5.2.5) behind a proxy that keeps what moto drops and refuses what AWS refuses. Functions run in
 * the local stack's sandboxes.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeServer, serve } from '../../lib/loopback-server.ts';
import { createFunctions, json } from './emulator-functions.ts';

const HOP_BY_HOP = ['connection', 'content-length', 'expect', 'keep-alive', 'transfer-encoding'];

/** Before the emulator gets a request, before its answer is sent on, or after that. */
export type Moment = 'before' | 'in flight' | 'after';

export interface Sent {
  method: string;
  url: string;
  headers: Headers;
  body: Buffer;
}
export interface Answer {
  status: number;
  body: string | Buffer;
  headers?: Record<string, string>;
}
/** Answers a request, or changes it or its answer; `next` passes it on. */
export type Layer = (sent: Sent, next: (sent: Sent) => Promise<Answer>) => Promise<Answer>;

const xml = (status: number, body: string): Answer => ({
  status,
  body,
  headers: { 'content-type': 'text/xml', etag: 'E1' },
});
function keep(documents: Map<string, string>, { method, body }: Sent, key: string) {
  if (method.startsWith('P')) documents.set(key, String(body));
  const document = documents.get(key);
  if (method === 'DELETE') documents.delete(key);
  return document;
}

/** CloudFront's, which moto lacks. */
function createHeadersPolicies(): Layer {
  const policies = new Map<string, string>();
  const pattern = /^\/2020-05-31\/response-headers-policy(?:\/([A-Z0-9]+))?/;
  const modified = '<LastModifiedTime>2026-01-01T00:00:00Z</LastModifiedTime>';
  return async (sent, next) => {
    const [found, id = `POLICY${policies.size}`] = pattern.exec(sent.url) ?? [];
    if (found === undefined) return next(sent);
    const policy = keep(policies, sent, id)?.replace(/^<\?xml.*?\?>/, '');
    return policy === undefined
      ? xml(404, '<R><Error><Code>NoSuchResponseHeadersPolicy</Code></Error></R>')
      : xml(
          200,
          `<ResponseHeadersPolicy><Id>${id}</Id>${modified}${policy}</ResponseHeadersPolicy>`,
        );
  };
}

/** Which moto enforces without their conditions. */
function createBucketPolicies(): Layer {
  const policies = new Map<string, string>();
  return async (sent, next) => {
    const { method, url } = sent;
    if (!/^\/[\w-]+-(?:site|mails)-\d+\/?\?policy/.test(url)) return next(sent);
    const policy = keep(policies, sent, url);
    if (policy === undefined) return xml(404, '<Error><Code>NoSuchBucketPolicy</Code></Error>');
    return method === 'GET' ? xml(200, policy) : xml(204, '');
  };
}

/** Parts of a distribution that moto does not return as sent. */
function createDistributions(): Layer {
  const parts = new Map<string, string>();
  const pattern = /<(Origins|DefaultCacheBehavior|ViewerCertificate)>[^]*?<\/\1>/g;
  return async (sent, next) => {
    const [found, given] = /^\/2020-05-31\/distribution(?:\/([A-Z0-9]+))?/.exec(sent.url) ?? [];
    const answer = await next(sent);
    if (found === undefined) return answer;
    const received = String(answer.body);
    const id = given ?? /<Id>([A-Z0-9]+)<\/Id>/.exec(received)?.[1] ?? '';
    for (const [part, name = ''] of String(sent.body).matchAll(pattern)) {
      parts.set(`${id} ${name}`, part);
    }
    const body = received.replaceAll(
      pattern,
      (part, name: string) => parts.get(`${id} ${name}`) ?? part,
    );
    return { ...answer, body };
  };
}

/** Into which moto writes spaces, which the provider takes for a change. */
const compactRedrivePolicies: Layer = async (sent, next) => {
  const answer = await next(sent);
  if (sent.headers.get('x-amz-target') !== 'AmazonSQS.GetQueueAttributes') return answer;
  const received = JSON.parse(String(answer.body)) as { Attributes?: Record<string, string> };
  const { Attributes = {} } = received;
  const { RedrivePolicy: policy } = Attributes;
  if (policy === undefined) return answer;
  return json({ Attributes: { ...Attributes, RedrivePolicy: JSON.stringify(JSON.parse(policy)) } });
};

/** Which moto cannot delete. */
const keepReceiptRules: Layer = async (sent, next) =>
  /\bAction=DeleteReceiptRule\b/.test(String(sent.body))
    ? xml(200, '<DeleteReceiptRuleResponse><DeleteReceiptRuleResult/></DeleteReceiptRuleResponse>')
    : next(sent);

/** SES's, with their event destinations, by path. */
function createConfigurationSets(): Layer {
  const documents = new Map<string, object>();
  const root = '/v2/email/configuration-sets';
  return async (sent, next) => {
    const { method, url, body } = sent;
    const [, tagged = ''] = /\/tags\?ResourceArn=.*configuration-set%2F(.+)$/.exec(url) ?? [];
    const ofTags = documents.get(`${root}/${tagged}`);
    if (ofTags !== undefined) return json({ Tags: Object(ofTags).Tags ?? [] });
    if (!url.startsWith(root)) return next(sent);
    if (method === 'GET' && url.endsWith('/event-destinations')) {
      const list = [...documents].filter(([path]) => path.startsWith(`${url}/`));
      return json({ EventDestinations: list.map(([, destination]) => destination) });
    }
    const document = documents.get(url);
    if (method === 'GET') {
      return document ? json(document) : { ...json({ __type: 'NotFoundException' }), status: 404 };
    }
    const given = JSON.parse(String(body) || '{}') as {
      ConfigurationSetName?: string;
      EventDestinationName?: string;
      EventDestination?: object;
    };
    const { ConfigurationSetName, EventDestinationName, EventDestination } = given;
    const name = ConfigurationSetName ?? EventDestinationName;
    const path = name === undefined ? url : `${url}/${name}`;
    const Name = path.split('/').at(-1);
    if (method === 'DELETE') documents.delete(path);
    else documents.set(path, EventDestination ? { ...EventDestination, Name } : given);
    return json({});
  };
}

/** Adds what Cognito took at a pool's creation to its updates, with which moto drops it. */
function createUserPools(): Layer {
  const settings = new Map<string, object>();
  return async (sent, next) => {
    const operation = sent.headers.get('x-amz-target') ?? '';
    if (operation.endsWith('.UpdateUserPool')) {
      const update = JSON.parse(String(sent.body)) as { UserPoolId: string };
      const completed = { ...settings.get(update.UserPoolId), ...update };
      return next({ ...sent, body: Buffer.from(JSON.stringify(completed)) });
    }
    const answer = await next(sent);
    if (operation.endsWith('.CreateUserPool')) {
      const { UsernameAttributes, UsernameConfiguration, UserPoolTags } = JSON.parse(
        String(sent.body),
      ) as Record<string, unknown>;
      const { UserPool: pool } = JSON.parse(String(answer.body)) as { UserPool: { Id: string } };
      settings.set(pool.Id, { UsernameAttributes, UsernameConfiguration, UserPoolTags });
    }
    return answer;
  };
}

/** Once a stream is disabled, moto 5.2.5 answers each write with 500, and enables none again. */
function createStreams(): Layer {
  type Specification = Readonly<{ StreamEnabled: boolean }>;
  const streams = new Map<string, Specification>();
  const LatestStreamLabel = '2026-01-01T00:00:00.000';
  return async (sent, next) => {
    if (!/\.(Create|Describe|Update)Table$/.test(sent.headers.get('x-amz-target') ?? '')) {
      return next(sent);
    }
    const { StreamSpecification: given, ...request } = JSON.parse(String(sent.body)) as {
      TableName: string;
      StreamSpecification?: Specification;
    };
    if (given !== undefined) streams.set(request.TableName, given);
    const StreamSpecification = streams.get(request.TableName);
    const answer = await next({ ...sent, body: Buffer.from(JSON.stringify(request)) });
    if (!StreamSpecification?.StreamEnabled || answer.status !== 200) return answer;
    const received = JSON.parse(String(answer.body)) as Record<string, { TableArn: string }>;
    for (const table of Object.values(received)) {
      const LatestStreamArn = `${table.TableArn}/stream/${LatestStreamLabel}`;
      Object.assign(table, { StreamSpecification, LatestStreamLabel, LatestStreamArn });
    }
    return json(received);
  };
}

/**
 * Forwards to an emulator.
 *
 * @param endpoint - The emulator's URL.
 * @param reach - Awaited before each request and before its response is sent on, and called after that, with
 * `METHOD PATH [SERVICE.Operation] [Action=Operation]`.
 */
export async function startEmulatorProxy(
  endpoint: string,
  reach: (request: string, moment: Moment) => Promise<void> = async () => {},
): Promise<{ url: string; stop: () => Promise<void> }> {
  const functions = createFunctions();

  async function forward({ method, url, headers, body }: Sent): Promise<Answer> {
    const response = await fetch(new URL(url, endpoint), {
      method,
      headers,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
      redirect: 'manual',
    });
    const kept = [...response.headers].filter(([name]) => !HOP_BY_HOP.includes(name));
    const length = response.headers.get('content-length');
    return {
      status: response.status,
      body: Buffer.from(await response.arrayBuffer()),
      headers: {
        ...Object.fromEntries(kept),
        ...(method === 'HEAD' && length !== null && { 'content-length': length }),
      },
    };
  }

  const layers = [
    createHeadersPolicies(),
    createBucketPolicies(),
    createDistributions(),
    createConfigurationSets(),
    compactRedrivePolicies,
    keepReceiptRules,
    createUserPools(),
    createStreams(),
    functions.layer,
  ];

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = incoming;
    const body = await buffer(incoming);
    const headers = new Headers(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    for (const name of HOP_BY_HOP) headers.delete(name);
    const action = /\bAction=\w+/.exec(String(body))?.[0] ?? '';
    const request = [method, url, headers.get('x-amz-target') ?? '', action].join(' ');
    outgoing.once('finish', () => void reach(request, 'after'));
    await reach(request, 'before');
    const send = layers.reduceRight<(sent: Sent) => Promise<Answer>>(
      (next, layer) => (sent) => layer(sent, next),
      forward,
    );
    const { status, body: received, headers: more } = await send({ method, url, headers, body });
    await reach(request, 'in flight');
    const length = Buffer.byteLength(received);
    outgoing.writeHead(status, { 'content-length': length, ...more }).end(received);
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  return {
    url: await serve(server),
    stop: async () => {
      await closeServer(server);
      await functions.close();
    },
  };
}
