/**
 * Runs the whole service on this machine until Ctrl-C: contact form, OpenID Connect issuer, HTTP gateway, function,
 * DynamoDB engine, mailer and mailbox. Builds the form when web/dist is missing or older than its sources; with
 * --watch it is served from them.
 *
 * Usage: see below. Exit codes: 0 stopped, 1 a part failed, 2 bad use, 130 stopped while starting.
 */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { styleText } from 'node:util';
import { watch } from 'chokidar';
import { isSettingOf, MAXIMA } from '../src/limits.ts';
import { isLanguage, languages } from '../src/mailer/languages.ts';
import { openFolder, parseOptions, runCommand, UsageError } from '../lib/command-line.ts';
import { engineNames, dynamoDbLocalUnavailableReason } from './database/engines.ts';
import { buildFormWhenStale } from './pages/form-server.ts';
import { parseOrigin } from './origin.ts';
import { isListening } from '../lib/loopback-server.ts';
import { stateFileOf } from '../lib/running-stack.ts';
import type { StackState } from '../lib/running-stack.ts';
import { startStack } from './stack.ts';
import type { Stack } from './stack.ts';
import { formatLogLine, formatResponse } from './terminal.ts';
import { DATA_FOLDER, ROOT } from '../lib/paths.ts';

const USAGE = `
Usage: npm start -- [options]

  --port N           the gateway's port; issuer, docs, contact form, mailbox and demo take the next five; 0 =
                     any free ports (default: PORT or 3000)
  --engine NAME      ${engineNames.join(' or ')} (default: dynamodb-local if there is a JDK 17 or newer)
  --data FOLDER      where inquiries and the issuer's key are kept (default: .data)
  --in-memory        keep nothing
  --reset            delete the inquiries kept so far
  --inspect[=PORT]   debug the function: Node's inspector on 127.0.0.1 (default: 9229), one sandbox, no timeout
  --cors-origin URL  the origin of a page of yours, such as http://localhost:5173, that may sign in and call the
                     API from a browser, as the contact form may; repeatable
  --watch            reload function and mailer when src/ changes, and apply changes of web/ in the open form
                     (npm run dev)

In the environment: RETENTION_DAYS: new inquiries expire after that many days (default: never). INQUIRIES_PER_HOUR:
inquiries that one owner may send before the function answers 429 (default: any number). MAILS_PER_HOUR: mails about
new inquiries of one owner (default: 10). MAIL_LANGUAGE: the language of replies (default: en).
`;
const OPTIONS = {
  port: { type: 'string' },
  engine: { type: 'string' },
  data: { type: 'string' },
  'in-memory': { type: 'boolean', default: false },
  inspect: { type: 'string' },
  reset: { type: 'boolean', default: false },
  watch: { type: 'boolean', default: false },
  'cors-origin': { type: 'string', multiple: true },
} as const;

await runCommand(async () => {
  const settings = readSettings();
  // dynalite throws from callbacks, for example when the disk is full.
  process.on('uncaughtException', (error: NodeJS.ErrnoException) =>
    fail(error.code === undefined ? error.stack : error.message),
  );
  const { inMemory, folder } = settings;
  openFolder(folder);
  const stateFile = stateFileOf(folder);
  const running = await findRunning(stateFile);
  if (running !== undefined) {
    throw new UsageError(`The data folder ${folder} is in use by a running stack (${running}).`);
  }
  // Also when starting fails, and on the second Ctrl-C.
  process.on('exit', () => rmSync(inMemory ? folder : stateFile, { recursive: true, force: true }));
  if (settings.reset) {
    for (const engine of engineNames) rmSync(join(folder, engine), { recursive: true, force: true });
  }

  const started: { stack?: Stack } = {};
  stopOnSignals(started);
  const building = settings.watching ? undefined : buildFormWhenStale();
  building?.catch(() => undefined);
  const keysFile = join(folder, 'issuer-keys.json');
  const stack = await startStack({
    port: settings.port,
    engine: settings.engine,
    folder: inMemory ? undefined : folder,
    keysFile,
    inspect: settings.inspect,
    ready: building,
    settings: settings.functions,
    branding: JSON.parse(readFileSync(join(ROOT, 'web/config.example.json'), 'utf8')) as Record<
      string,
      unknown
    >,
    corsOrigins: settings.corsOrigins,
    liveForm: settings.watching,
    ...(process.stdout.isTTY && {
      log: (line) => print(formatLogLine(line)),
      onResponse: (response) => print(formatResponse(response)),
    }),
  }).catch((error: NodeJS.ErrnoException & { port?: number }) => {
    if (error.code !== 'EADDRINUSE') throw error;
    const option = error.port === settings.inspect ? '--inspect=PORT' : '--port (0 = any free port)';
    throw new UsageError(`Port ${error.port} is in use; choose another with ${option}.`);
  });

  // For `npm run token` and `npm run inbox`. No connection is accepted before it is written: until here, only
  // promises were resolved since the gateway began to listen.
  const { url: gateway, formUrl: form, mailboxUrl: mailbox, issuer, engine, tableName: table } = stack;
  const state: StackState = {
    pid: process.pid,
    gateway,
    form,
    mailbox,
    issuer: issuer.url,
    keysFile,
    engine: engine.url,
    table,
  };
  writeFileSync(stateFile, `${JSON.stringify(state, null, 2)}\n`);
  started.stack = stack;
  void engine.failed.then(({ message }) => fail(message));
  if (settings.watching) await reloadOnChange(stack);
  print(describe(stack, settings, await building));
});

