import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';
import { createApp } from '../../src/app.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createInquiries } from '../../src/inquiries.ts';

export const ACCOUNT = '111122223333';

export interface Answer {
  status: number;
  body?: string | object;
  headers?: Record<string, string>;
}
interface AwsRequest {
  /** `METHOD PATH`, or `X-Amz-Target`, or the action of the query API. */
  action: string;
  query: URLSearchParams;
  headers: Headers;
  body: string;
}

export const refusal = (status: number, type: string, message: string): Answer => ({
  status,
  body: { message, Message: message },
  headers: { 'x-amzn-errortype': type },
});
const NOT_FOUND = refusal(404, 'ResourceNotFoundException', 'The resource does not exist');

export const callerIdentity = (account: string): Answer => ({
  status: 200,
  body: `<R><GetCallerIdentityResult><Account>${account}</Account></GetCallerIdentityResult></R>`,
});

/** The service on a store in memory. @param handle - Breaks its answers. */
export function createService() {
  const stored: { inquiry: Inquiry; key: string | undefined }[] = [];
  return createApp({
    inquiries: createInquiries({
      async put(inquiry, _call, { key } = {}) {
        const first = stored.find((each) => key !== undefined && each.key === key)?.inquiry;
        if (first === undefined) stored.push({ inquiry, key });
        else if (first.body !== inquiry.body) return { refusal: 'reused' };
        return first ?? inquiry;
      },
      async *list({ sub, email }) {
        const own = stored.filter(
          ({ inquiry }) => inquiry.cognito_sub === sub && inquiry.email === email,
        );
        yield own.map(({ inquiry }) => inquiry).toReversed();
      },
    }),
    corsOrigin: 'https://www.example.com',
  });
}
const app = createService();

const initially = (hash: string) => ({
  /** Files by `/BUCKET/KEY`. */
  objects: new Map<string, string>(),
  changes: [] as string[],
  /** Replacements of usual answers, by action; undefined keeps the usual one. */
  answers: {} as Record<string, ((request: AwsRequest) => Answer | undefined) | undefined>,
  /** Undefined: there is no alias. */
  live: '10' as string | undefined,
  description: '',
  /** SHA-256 of a version's package, by version. Default: `hash`. */
  hashes: {} as Record<string, string>,
  hash,
  published: '11',
  /** A rejection is an error of the function. */
  invoke: async (_name: string, event: string): Promise<string> =>
    JSON.stringify(await app(JSON.parse(event) as object)),
  /** The end of the invocation's log. */
  log: '',
});

/** Until the test ends, the process has only these of AWS's variables (vitest.config.ts). */
export function stubAws(variables: Record<string, string> = {}): void {
  const none = {
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  for (const [name, value] of Object.entries({ ...none, ...variables })) vi.stubEnv(name, value);
}

export const toAwsEnv = (endpoint: string) => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'eu-central-1',
});

