/** Lambda where moto differs: it runs no function, and accepts what Lambda refuses. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { startSandbox, type Sandbox } from '../../local/lambda/sandbox.ts';
import { toAwsEnv } from './aws.ts';
import type { Answer, Layer, Sent } from './emulator.ts';

interface Configuration {
  FunctionName: string;
  CodeSha256: string;
  Version: string;
  Handler: string;
  Timeout: number;
  Environment?: { Variables: Record<string, string> };
}
type Next = Parameters<Layer>[1];

export const json = (body: object): Answer => ({ status: 200, body: JSON.stringify(body) });
const parse = ({ body }: Sent | Answer): unknown => JSON.parse(String(body) || '{}');
export const refuse = (status: number, type: string, message: string): Answer => ({
  ...json({ Type: 'User', Message: message, message }),
  status,
  headers: { 'x-amzn-errortype': type },
});

export function createFunctions() {
  const folder = mkdtempSync(join(tmpdir(), 'functions-'));
  const packages = new Map<string, Buffer>();
  /** Dropped by moto; by function. */
  const logging = new Map<string, unknown>();
  const mappings = new Map<string, Record<string, unknown>>();
  /** Each function's last version, and what it was made of. */
  const published = new Map<string, { key: string; answer: Answer }>();
  const instances = new Map<string, ReturnType<typeof createInstance>>();

  /** An instance, which handles one event at a time, and calls AWS through the proxy. */
  function createInstance(
    { CodeSha256, Handler, Timeout, Environment }: Configuration,
    url: string,
  ) {
    const root = mkdtempSync(join(folder, 'package-'));
    const files = unzipSync(packages.get(CodeSha256) ?? Buffer.alloc(0));
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), content);
    }
    const options = {
      module: join(root, `${Handler.split('.')[0]}.mjs`),
      environment: { ...Environment?.Variables, ...toAwsEnv(url), AWS_ENDPOINT_URL_DYNAMODB: url },
      timeout: Timeout * 1_000,
    };
    let sandbox: Promise<Sandbox> | undefined;
    let last: Promise<unknown> = Promise.resolve();
    const close = async (): Promise<void> => {
      const started = sandbox;
      sandbox = undefined;
      await started?.then(
        ({ close: stop }) => stop(),
        () => undefined,
      );
    };
    /** @returns The result, and the line with which Lambda's log of an invocation ends. */
    const handle = async (event: string) => {
      try {
        sandbox ??= startSandbox(options);
        const { invoke: run, pid } = await sandbox;
        const { result } = await run(event);
        const [, peak] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
        const metrics = { maxMemoryUsedMB: Math.round(Number(peak) / 1_024) };
        return { result, log: JSON.stringify({ type: 'platform.report', record: { metrics } }) };
      } catch (error) {
        await close();
        throw error;
      }
    };
    const invokeNext = (event: string) => {
      const handled = last.then(() => handle(event));
      last = handled.catch(() => undefined);
      return handled;
    };
    return { invoke: invokeNext, close };
  }

  /** Runs a version's or alias's package with its environment. */
  async function invoke(sent: Sent, next: Next): Promise<Answer> {
    const url = sent.url.replace('/invocations', '');
    const found = await next({ ...sent, method: 'GET', url, body: Buffer.alloc(0) });
    if (found.status !== 200) return found;
    const { Configuration } = parse(found) as { Configuration: Configuration };
    const key = JSON.stringify([Configuration.CodeSha256, Configuration.Environment]);
    const instance =
      instances.get(key) ?? createInstance(Configuration, `http://${sent.headers.get('host')}`);
    instances.set(key, instance);
    try {
      const { result, log } = await instance.invoke(String(sent.body));
      const headers = {
        'x-amz-executed-version': Configuration.Version,
        'x-amz-log-result': Buffer.from(log).toString('base64'),
      };
      return { status: 200, body: result, headers };
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

  /**
   * Lambda publishes what the caller names (botocore: PublishVersion, CodeSha256), and repeats the last version if
   * nothing has changed; moto publishes again.
   */
  async function publish(sent: Sent, next: Next): Promise<Answer> {
    const [, name = ''] = /functions\/([^/]+)/.exec(sent.url) ?? [];
    const get = (url: string) => next({ ...sent, method: 'GET', url, body: Buffer.alloc(0) });
    const current = parse(
      await get(`/2015-03-31/functions/${name}/configuration`),
    ) as Configuration;
    const { CodeSha256: expected } = parse(sent) as { CodeSha256?: string };
    if (expected !== undefined && expected !== current.CodeSha256) {
      return refuse(400, 'InvalidParameterValueException', `CodeSha256 is ${current.CodeSha256}`);
    }
    const key = JSON.stringify([current.CodeSha256, current.Environment]);
    const before = published.get(name);
    if (before?.key === key) return before.answer;
    const answer = await next(sent);
    if (answer.status < 300) published.set(name, { key, answer });
    return answer;
  }

  async function keepRevision(sent: Sent, next: Next): Promise<Answer> {
    const read = (answer: Answer) => {
      const alias = parse(answer) as Record<string, unknown>;
      return { ...alias, RevisionId: `of ${String(alias['FunctionVersion'])}` };
    };
    const { RevisionId } = parse(sent) as { RevisionId?: string };
    if (RevisionId !== undefined) {
      const now = read(await next({ ...sent, method: 'GET', body: Buffer.alloc(0) }));
      if (RevisionId !== now.RevisionId) {
        return refuse(412, 'PreconditionFailedException', 'The Revision Id does not match.');
      }
    }
    const answer = await next(sent);
    const isAlias = answer.status < 300 && sent.method !== 'DELETE';
    return isAlias ? { ...answer, ...json(read(answer)) } : answer;
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
    if (/\/invocations(\?|$)/.test(url)) return invoke(sent, next);
    if (sent.method === 'POST' && url.endsWith('/versions')) return publish(sent, next);
    return /\/aliases\/\w+$/.test(url) ? keepRevision(sent, next) : keepSettings(sent, next);
  };

  return {
    layer,
    async close(): Promise<void> {
      await Promise.all([...instances.values()].map(({ close }) => close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