function print(line: string | undefined): void {
  if (line !== undefined) process.stdout.write(`${line}\n`);
}

function fail(message: string | undefined): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function readSettings() {
  refuseOptionsOfNpm();
  // parseArgs has no optional values.
  const args = process.argv.slice(2).map((arg) => (arg === '--inspect' ? '--inspect=9229' : arg));
  const options = parseOptions(USAGE, OPTIONS, args);
  const port = options.port ?? (process.env['PORT'] || '3000');
  // Issuer, docs, contact form, mailbox and demo take the next five.
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_530) {
    throw new UsageError(`The port must be a number from 0 to 65530, not "${port}".`);
  }
  const inspect = options.inspect === undefined ? undefined : Number(options.inspect);
  if (inspect !== undefined && !(Number.isInteger(inspect) && inspect > 0 && inspect <= 65_535)) {
    throw new UsageError(`The inspector's port must be a number from 1 to 65535, not "${options.inspect}".`);
  }
  const engine = engineNames.find((name) => name === options.engine);
  if (options.engine !== undefined && engine === undefined) {
    throw new UsageError(`The engine must be ${engineNames.join(' or ')}, not "${options.engine}".`);
  }
  const { 'in-memory': inMemory, reset, data } = options;
  if (inMemory && (reset || data !== undefined)) {
    throw new UsageError(`--in-memory excludes --${reset ? 'reset' : 'data'}.`);
  }
  return {
    port: Number(port),
    engine,
    folder: inMemory ? mkdtempSync(join(tmpdir(), 'inquiries-in-memory-')) : resolve(data ?? DATA_FOLDER),
    inMemory,
    reset,
    watching: options.watch,
    corsOrigins: (options['cors-origin'] ?? []).map(parseOrigin),
    inspect,
    functions: {
      ...readNumber('RETENTION_DAYS'),
      ...readNumber('INQUIRIES_PER_HOUR'),
      ...readNumber('MAILS_PER_HOUR'),
      ...readMailLanguage(),
    },
  };
}

/** Reads a setting of the functions from the environment. @throws UsageError when it is malformed. */
function readNumber(name: keyof typeof MAXIMA): Record<string, string> {
  const value = process.env[name];
  if (!value) return {};
  if (isSettingOf(name, value)) return { [name]: value };
  throw new UsageError(`${name} must be a number from 1 to ${MAXIMA[name]}, not "${value}".`);
}

/** Reads the language of replies from the environment. @throws UsageError unless the mailer has it. */
function readMailLanguage(): Record<string, string> {
  const { MAIL_LANGUAGE: value } = process.env;
  if (!value) return {};
  if (isLanguage(value)) return { MAIL_LANGUAGE: value };
  throw new UsageError(`MAIL_LANGUAGE must be one of ${languages.join(', ')}, not "${value}".`);
}

/**
 * npm takes options before `--` for its own, leaves them in the environment and passes their values as arguments.
 *
 * @throws UsageError with the command to write.
 */
function refuseOptionsOfNpm(): void {
  const names = Object.keys(OPTIONS).filter((name) => process.env[`npm_config_${name.replace('-', '_')}`]);
  // npm takes --engine for its --engine-strict.
  if (engineNames.some((name) => name === process.argv[2])) names.push('engine');
  if (names.length === 0) return;
  const command = process.env['npm_lifecycle_event'] === 'dev' ? 'npm run dev' : 'npm start';
  const rest = names.map((name) =>
    ['port', 'engine', 'data', 'cors-origin'].includes(name) ? `--${name} <value>` : `--${name}`,
  );
  throw new UsageError(
    `npm took --${names.join(' and --')} for itself; write: ${command} -- ${rest.join(' ')}`,
  );
}

