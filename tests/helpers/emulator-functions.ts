/** Lambda where moto differs: it runs no function, and accepts what Lambda refuses. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { startFunction } from '../../local/lambda/function.ts';
import { toAwsEnv } from './aws.ts';
import type { Answer, Layer, Sent } from './emulator.ts';

interface Configuration {
  FunctionName: string;
  CodeSha256: string;
  Handler: string;
  Timeout: number;
  Environment?: { Variables: Record<string, string> };
}
type Next = Parameters<Layer>[1];

export const json = (body: object): Answer => ({ status: 200, body: JSON.stringify(body) });
const parse = ({ body }: Sent | Answer): unknown => JSON.parse(String(body) || '{}');
const refuse = (status: number, type: string, message: string): Answer => ({
  ...json({ Type: 'User', Message: message }),
  status,
  headers: { 'x-amzn-errortype': type },
});

export function createFunctions() {
  const folder = mkdtempSync(join(tmpdir(), 'functions-'));
  const packages = new Map<string, Buffer>();
  /** Dropped by moto; by function. */
  const logging = new Map<string, unknown>();
  const mappings = new Map<string, Record<string, unknown>>();
  const running = new Map<string, ReturnType<typeof startFunction>>();

  /** Functions call AWS through the proxy. */
  function start({ CodeSha256, Handler, Timeout, Environment }: Configuration, url: string) {
    const root = mkdtempSync(join(folder, 'package-'));
    const files = unzipSync(packages.get(CodeSha256) ?? Buffer.alloc(0));
    for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content);
    return startFunction({
      module: join(root, `${Handler.split('.')[0]}.mjs`),
      environment: { ...Environment?.Variables, ...toAwsEnv(url), AWS_ENDPOINT_URL_DYNAMODB: url },
      timeout: Timeout * 1_000,
      lazy: true,
    });
  }

  /** Runs a version's or alias's package with its environment. */
  async function invoke(sent: Sent, next: Next): Promise<Answer> {
    const url = sent.url.replace('/invocations', '');
    const found = await next({ ...sent, method: 'GET', url, body: Buffer.alloc(0) });
    if (found.status !== 200) return found;
    const { Configuration } = parse(found) as { Configuration: Configuration };
    const key = JSON.stringify([Configuration.CodeSha256, Configuration.Environment]);
    const started = running.get(key) ?? start(Configuration, `http://${sent.headers.get('host')}`);
    running.set(key, started);
    try {
      const { invoke: run } = await started;
      return { status: 200, body: await run(String(sent.body), randomUUID()) };
    } catch (error) {
      const { message, cause } = error as Error;
      const { body } = json({ errorType: 'Error', errorMessage: message });
      const headers = { 'x-amz-function-error': 'Unhandled' };
      return { status: 200, body: typeof cause === 'string' ? cause : body, headers };
    }
  }

  /**
   * Lambda takes one mapping of a stream and a function, whatever its filter (botocore: CreateEventSourceMapping,
   * ResourceConflictException; recorded on AWS by localstack's test_duplicate_event_source_mappings).
   */
  function answerMapping(sent: Sent): Answer {
    const isNew = sent.method === 'POST';
    const UUID = isNew ? randomUUID() : sent.url.slice(-randomUUID().length);
    const before = mappings.get(UUID);
    const mapping = { ...before, ...(parse(sent) as object), UUID, State: 'Enabled' };
    const isTwin = (each: Record<string, unknown>): boolean =>
      ['EventSourceArn', 'FunctionName'].every((name) => each[name] === Object(mapping)[name]);
    if (isNew && [...mappings.values()].some(isTwin)) {
      return refuse(409, 'ResourceConflictException', 'The mapping already exists.');
    }
    if (!isNew && before === undefined) {
      return refuse(404, 'ResourceNotFoundException', 'The resource you requested does not exist.');
    }
    mappings.set(UUID, mapping);
    if (sent.method === 'DELETE') mappings.delete(UUID);
    const EventSourceMappingArn = `arn:aws:lambda:eu-central-1:123456789012:event-source-mapping:${UUID}`;
    const FunctionArn = Object(mapping).FunctionName as unknown;
    return { ...json({ ...mapping, FunctionArn, EventSourceMappingArn }), status: 202 };
  }

  async function keepSettings(sent: Sent, next: Next): Promise<Answer> {
    if (
      sent.method.startsWith('P') &&
      /\/functions(\/[^/]+\/(code|configuration))?$/.test(sent.url)
    ) {
      const { FunctionName, LoggingConfig, ZipFile, Code } = parse(sent) as {
        FunctionName?: string;
        LoggingConfig?: unknown;
        ZipFile?: string;
        Code?: { ZipFile?: string };
      };
      const content = Buffer.from(ZipFile ?? Code?.ZipFile ?? '', 'base64');
      packages.set(createHash('sha256').update(content).digest('base64'), content);
      const name = FunctionName ?? sent.url.split('/').at(-2) ?? '';
      if (LoggingConfig !== undefined) logging.set(name, LoggingConfig);
    }
    const answer = await next(sent);
    if (answer.status >= 300) return answer;
    const received = parse(answer) as { Configuration?: Configuration } & Partial<Configuration>;
    const described = received.Configuration ?? received;
    const LoggingConfig = logging.get(described.FunctionName ?? '');
    if (LoggingConfig === undefined) return answer;
    Object.assign(described, { LoggingConfig });
    return { ...answer, ...json(received) };
  }

  const layer: Layer = async (sent, next) => {
    const { url } = sent;
    if (url.includes('event-source-mapping')) return answerMapping(sent);
    if (!url.startsWith('/2015-03-31/functions')) return next(sent);
    return /\/invocations(\?|$)/.test(url) ? invoke(sent, next) : keepSettings(sent, next);
  };

  return {
    layer,
    async close(): Promise<void> {
      await Promise.all([...running.values()].map(async (each) => (await each).close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
