/** The APIs of AWS and GitHub that the commands of deploy/ call themselves, as far as they use them. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { close, listen } from '../../lib/loopback-server.ts';
import { createApp } from '../../src/app.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createMemoryStore } from './memory-store.ts';

export const ACCOUNT = '111122223333';

export interface Answer {
  readonly status: number;
  /** An object is sent as JSON. */
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}
export interface AwsRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An error as the SDK understands it. */
export const refusal = (status: number, type: string, message: string): Answer => ({
  status,
  body: { message, Message: message },
  headers: { 'x-amzn-errortype': type },
});

/** The answer of STS. */
export const callerIdentity = (account: string): Answer => ({
  status: 200,
  body: `<R><GetCallerIdentityResult><Account>${account}</Account></GetCallerIdentityResult></R>`,
});

const FUNCTION = 'inquiries-develop';
interface Live {
  readonly FunctionVersion: string;
  readonly RevisionId: string;
}

const app = createApp({
  inquiries: createInquiries(createMemoryStore({}, 1_000)),
  corsOrigin: 'o',
});

const initially = () => ({
  /** Key → file, by `/BUCKET/KEY`. */
  objects: new Map<string, { body: string; type: string; cache: string }>(),
  /** Requests that change something, in their order. */
  changes: [] as string[],
  /** Other answers, by `METHOD PATH`, `X-Amz-Target` or the query API's action; undefined: the usual one. */
  answers: {} as Record<string, ((request: AwsRequest) => Answer | undefined) | undefined>,
  /** The alias of the function. */
  live: { FunctionVersion: '10', RevisionId: '1' } as Live | undefined,
  /** The result of an invocation of a name, which is that of the service; a rejection is an error of the function. */
  invoke: async (_name: string, event: string): Promise<string> =>
    JSON.stringify(await app(JSON.parse(event) as object)),
  /** The end of its log. */
  log: '',
});

/** Starts the server, and points the SDK's clients of this process to it until `close`. */
export async function startAws() {
  const state = initially();

  async function invoke(name: string, body: string): Promise<Answer> {
    try {
      const headers = { 'x-amz-log-result': Buffer.from(state.log).toString('base64') };
      return { status: 200, body: await state.invoke(name, body), headers };
    } catch (error) {
      const headers = { 'x-amz-function-error': 'Unhandled' };
      return { status: 200, body: (error as Error).message, headers };
    }
  }

  async function answerLambda({ method, path, body }: AwsRequest): Promise<Answer | undefined> {
    const [, , , encoded = '', what] = path.split('/');
    const name = decodeURIComponent(encoded);
    if (what === 'invocations') return invoke(name, body);
    if (name !== FUNCTION) return undefined;
    if (what === 'versions') {
      const Versions = ['$LATEST', '1', '2', '3', '9', '10'].map((Version) => ({
        Version,
        LastModified: `2026-11-${Version.padStart(2, '0')}T10:20:30.000+0000`,
        CodeSha256: `sha-${Version}`,
      }));
      return { status: 200, body: { Versions } };
    }
    if (what !== 'aliases' || state.live === undefined) return undefined;
    if (method === 'PUT') {
      const change = JSON.parse(body) as { FunctionVersion: string; RevisionId?: string };
      if ((change.RevisionId ?? state.live.RevisionId) !== state.live.RevisionId) {
        return refusal(412, 'PreconditionFailedException', 'The RevisionId does not match');
      }
      state.changes.push(`switch ${change.FunctionVersion}`);
      state.live = { ...change, RevisionId: crypto.randomUUID() };
    }
    return { status: 200, body: state.live };
  }

  function answerS3(request: AwsRequest): Answer | undefined {
    const { method, query, headers, body } = request;
    const path = decodeURIComponent(request.path);
    const object = state.objects.get(path);
    if (method === 'GET' && query.has('list-type')) {
      const prefix = `${path.replace(/\/$/, '')}/${query.get('prefix')}`;
      const keys = [...state.objects.keys()].filter((key) => key.startsWith(prefix));
      const contents = keys.map(
        (key) => `<Contents><Key>${key.split('/').slice(2).join('/')}</Key></Contents>`,
      );
      return { status: 200, body: `<ListBucketResult>${contents.join('')}</ListBucketResult>` };
    }
    if (method === 'GET' && object !== undefined) return { status: 200, body: object.body };
    if (method === 'HEAD' && object !== undefined) {
      const etag = `"${createHash('md5').update(object.body).digest('hex')}"`;
      return {
        status: 200,
        headers: { etag, 'content-type': object.type, 'cache-control': object.cache },
      };
    }
    if (method !== 'PUT') return undefined;
    state.changes.push(`put ${path}`);
    const {
      'content-type': type = '',
      'cache-control': cache = '',
      'x-amz-copy-source': from,
    } = headers;
    const source = typeof from === 'string' ? state.objects.get(`/${from}`) : { body, type, cache };
    if (source === undefined) return undefined;
    state.objects.set(path, { ...source });
    return {
      status: 200,
      body: from === undefined ? '' : '<CopyObjectResult><ETag>e</ETag></CopyObjectResult>',
    };
  }

  async function answer(request: AwsRequest): Promise<Answer> {
    const { method, path, headers, body } = request;
    const target = String(headers['x-amz-target'] ?? '').split('.')[1];
    const action = target ?? /Action=(\w+)/.exec(body)?.[1] ?? `${method} ${path}`;
    const other = state.answers[action]?.(request);
    if (other !== undefined) return other;
    if (action === 'GetCallerIdentity') return callerIdentity(ACCOUNT);
    if (path.endsWith('/invalidation')) {
      const paths = [...body.matchAll(/<Path>(.*?)<\/Path>/g)].map(([, item]) => item);
      state.changes.push(`invalidate ${paths.join(' ')}`);
      return { status: 201, body: '<Invalidation><Id>I1</Id></Invalidation>' };
    }
    const found = path.startsWith('/2015-03-31/') ? await answerLambda(request) : answerS3(request);
    return found ?? refusal(404, 'ResourceNotFoundException', 'The resource does not exist.');
  }

  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const { method = '', url = '', headers } = incoming;
      const [path = '', query = ''] = url.split('?');
      const request = {
        method,
        path,
        query: new URLSearchParams(query),
        headers,
        body: await text(incoming),
      };
      const { status, body = '', headers: more } = await answer(request);
      outgoing.writeHead(status, more).end(typeof body === 'string' ? body : JSON.stringify(body));
    })();
  });
  const url = `http://127.0.0.1:${await listen(server, 0)}`;
  const env = {
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_ENDPOINT_URL: url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-central-1',
    GITHUB_API_URL: url,
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'SMOKE_TOKEN']) {
    vi.stubEnv(name, undefined);
  }
  return {
    state,
    env,
    reset: () => void Object.assign(state, initially()),
    async close(): Promise<void> {
      vi.unstubAllEnvs();
      await close(server);
    },
  };
}