/** Process id and addresses of the stack that wrote the state file, if it is still running. */
async function findRunning(stateFile: string): Promise<string | undefined> {
  if (!existsSync(stateFile)) return undefined;
  try {
    const { pid, gateway, form } = JSON.parse(readFileSync(stateFile, 'utf8')) as Record<string, string>;
    process.kill(Number(pid), 0);
    // Process ids are reused: the stack is running only if its gateway listens, too.
    if (!(await isListening(Number(new URL(gateway ?? '').port)))) return undefined;
    return `process ${pid}, API ${gateway}/inquiries, form ${form}`;
  } catch {
    return undefined;
  }
}

/**
 * Closes every part on Ctrl-C, on a closed terminal, when killed, and when npm ends. A second signal, or one while
 * starting, ends this process at once; engine and function end with it.
 */
function stopOnSignals(started: { stack?: Stack }): void {
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping || started.stack === undefined) process.exit(130);
    stopping = true;
    await started.stack.close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
  // A closed pipe (EPIPE) must not end this process before its parts are closed.
  process.stdout.on('error', () => undefined);

  // npm does not forward every signal that only npm receives. Its shell became this process (exec in package.json),
  // so npm is the parent, and another process is when npm has ended.
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const { ppid: npm } = process;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    void stop();
  }, 500);
  timer.unref();
}

/** Reloads once for changes within 100 ms (git checkout). Vite watches web/. */
async function reloadOnChange(stack: Stack): Promise<void> {
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

function row(label: string, value: string, note = ''): string {
  return `  ${styleText('dim', label.padEnd(10))} ${styleText('cyan', value)}   ${note}`.trimEnd();
}

function describe(
  { url, formUrl, corsOrigins, docsUrl, demoUrl, mailboxUrl, issuer, engine, tableName }: Stack,
  { engine: chosen, inMemory, folder, inspect, watching }: ReturnType<typeof readSettings>,
  isBuilt = false,
): string {
  const kept = inMemory ? 'kept in memory' : `kept in ${relative('', folder) || '.'}`;
  const name = engine.name === 'dynalite' ? 'dynalite' : 'DynamoDB Local';
  const reason = engine.name === chosen ? undefined : dynamoDbLocalUnavailableReason();
  const builtNote = isBuilt ? '(web/dist was missing or old and has been built)' : '';
  const formNote = watching ? '(from web/; changes apply in the open page)' : builtNote;
  const lines = [
    `\n${styleText('bold', 'Inquiry service')}, running on this machine until Ctrl-C.\n`,
    row('Form', formUrl, formNote),
    row('Demo', demoUrl, '(a page of another site with <inquiry-form> in it)'),
    row('API', `${url}/inquiries`),
    row('Docs', docsUrl, `(read it, sign in, try it; ${docsUrl}/openapi.yaml is the contract)`),
    row('Sign-in', issuer.url),
    row('Client id', issuer.clientId, '(no secret; sign-in returns to / or /callback of the origins below)'),
    row('Browsers', corsOrigins.join(', '), '(may call the API; --cors-origin adds yours)'),
    mailboxUrl === undefined
      ? row('Mailbox', 'off, because dynalite has no streams to send mail from')
      : row('Mailbox', mailboxUrl, '(mails to the team and to owners; sent to nobody, kept in memory)'),
    row('DynamoDB', engine.url, `${name}, table ${tableName}, ${kept}`),
  ];
  if (reason !== undefined) lines.push(row('', `dynalite, because ${reason}`));
  if (engine.name === 'dynalite') {
    lines.push(row('', 'Idempotency-Key is ignored, because dynalite has no transactions'));
  }
  if (inspect !== undefined) {
    const note = '(attach VS Code or chrome://inspect; breakpoints in src/*.ts; no function timeout)';
    lines.push(row('Inspector', `127.0.0.1:${inspect}`, note));
  }
  const token = `npm run --silent token${folder === DATA_FOLDER ? '' : ` -- --data '${folder}'`}`;
  lines.push(
    '\nSend an inquiry as ana@example.com, in this folder:\n',
    `  curl -X POST ${url}/inquiries -H "Authorization: Bearer $(${token})" \\`,
    `    -H 'Content-Type: application/json' -d '{"subject":"Hello","body":"Is anyone there?"}'\n`,
  );
  return lines.join('\n');
}
