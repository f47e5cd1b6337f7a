/**
 * A proxy in front of an emulator of AWS (moto 5.2.5), which runs no functions: they run in the local stack's sandboxes.
 */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { unzipSync } from 'fflate';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';
import { startFunction } from '../../local/lambda/function.ts';
import { toAwsEnv } from '../local/aws.ts';

/** Before the emulator gets a request, before its answer is sent on, or after that. */
export type Moment = 'before' | 'in flight' | 'after';

interface Sent {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}
interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer | string;
}

interface Configuration {
  CodeSha256: string;
  Handler: string;
  Timeout: number;
  Environment?: { Variables: Record<string, string> };
}
type Upload = Partial<Record<'ZipFile', string>>;

/**
 * @param endpoint - The emulator's URL.
 * @param reach - Awaited before each request and before its response is sent on, and called after that, with
 * `METHOD PATH [SERVICE.Operation] [Action=Operation]`.
 */
export async function startEmulatorProxy(
  endpoint: string,
  reach: (sent: string, moment: Moment) => Promise<void> = async () => {},
) {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'functions-'));
  const packages = new Map<string, Buffer>();
  const running = new Map<string, ReturnType<typeof startFunction>>();

  async function forward({ method, url: path, headers, body }: Sent): Promise<Answer> {
    const sent = request(new URL(path, endpoint), { method, headers });
    sent.end(body);
    const [received] = (await once(sent, 'response')) as [IncomingMessage];
    const { statusCode: status = 0, headers: answered } = received;
    return { status, headers: answered, body: await buffer(received) };
  }

  /** Keeps the package of a function, since moto gives none out. */
  function keepPackage({ body }: Sent): void {
    const { Code, ZipFile } = JSON.parse(String(body)) as Upload & { Code?: Upload };
    const content = Buffer.from(ZipFile ?? Code?.ZipFile ?? '', 'base64');
    packages.set(createHash('sha256').update(content).digest('base64'), content);
  }

  /** Functions call AWS through the proxy. */
  function start({ CodeSha256, Handler, Timeout, Environment }: Configuration) {
    const root = join(folder.path, randomUUID());
    const files = unzipSync(packages.get(CodeSha256) ?? Buffer.alloc(0));
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), content);
    }
    return startFunction({
      module: join(root, `${Handler.split('.')[0]}.mjs`),
      environment: {
        ...toAwsEnv(url),
        ...Environment?.Variables,
        AWS_ENDPOINT_URL_DYNAMODB: url,
        ISSUER: url,
      },
      timeout: Timeout * 1_000,
      lazy: true,
    });
  }

  async function invoke({ url: path, headers: { authorization }, body }: Sent): Promise<Answer> {
    const found = await forward({
      method: 'GET',
      url: path.replace('/invocations', ''),
      headers: { authorization },
      body: Buffer.alloc(0),
    });
    if (found.status !== 200) return found;
    const { Configuration } = JSON.parse(String(found.body)) as { Configuration: Configuration };
    const key = JSON.stringify([Configuration.CodeSha256, Configuration.Environment]);
    const started = running.get(key) ?? start(Configuration);
    running.set(key, started);
    try {
      const { invoke: run } = await started;
      return { status: 200, headers: {}, body: await run(String(body), randomUUID()) };
    } catch (error) {
      const { message, cause } = error as Error;
      const failure = JSON.stringify({ errorType: 'Error', errorMessage: message });
      const headers = { 'x-amz-function-error': 'Unhandled' };
      return { status: 200, headers, body: typeof cause === 'string' ? cause : failure };
    }
  }

  async function respond(sent: Sent, line: string): Promise<Answer> {
    if (/\/invocations(\?|$)/.test(sent.url)) return invoke(sent);
    // The pages of teams read where their pool signs in.
    if (sent.url === '/.well-known/openid-configuration') {
      const found = {
        issuer: url,
        authorization_endpoint: `${url}/oauth2/authorize`,
        jwks_uri: url,
      };
      const headers = { 'content-type': 'application/json' };
      return { status: 200, headers, body: JSON.stringify(found) };
    }
    if (/^P\w+ \S+\/functions(\/[^/]+\/code)? /.test(line)) keepPackage(sent);
    // moto has no such request.
    if (line.endsWith('=DeleteReceiptRule')) {
      return { status: 200, headers: {}, body: '<R><DeleteReceiptRuleResult/></R>' };
    }
    const found = await forward(sent);
    if (!sent.url.startsWith('/v2/email/configuration-sets/')) return found;
    // moto answers with an object in place of the boolean.
    const body = String(found.body).replace('"SendingEnabled": {}', '"SendingEnabled": true');
    return { ...found, headers: {}, body };
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const sent = { method, url: path, headers, body: await buffer(incoming) };
    const action = /\bAction=\w+/.exec(String(sent.body))?.[0] ?? '';
    const line = [method, path, headers['x-amz-target'] ?? '', action].join(' ');
    outgoing.once('finish', () => void reach(line, 'after'));
    await reach(line, 'before');
    const { status, headers: answered, body } = await respond(sent, line);
    await reach(line, 'in flight');
    outgoing.writeHead(status, answered).end(body);
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const url = await serve(server);
  return {
    url,
    stop: async (): Promise<void> => {
      await closeServer(server);
      await Promise.all([...running.values()].map(async (each) => (await each).close()));
      folder.remove();
    },
  };
}
