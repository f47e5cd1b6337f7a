/**
 * Runs the whole service on this machine until Ctrl-C: contact form, OpenID Connect issuer, HTTP gateway, function
 * and DynamoDB engine. Builds the form when web/dist is missing or older than its sources.
 *
 * Usage: see below. Exit codes: 0 stopped, 1 a part failed, 2 bad use.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseOptions, runCommand, UsageError } from './cli.ts';
import { engineNames, openFolder, dynamoDbLocalUnavailableReason } from './local/dynamodb.ts';
import type { EngineName } from './local/dynamodb.ts';
import { buildForm, buildFormWhenStale } from './local/form.ts';
import { startStack } from './local/stack.ts';
import type { Stack } from './local/stack.ts';

const ROOT = resolve(import.meta.dirname, '..');
const USAGE = `
Usage: npm start -- [options]

  --port N        the gateway's port; issuer, docs and contact form take the next three; 0 = any free ports
                  (default: PORT or 3000)
  --engine NAME   ${engineNames.join(' or ')} (default: dynamodb-local where Java allows it)
  --data FOLDER   where inquiries and the issuer's keys are kept (default: .data)
  --in-memory     keep nothing
  --reset         start without the inquiries kept so far
  --inspect[=PORT]  debug the function: Node's inspector on 127.0.0.1 (default: 9229), one sandbox, no timeout
  --watch         reload the function when src/ changes, rebuild the form when web/ does (npm run dev)

CORS_ORIGIN in the environment is the one origin that browsers may call from (default: the contact form's). With
it, the contact form is not served, because it could not call the API.
`;

interface Settings {
  readonly port: number;
  readonly engine: EngineName | undefined;
  readonly folder: string;
  readonly inMemory: boolean;
  readonly reset: boolean;
  readonly watching: boolean;
  /** Port of Node's inspector. */
  readonly inspect: number | undefined;
}

await runCommand(async () => {
  const settings = readSettings();
  const stateFile = join(settings.folder, 'stack.json');
  openFolder(settings.folder);
  const holder = await findRunning(stateFile);
  if (holder !== undefined && !settings.inMemory) {
    throw new UsageError(
      `The data folder ${settings.folder} is in use by the stack with process id ${holder}.`,
    );
  }
  if (settings.reset) {
    for (const engine of engineNames) rmSync(join(settings.folder, engine), { recursive: true, force: true });
  }

  const running: { stack?: Stack; stateFile?: string } = {};
  stopOnSignals(running);
  const { CORS_ORIGIN: corsOrigin } = process.env;
  const building = corsOrigin ? undefined : buildFormWhenStale();
  building?.catch(() => undefined);
  const stack = await startStack({
    port: settings.port,
    engine: settings.engine,
    folder: settings.inMemory ? undefined : settings.folder,
    inspect: settings.inspect,
    ...(corsOrigin && { corsOrigin }),
  }).catch((error: NodeJS.ErrnoException & { port?: number }) => {
    if (error.code !== 'EADDRINUSE') throw error;
    const option = error.port === settings.inspect ? '--inspect=PORT' : '--port (0 = any free port)';
    throw new UsageError(`Port ${error.port} is in use; choose another with ${option}.`);
  });

  running.stack = stack;
  // The state file names the running stack for `npm run token`; one that is running already keeps it.
  if (holder === undefined) {
    running.stateFile = stateFile;
    const { url: gateway, issuer, keysFile, engine } = stack;
    const state = {
      pid: process.pid,
      gateway,
      issuer: issuer.url,
      keysFile,
      engine: { name: engine.name, url: engine.url },
    };
    writeFileSync(stateFile, `${JSON.stringify(state, null, 2)}\n`);
  }
  void stopWithEngine(stack);
  const isBuilt = await building;
  if (settings.watching) reloadOnChange(stack);
  process.stdout.write(await describe(stack, settings, isBuilt));
});

function readSettings(): Settings {
  // parseArgs knows no optional values.
  const args = process.argv.slice(2).map((arg) => (arg === '--inspect' ? '--inspect=9229' : arg));
  const definitions = {
    port: { type: 'string' },
    engine: { type: 'string' },
    data: { type: 'string', default: join(ROOT, '.data') },
    'in-memory': { type: 'boolean', default: false },
    inspect: { type: 'string' },
    reset: { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
  } as const;
  const options = parseOptions(USAGE, definitions, args);
  const port = options.port ?? (process.env['PORT'] || '3000');
  // Issuer, docs and contact form take the next three.
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_532) {
    throw new UsageError(`The port must be a number from 0 to 65532, not "${port}".`);
  }
  const inspect = options.inspect === undefined ? undefined : Number(options.inspect);
  if (inspect !== undefined && !(Number.isInteger(inspect) && inspect > 0 && inspect <= 65_535)) {
    throw new UsageError(`The inspector's port must be a number from 1 to 65535, not "${options.inspect}".`);
  }
  const engine = engineNames.find((name) => name === options.engine);
  if (options.engine !== undefined && engine === undefined) {
    throw new UsageError(`The engine must be ${engineNames.join(' or ')}, not "${options.engine}".`);
  }
  if (options.reset && options['in-memory'])
    throw new UsageError('--reset and --in-memory exclude each other.');
  return {
    port: Number(port),
    engine,
    folder: resolve(options.data),
    inMemory: options['in-memory'],
    reset: options.reset,
    watching: options.watch,
    inspect,
  };
}