/** @param hash - That of every version's package. */
export async function startAws(hash = 'hash') {
  const state = initially(hash);

  const usual: readonly (readonly [
    action: RegExp,
    answer: (request: AwsRequest, ...groups: string[]) => Answer | Promise<Answer>,
  ])[] = [
    [/^GetCallerIdentity$/, () => callerIdentity(ACCOUNT)],
    [
      /^POST .*\/functions\/(.+)\/invocations$/,
      async ({ body }, name = '') => {
        const headers = { 'x-amz-log-result': Buffer.from(state.log).toString('base64') };
        return state.invoke(decodeURIComponent(name), body).then(
          (result) => ({ status: 200, body: result, headers }),
          ({ message }: Error) => ({
            status: 200,
            body: message,
            headers: { 'x-amz-function-error': 'Unhandled' },
          }),
        );
      },
    ],
    [
      /^GET .*\/functions\/[\w:-]+\/configuration$/,
      ({ query }) => {
        const { hash: otherwise, hashes, live = '' } = state;
        const qualifier = query.get('Qualifier') ?? '';
        const CodeSha256 = hashes[qualifier === 'live' ? live : qualifier] ?? otherwise;
        const Variables = { CORS_ORIGIN: 'https://www.example.com' };
        return { status: 200, body: { CodeSha256, Environment: { Variables } } };
      },
    ],
    [
      /^POST .*\/functions\/inquiries-develop\/versions$/,
      ({ body }) => {
        if ((JSON.parse(body) as { CodeSha256?: string }).CodeSha256 !== state.hash) {
          return refusal(400, 'InvalidParameterValueException', 'The package is another one');
        }
        state.changes.push(`publish ${state.published}`);
        return { status: 201, body: { Version: state.published } };
      },
    ],
    [
      /^GET .*\/functions\/inquiries-develop\/versions$/,
      () => {
        const Versions = ['$LATEST', '1', '2', '3', '9', '10'].map((Version) => ({
          Version,
          CodeSha256: state.hashes[Version] ?? state.hash,
        }));
        return { status: 200, body: { Versions } };
      },
    ],
    [
      /^(GET|PUT) .*\/functions\/inquiries-develop\/aliases\/live$/,
      ({ body }, method) => {
        const {
          FunctionVersion = state.live,
          RevisionId,
          Description = state.description,
        } = JSON.parse(body || '{}') as Partial<
          Record<'Description' | 'FunctionVersion' | 'RevisionId', string>
        >;
        if (state.live === undefined) return NOT_FOUND;
        if (method === 'PUT' && RevisionId !== `of ${state.live}`) {
          return refusal(412, 'PreconditionFailedException', 'The RevisionId does not match');
        }
        const reason = Description.replace(/(?<= at ).*/, 'TIME');
        if (method === 'PUT') state.changes.push(`live ${FunctionVersion}. ${reason}`.trim());
        Object.assign(state, { live: FunctionVersion, description: Description });
        const alias = { FunctionVersion, Description, RevisionId: `of ${FunctionVersion}` };
        return { status: 200, body: alias };
      },
    ],
    [
      /\/invalidation$/,
      ({ body }) => {
        state.changes.push(`invalidate ${/<Path>(.*?)<\/Path>/.exec(body)?.[1]}`);
        return { status: 201, body: '<Invalidation><Id>I1</Id></Invalidation>' };
      },
    ],
    [
      /^PUT (.+)$/,
      ({ headers, body }, path = '') => {
        const from = headers.get('x-amz-copy-source');
        const details = [headers.get('content-type'), headers.get('cache-control')].join(' ');
        state.changes.push(`put ${path} ${from === null ? details : `from ${from}`}`);
        state.objects.set(path, from === null ? body : (state.objects.get(`/${from}`) ?? ''));
        return { status: 200, body: from === null ? '' : '<CopyObjectResult/>' };
      },
    ],
    [/^GET \/v2\/email\/suppression\//, () => refusal(404, 'NotFoundException', '')],
    [
      /^GET (.+)$/,
      ({ query }, path = '') => {
        const object = state.objects.get(path);
        if (!query.has('list-type')) {
          return object === undefined ? NOT_FOUND : { status: 200, body: object };
        }
        const keys = [...state.objects.keys()].filter((key) =>
          key.startsWith(`${path.replace(/\/$/, '')}/${query.get('prefix') ?? ''}`),
        );
        const contents = keys.map(
          (key) => `<Contents><Key>${key.split('/').slice(2).join('/')}</Key></Contents>`,
        );
        return { status: 200, body: `<ListBucketResult>${contents.join('')}</ListBucketResult>` };
      },
    ],
  ];

  async function answer(request: AwsRequest): Promise<Answer> {
    const arranged = state.answers[request.action]?.(request);
    if (arranged !== undefined) return arranged;
    for (const [action, reply] of usual) {
      const found = action.exec(request.action);
      if (found) return reply(request, ...found.slice(1));
    }
    return NOT_FOUND;
  }

  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const [path = '', query] = (incoming.url ?? '').split('?');
      const headers = new Headers(incoming.headers as Record<string, string>);
      const body = await text(incoming);
      const target = headers.get('x-amz-target')?.split('.')[1] ?? /Action=(\w+)/.exec(body)?.[1];
      const action = target ?? `${incoming.method} ${decodeURIComponent(path)}`;
      const found = await answer({ action, query: new URLSearchParams(query), headers, body });
      const sent = found.body ?? '';
      outgoing.writeHead(found.status, found.headers);
      outgoing.end(typeof sent === 'string' ? sent : JSON.stringify(sent));
    })();
  });
  return {
    state,
    env: toAwsEnv(await serve(server)),
    reset: () => void Object.assign(state, initially(hash)),
    close: () => closeServer(server),
  };
}
