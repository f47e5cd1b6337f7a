/** Lambda, as far as moto is not like it: it runs no function, and accepts what Lambda refuses. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { startFunction, type LocalFunction } from '../../local/lambda/function.ts';
import type { Answer, Layer, Sent } from './emulator.ts';

interface Configuration {
  readonly CodeSha256: string;
  readonly Handler: string;
  readonly Timeout: number;
  readonly Environment?: { readonly Variables: Readonly<Record<string, string>> };
}

/** Of an event source and a function, as it was sent. */
interface Mapping {
  readonly UUID?: string;
  readonly EventSourceArn: string;
  readonly FunctionName: string;
}

const FUNCTIONS = '/2015-03-31/functions';
/** Mappings, and their tags. */
const MAPPINGS = /^\/(2015-03-31|2017-03-31\/tags)\/.*event-source-mapping/;

const refuse = (status: number, type: string, message: string): Answer => ({
  status,
  body: JSON.stringify({ Type: 'User', Message: message, message }),
  headers: { 'x-amzn-errortype': type },
});

/** @param endpoint - Of the emulator, which the functions call, too. */
export function createFunctions(endpoint: string) {
  const folder = mkdtempSync(join(tmpdir(), 'functions-'));
  /** By the SHA-256 that Lambda tells of a package. */
  const packages = new Map<string, Buffer>();
  /** What moto drops, by the function's name. */
  const logging = new Map<string, unknown>();
  /** Of aliases, by their URL. */
  const revisions = new Map<string, string>();
  /** By their id. */
  const mappings = new Map<string, Mapping>();
  /** One for each package and environment that was invoked. */
  const running = new Map<string, Promise<LocalFunction>>();

  function start({ CodeSha256, Handler, Timeout, Environment }: Configuration) {
    const root = mkdtempSync(join(folder, 'package-'));
    for (const [name, content] of Object.entries(
      unzipSync(packages.get(CodeSha256) ?? Buffer.alloc(0)),
    )) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), content);
    }
    const environment = {
      ...Environment?.Variables,
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    };
    const module = join(root, `${Handler.split('.')[0]}.mjs`);
    return startFunction({ module, environment, timeout: Timeout * 1_000, lazy: true });
  }

  /** Runs the package of a version or an alias with its environment. */
  async function invoke({ url, headers, body }: Sent, next: (sent: Sent) => Promise<Answer>) {
    const described = url.replace('/invocations', '');
    const found = await next({ method: 'GET', url: described, headers, body: Buffer.alloc(0) });
    if (found.status !== 200) return found;
    const { Configuration } = JSON.parse(String(found.body)) as { Configuration: Configuration };
    const key = JSON.stringify([Configuration.CodeSha256, Configuration.Environment]);
    const started = running.get(key) ?? start(Configuration);
    running.set(key, started);
    try {
      const result = await (await started).invoke(String(body), randomUUID());
      return { status: 200, body: result };
    } catch (error) {
      const { message, cause } = error as Error;
      const reported =
        typeof cause === 'string'
          ? cause
          : JSON.stringify({ errorType: 'Error', errorMessage: message });
      return { status: 200, body: reported, headers: { 'x-amz-function-error': 'Unhandled' } };
    }
  }

  /**
   * Lambda takes one mapping of a stream and a function, whatever its filter (botocore: CreateEventSourceMapping,
   * ResourceConflictException; recorded on AWS by localstack's test_duplicate_event_source_mappings).
   */
  function answerMapping({ method, url, body }: Sent): Answer {
    const sent = JSON.parse(String(body) || '{}') as Mapping;
    const UUID = method === 'POST' ? randomUUID() : url.slice(-randomUUID().length);
    const before = mappings.get(UUID);
    const twin = [...mappings.values()].find(
      (each) =>
        each.EventSourceArn === sent.EventSourceArn && each.FunctionName === sent.FunctionName,
    );
    if (method === 'POST' && twin !== undefined) {
      const message = `The event source arn (" ${sent.EventSourceArn} ") and function (" ${sent.FunctionName} ") provided mapping already exists. Please update or delete the existing mapping with UUID ${twin.UUID}`;
      return refuse(409, 'ResourceConflictException', message);
    }
    if (method !== 'POST' && before === undefined) {
      return refuse(404, 'ResourceNotFoundException', 'The resource you requested does not exist.');
    }
    const mapping = { ...before, ...sent, UUID, State: 'Enabled' };
    mappings.set(UUID, mapping);
    if (method === 'DELETE') mappings.delete(UUID);
    const EventSourceMappingArn = `arn:aws:lambda:eu-central-1:123456789012:event-source-mapping:${UUID}`;
    const found = { ...mapping, FunctionArn: mapping.FunctionName, EventSourceMappingArn };
    return { status: 202, body: JSON.stringify(found) };
  }

  /** An alias with a revision that changes with it. */
  async function keepRevision(sent: Sent, next: (sent: Sent) => Promise<Answer>) {
    const path = sent.url.replace(/^.*\/functions\//, '');
    if (sent.method === 'PUT') {
      const { RevisionId } = JSON.parse(String(sent.body)) as { RevisionId?: string };
      if (RevisionId !== undefined && RevisionId !== revisions.get(path)) {
        return refuse(
          412,
          'PreconditionFailedException',
          'The Revision Id provided does not match the latest Revision Id.',
        );
      }
    }
    const answer = await next(sent);
    if (answer.status >= 300 || sent.method === 'DELETE') return answer;
    if (sent.method === 'PUT' || !revisions.has(path)) revisions.set(path, randomUUID());
    const alias = JSON.parse(String(answer.body)) as object;
    return { ...answer, body: JSON.stringify({ ...alias, RevisionId: revisions.get(path) }) };
  }

  /** Keeps packages and LoggingConfig, and returns the latter. */
  async function keepSettings(sent: Sent, next: (sent: Sent) => Promise<Answer>) {
    if (
      ['POST', 'PUT'].includes(sent.method) &&
      /\/functions(\/[^/]+\/(code|configuration))?$/.test(sent.url)
    ) {
      const settings = JSON.parse(String(sent.body)) as {
        FunctionName?: string;
        LoggingConfig?: unknown;
        ZipFile?: string;
        Code?: { ZipFile?: string };
      };
      const zip = settings.ZipFile ?? settings.Code?.ZipFile;
      if (zip !== undefined) {
        const content = Buffer.from(zip, 'base64');
        packages.set(createHash('sha256').update(content).digest('base64'), content);
      }
      const name = settings.FunctionName ?? sent.url.split('/').at(-2) ?? '';
      if (settings.LoggingConfig !== undefined) logging.set(name, settings.LoggingConfig);
    }
    const answer = await next(sent);
    if (answer.status >= 300 || answer.body.length === 0) return answer;
    const received = JSON.parse(String(answer.body)) as {
      FunctionName?: string;
      Configuration?: { FunctionName: string };
    };
    const described = received.Configuration ?? received;
    const LoggingConfig = logging.get(described.FunctionName ?? '');
    if (LoggingConfig === undefined) return answer;
    Object.assign(described, { LoggingConfig });
    return { ...answer, body: JSON.stringify(received) };
  }

  const layer: Layer = async (sent, next) => {
    const { url } = sent;
    if (MAPPINGS.test(url)) return answerMapping(sent);
    if (!url.startsWith(FUNCTIONS)) return next(sent);
    if (/\/invocations(\?|$)/.test(url)) return invoke(sent, next);
    if (/\/aliases\/\w+$/.test(url)) return keepRevision(sent, next);
    return keepSettings(sent, next);
  };

  return {
    layer,
    async close(): Promise<void> {
      await Promise.all([...running.values()].map(async (started) => (await started).close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