/** Process id of the stack that wrote the state file, if it is still running. */
async function findRunning(stateFile: string): Promise<number | undefined> {
  if (!existsSync(stateFile)) return undefined;
  try {
    const { pid, gateway } = JSON.parse(readFileSync(stateFile, 'utf8')) as { pid: number; gateway: string };
    process.kill(pid, 0);
    // Process ids are used again: a stack is running only if it listens, too.
    const listening = await new Promise<boolean>((settle) => {
      const socket = connect(Number(new URL(gateway).port), '127.0.0.1');
      socket.once('connect', () => settle(true)).once('error', () => settle(false));
      socket.once('connect', () => socket.destroy());
    });
    return listening ? pid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Ctrl-C, a closed terminal, a kill or the end of npm end every part. A second signal, or one while starting, ends this process
 * at once, and the engine with it.
 */
function stopOnSignals(running: { stack?: Stack; stateFile?: string }): void {
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping || running.stack === undefined) process.exit(130);
    stopping = true;
    if (running.stateFile !== undefined) rmSync(running.stateFile, { force: true });
    await running.stack.close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
  // Nobody reads any more: a closed pipe is no reason to end without ending the parts.
  process.stdout.on('error', () => undefined);

  const npm = findNpm();
  if (npm === undefined) return;
  const timer = setInterval(() => {
    try {
      process.kill(npm, 0);
    } catch {
      clearInterval(timer);
      void stop();
    }
  }, 500);
  timer.unref();
}

/**
 * Process id of the npm that runs this command, found with `ps` among the parents. A signal sent to npm alone ends
 * npm and does not reach us, so its end has to be noticed.
 */
function findNpm(): number | undefined {
  let pid = process.ppid;
  for (let level = 0; level < 3 && process.env['npm_lifecycle_event'] !== undefined; level++) {
    const { stdout } = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' });
    const [, parent, args = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout ?? '') ?? [];
    if (args.startsWith('npm ')) return pid;
    pid = Number(parent);
  }
  return undefined;
}

async function stopWithEngine({ engine }: Stack): Promise<void> {
  await engine.ended;
  // Ctrl-C reaches the engine as well; give our own handler the time to end everything.
  await sleep(1_000);
  process.stderr.write('The DynamoDB engine has ended; stopping.\n');
  process.exit(1);
}

function reloadOnChange(stack: Stack): void {
  onChange('src', () => stack.reload(), 'reloaded');
  if (stack.formUrl !== undefined) onChange('web', buildForm, 'rebuilt; reload the page');
}

function onChange(folder: string, react: () => Promise<void> | void, done: string): void {
  let timer: NodeJS.Timeout | undefined;
  watch(join(ROOT, folder), { recursive: true }, (_event, file) => {
    if (file?.startsWith('dist')) return;
    clearTimeout(timer);
    // Editors write in bursts.
    timer = setTimeout(() => {
      Promise.resolve()
        .then(react)
        .then(
          () => process.stdout.write(`${folder}/${file} changed: ${done}\n`),
          (error: Error) => process.stderr.write(`${error.message}\n`),
        );
    }, 100);
  });
}

async function describe(
  { url, formUrl, docsUrl, issuer, engine, tableName }: Stack,
  settings: Settings,
  isBuilt = false,
): Promise<string> {
  const obstacle = settings.engine === undefined ? dynamoDbLocalUnavailableReason() : undefined;
  const kept = settings.inMemory ? 'kept in memory' : `kept in ${relative('', settings.folder) || '.'}`;
  const name = engine.name === 'dynalite' ? 'dynalite' : 'DynamoDB Local';
  const because = obstacle === undefined ? '' : `\n             dynalite, because ${obstacle}`;
  const inspector =
    settings.inspect === undefined
      ? ''
      : `\n  Inspector  127.0.0.1:${settings.inspect}   (attach VS Code or chrome://inspect; breakpoints in src/*.ts; no function timeout)`;
  const form = formUrl ?? `not served, because CORS_ORIGIN is ${process.env['CORS_ORIGIN']}`;
  return `
Inquiry service, running on this machine until Ctrl-C.

  Form       ${form}${isBuilt ? '   (web/dist was missing or old and has been built)' : ''}
  API        ${url}/inquiries
  Docs       ${docsUrl}   (read it, sign in, try it; ${docsUrl}/openapi.yaml is the contract)
  Sign-in    ${issuer.url}
  DynamoDB   ${engine.url}   ${name}, table ${tableName}, ${kept}${because}${inspector}

Send an inquiry as ana@example.com (the token is good for an hour; \`npm run --silent token\` prints another):

  curl -X POST ${url}/inquiries -H 'Content-Type: application/json' -d '{"subject":"Hello","body":"Is anyone there?"}' -H 'Authorization: Bearer ${await issuer.token()}'

`;
}
