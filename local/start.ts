/**
 * Runs the whole service on this machine until Ctrl-C: contact form, OpenID Connect issuer, HTTP gateway, function,
 * DynamoDB engine, mailer and mailbox. Builds the form when web/dist is missing or older than its sources; with
 * --watch it is served from them.
 *
 * Usage: settings.ts. Exit codes: 0 stopped, 1 a part failed, 2 bad use, 130 stopped while starting.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
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
import { DATA_FOLDER, ROOT } from '../lib/paths.ts';
import { wrapLine } from '../lib/terminal-text.ts';
import {
  inMemoryFolder,
  isAlive,
  readState,
  stateFileOf,
  type StackState,
} from '../lib/running-stack.ts';
import { engineNames, dynamoDbLocalUnavailableReason } from './database/engines.ts';
import { buildFormWhenStale } from './pages/form-server.ts';
import { seedTable } from './seed.ts';
import { readSettings, type Settings } from './settings.ts';
import { startStack, type Stack } from './stack.ts';
import { formatLogLine, formatResponse } from './terminal.ts';

/** Columns before the values. */
const LABEL = 13;

type Print = (line: string | undefined) => void;

/** Returns when the stack runs; its signal handlers then end the process. */
export const main: Main = async (args, io) => {
  const settings = readSettings(args, io.env);
  const print: Print = (line) => void (line !== undefined && io.stdout.write(`${line}\n`));
  const isKept = settings.folder !== undefined;
  const folder = settings.folder ?? inMemoryFolder();
  openFolder(folder);
  if (isKept) await refuseFolderInUse(folder);

  const stateFile = stateFileOf(folder);
  // Undone when starting fails.
  using undo = new DisposableStack();
  if (!isKept) undo.defer(removeWithProcess(folder));
  const listen: Listen = (event, listener) => {
    process.on(event, listener);
    undo.defer(() => process.off(event, listener));
  };
  const removeFiles = (): void =>
    rmSync(isKept ? stateFile : folder, { recursive: true, force: true });
  undo.defer(removeFiles);
  // Also on the second Ctrl-C.
  listen('exit', removeFiles);
  const fail = (message: string | undefined): never => {
    io.stderr.write(`${message}\n`);
    process.exit(1);
  };
  // dynalite throws from callbacks, for example when the disk is full.
  listen('uncaughtException', (error) =>
    fail(error.code === undefined ? error.stack : error.message),
  );
  const started: { stack?: Stack } = {};
  stopOnSignals(started, listen, io);

  if (settings.reset) {
    for (const engine of engineNames) {
      rmSync(join(folder, engine), { recursive: true, force: true });
    }
  }
  const isBuilt = settings.liveForm ? false : await buildFormWhenStale();
  // From here on, only this user can read what this process and its engine write.
  process.umask(0o077);
  makePrivate(folder);
  const keysFile = join(folder, 'issuer-keys.json');
  const branding = readFileSync(join(ROOT, 'web/config.example.json'), 'utf8');
  const stack = await startStack({
    ...settings,
    keysFile,
    branding: JSON.parse(branding) as Record<string, unknown>,
    ...(io.stdout.isTTY === true && {
      log: (line) => print(formatLogLine(line)),
      onResponse: (response) => print(formatResponse(response)),
    }),
  }).catch((error: NodeJS.ErrnoException & { port?: number }) => {
    if (error.code !== 'EADDRINUSE') throw error;
    const option =
      error.port === settings.inspect ? '--inspect=PORT' : '--port (0 = any free port)';
    throw new UsageError(`Port ${error.port} is in use; choose another with ${option}.`);
  });

  // For `npm run token` and `npm run inbox`. No connection is accepted before it is written: until here, only
  // promises were resolved since the gateway began to listen.
  const {
    url: gateway,
    formUrl: form,
    mailboxUrl: mailbox,
    issuer,
    engine,
    tableName: table,
  } = stack;
  const state: StackState = {
    pid: process.pid,
    gateway,
    form,
    mailbox,
    issuer: issuer.url,
    keysFile,
    engine: engine.url,
    enginePid: engine.pid,
    table,
  };
  writeFileSync(stateFile, `${JSON.stringify(state, null, 2)}\n`);
  undo.move();
  started.stack = stack;
  void engine.failed.then(({ message }) => fail(message));
  if (settings.liveForm) await reloadOnChange(stack, print);
  const seeded = settings.seed && (await seedTable(engine.url, table, settings.seed));
  print(describe(stack, settings, { isBuilt, seeded, columns: io.stdout.columns || Infinity }));
};

if (import.meta.main) await runCommand(main);

/** Whether a process runs and listens: process ids are reused. */
async function listens(pid: number | undefined, url: string): Promise<boolean> {
  return isAlive(pid) && isListening(Number(URL.parse(url)?.port ?? 0));
}

/** @throws UsageError when a running stack, or an engine that has outlived its stack, uses a data folder. */
async function refuseFolderInUse(folder: string): Promise<void> {
  const state = readState(folder);
  if (state === undefined) return;
  const { pid, enginePid, gateway, engine, form } = state;
  if (await listens(pid, gateway)) {
    throw new UsageError(
      `The data folder ${folder} is in use by a running stack (process ${pid}, API ${gateway}/inquiries, form ${form}).`,
    );
  }
  // An engine ends a moment after its stack, unless it hangs.
  for (let waits = 0; await listens(enginePid, engine); waits++) {
    if (waits === 50) {
      throw new UsageError(
        `The data folder ${folder} is in use by DynamoDB Local (process ${enginePid}), whose stack has ended; end it with kill -9 ${enginePid}.`,
      );
    }
    await sleep(100);
  }
}

