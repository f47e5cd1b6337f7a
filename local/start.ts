/**
 * Runs the whole service on this machine until Ctrl-C: contact form, OpenID Connect issuer, HTTP gateway, function,
 * DynamoDB engine, mailer and mailbox. Builds the form when web/dist is missing or older than its sources; with
 * --watch it is served from them.
 *
 * Usage: settings.ts. Exit codes: 0 stopped, 1 a part failed, 2 bad use, 130 stopped while starting.
 */
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { watch } from 'chokidar';
import {
  onEndOfNpm,
  openFolder,
  runCommand,
  UsageError,
  type Io,
  type Main,
} from '../lib/command-line.ts';
import { isListening } from '../lib/loopback-server.ts';
import { ROOT } from '../lib/paths.ts';
import { stateFileOf, type StackState } from '../lib/running-stack.ts';
import { formatAnnouncement } from './announcement.ts';
import { refuseFolderInUse } from './data-folder.ts';
import { engineNames } from './database/engines.ts';
import { buildFormWhenStale } from './pages/form-server.ts';
import { seedTable } from './seed.ts';
import { readSettings, type Settings } from './settings.ts';
import { startStack, type Stack } from './stack.ts';
import { formatLogLine, formatResponse } from './terminal.ts';

/** Returns when the stack runs; its signal handlers then end the process. */
export const main: Main = async (args, io) => {
  const settings = readSettings(args, io.env);
  const { folder, liveForm, reset, seed } = settings;
  // Only this user can read what this process and its engine write.
  process.umask(0o077);
  openFolder(folder);
  await refuseFolderInUse(folder);

  const started: { stack?: Stack } = {};
  // Undone when starting fails.
  using undo = new DisposableStack();
  const listen: Listen = (event, listener) => {
    process.on(event, listener);
    undo.defer(() => process.off(event, listener));
  };
  const fail = (message: string | undefined): never => {
    io.stderr.write(`${message}\n`);
    process.exit(1);
  };
  const removeState = (): void => rmSync(stateFileOf(folder), { force: true });
  undo.defer(removeState);
  // Also on the second Ctrl-C.
  listen('exit', removeState);
  // dynalite throws from callbacks, for example when the disk is full.
  listen('uncaughtException', (error) =>
    fail(error.code === undefined ? error.stack : error.message),
  );
  stopOnSignals(started, listen, io);

  if (reset) {
    for (const name of engineNames) rmSync(join(folder, name), { recursive: true, force: true });
  }
  const isBuilt = liveForm ? false : await buildFormWhenStale();
  const keysFile = join(folder, 'issuer-keys.json');
  const stack = await start(settings, keysFile, io);
  // No connection is accepted before the file is written: until here, only promises were resolved since the gateway
  // began to listen.
  writeFileSync(
    stateFileOf(folder),
    `${JSON.stringify(describeState(stack, keysFile), null, 2)}\n`,
  );
  undo.move();
  started.stack = stack;
  const { engine, tableName } = stack;
  void engine.failed.then(({ message }) => fail(message));

  if (liveForm) await reloadOnChange(stack, io);
  const seeded = seed && (await seedTable(engine.url, tableName, seed));
  const otherEngine = engineNames.find(
    (name) => name !== engine.name && existsSync(join(folder, name)),
  );
  io.stdout.write(`${formatAnnouncement(stack, settings, { isBuilt, seeded, otherEngine })}\n`);
};

if (import.meta.main) await runCommand(main);

const refusePort = (port: number | undefined, option = '--port (0 = any free port)') =>
  new UsageError(`Port ${port} is in use; choose another with ${option}.`);

/** Starts the stack; at a terminal it prints short lines. @throws UsageError naming the option when a port is in use. */
async function start(settings: Settings, keysFile: string, { stdout }: Io): Promise<Stack> {
  const { port, inspect } = settings;
  // Both are listened to last.
  if (port !== 0 && (await isListening(port))) throw refusePort(port);
  if (inspect !== undefined && (await isListening(inspect))) {
    throw refusePort(inspect, '--inspect=PORT');
  }
  const print = (line: string | undefined): void => {
    if (line !== undefined) stdout.write(`${line}\n`);
  };
  const branding = readFileSync(join(ROOT, 'web/config.example.json'), 'utf8');
  return startStack({
    ...settings,
    keysFile,
    branding: JSON.parse(branding) as Record<string, unknown>,
    ...(stdout.isTTY === true && {
      log: (line) => print(formatLogLine(line)),
      onResponse: (response) => print(formatResponse(response)),
    }),
  }).catch((error: NodeJS.ErrnoException & { port?: number }) => {
    throw error.code === 'EADDRINUSE' ? refusePort(error.port) : error;
  });
}

/** What `npm run token` and `npm run inbox` read. */
function describeState(stack: Stack, keysFile: string): StackState {
  return {
    pid: process.pid,
    gateway: stack.url,
    form: stack.formUrl,
    mailbox: stack.mailboxUrl,
    issuer: stack.issuer.url,
    keysFile,
    engine: stack.engine.url,
    enginePid: stack.engine.pid,
    table: stack.tableName,
  };
}

/** Adds a listener to this process; the argument is that of `uncaughtException`. */
type Listen = (event: string, listener: (error: NodeJS.ErrnoException) => void) => void;

/**
 * Closes every part on Ctrl-C, on a closed terminal, when killed, and when npm ends. A second signal, or one while
 * starting, ends this process at once; engine and function end with it.
 */
function stopOnSignals(started: { stack?: Stack }, listen: Listen, { stdout, env }: Io): void {
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping || started.stack === undefined) process.exit(130);
    stopping = true;
    await started.stack.close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) listen(signal, () => void stop());
  // A closed pipe (EPIPE) must not end this process before its parts are closed.
  stdout.on('error', () => undefined);
  onEndOfNpm(env, () => void stop());
}

/** Reloads once for changes within 100 ms (git checkout). Vite watches web/. */
async function reloadOnChange(stack: Stack, { stdout }: Io): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(join(ROOT, 'src'), { ignoreInitial: true });
  watcher.on('all', (_event, file) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      stack.reload();
      stdout.write(`${relative(ROOT, file)} changed: reloaded\n`);
    }, 100);
  });
  await once(watcher, 'ready');
}