/**
 * Takes the rights of other users from what a stack with another umask has left in a data folder, and from the folder.
 * A folder with other things in it, such as a home, keeps its own rights.
 */
function makePrivate(folder: string): void {
  const names = readdirSync(folder);
  const own = names.filter((name) =>
    [...engineNames, 'stack.json', 'issuer-keys.json', 'erasure-key'].includes(name),
  );
  const restrict = (path: string): void => {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return;
    chmodSync(path, stat.mode & 0o700);
    if (stat.isDirectory()) for (const name of readdirSync(path)) restrict(join(path, name));
  };
  if (own.length === names.length) restrict(folder);
  else for (const name of own) restrict(join(folder, name));
}

/** Removes a folder also when this process is killed: a pipe to the shell then ends. @returns Ends the shell at once. */
function removeWithProcess(folder: string): () => void {
  const shell = spawn('/bin/sh', ['-c', 'read -r _; rm -rf "$0"', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl-C in a terminal is for this process.
    detached: true,
  });
  shell.unref();
  (shell.stdin as Socket).unref();
  return () => void shell.kill('SIGKILL');
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
async function reloadOnChange(stack: Stack, print: Print): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(join(ROOT, 'src'), { ignoreInitial: true });
  watcher.on('all', (_event, file) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      stack.reload();
      print(`${relative(ROOT, file)} changed: reloaded`);
    }, 100);
  });
  await once(watcher, 'ready');
}

/** A value, and behind it or, where the terminal is too narrow, below it what there is to say about it. */
function formatRow(columns: number, label: string, value: string, note = ''): string {
  const isWide = LABEL + value.length + 3 + note.length > columns;
  const wrap = (text: string): string => wrapLine(' '.repeat(LABEL) + text, columns).slice(LABEL);
  const name = `  ${styleText('dim', label.padEnd(LABEL - 3))} `;
  const between = isWide ? `\n${' '.repeat(LABEL)}` : '   ';
  return (
    name +
    styleText('cyan', wrap(value)) +
    (note === '' ? '' : between + (isWide ? wrap(note) : note))
  );
}

function describe(
  { url, formUrl, corsOrigins, docsUrl, demoUrl, mailboxUrl, issuer, engine, tableName }: Stack,
  { engine: chosen, folder: kept, inspect, liveForm }: Settings,
  { isBuilt, seeded, columns }: { isBuilt: boolean; seeded: number | undefined; columns: number },
): string {
  const row = (...texts: [label: string, value: string, note?: string]) =>
    formatRow(columns, ...texts);
  const place = kept === undefined ? 'kept in memory' : `kept in ${relative('', kept) || '.'}`;
  const name = engine.name === 'dynalite' ? 'dynalite' : 'DynamoDB Local';
  const reason = engine.name === chosen ? undefined : dynamoDbLocalUnavailableReason();
  const builtNote = isBuilt ? '(web/dist was missing or old and has been built)' : '';
  const formNote = liveForm ? '(from web/; changes apply in the open page)' : builtNote;
  const lines = [
    `\n${styleText('bold', 'Inquiry service')}, running on this machine until Ctrl-C.\n`,
    row('Form', formUrl, formNote),
    row('Demo', demoUrl, '(a page of another site with <inquiry-form> in it)'),
    row('API', `${url}/inquiries`),
    row('Docs', docsUrl, '(curl commands, guides, the contract as OpenAPI)'),
    row('Sign-in', issuer.url),
    row(
      'Client id',
      issuer.clientId,
      '(no secret; sign-in returns to / or /callback of the origins below)',
    ),
    row('Browsers', corsOrigins.join(', '), '(may call the API; --cors-origin adds yours)'),
    mailboxUrl === undefined
      ? row('Mailbox', 'off, because dynalite has no streams to send mail from')
      : row(
          'Mailbox',
          mailboxUrl,
          '(mails to the team and to owners; sent to nobody, kept in memory)',
        ),
    row('DynamoDB', engine.url, `${name}, table ${tableName}, ${place}`),
  ];
  if (reason !== undefined) lines.push(row('', `dynalite, because ${reason}`));
  if (engine.name === 'dynalite') {
    lines.push(row('', 'Idempotency-Key is ignored, because dynalite has no transactions'));
  }
  if (seeded === 0) {
    lines.push(row('Seed', 'none', '(the table has inquiries; --reset deletes them)'));
  } else if (seeded !== undefined) {
    lines.push(
      row('Seed', `${seeded} inquiries`, '(of the last six weeks; no mails were sent about them)'),
    );
  }
  if (inspect !== undefined) {
    const note =
      '(attach VS Code or chrome://inspect; breakpoints in src/*.ts; no function timeout)';
    lines.push(row('Inspector', `127.0.0.1:${inspect}`, note));
  }
  const isFound = kept === undefined || kept === DATA_FOLDER;
  const token = `npm run --silent token${isFound ? '' : ` -- --data '${kept}'`}`;
  lines.push(
    '\nSend an inquiry as ana@example.com, in this folder:\n',
    `  curl -X POST ${url}/inquiries \\`,
    `    -H "Authorization: Bearer $(${token})" \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '{"subject":"Hello","body":"Is anyone there?"}'\n`,
  );
  return lines.join('\n');
}
