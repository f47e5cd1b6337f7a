/** `npm start`. Exit codes: 0 stopped, 1 a part failed, 2 bad use, 130 stopped by a second signal. */
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { watch } from 'chokidar';
import {
  onEndOfNpm,
  runCommand,
  UsageError,
  type Io,
  type Main,
} from '../lib/terminal/command-line.ts';
import { isListening } from '../lib/pages/loopback-server.ts';
import { buildFormWhenStale } from '../lib/pages/page-build.ts';
import { ROOT } from '../lib/paths.ts';
import { stateFileOf } from '../lib/running-stack.ts';
import { formatAnnouncement } from './announcement.ts';
import { lockDataFolder, openDataFolder, waitForEndOfEngine } from './data-folder.ts';
import { engineNames } from './database/engines.ts';
import { seedTable } from './seed.ts';
import { readSettings, type Settings } from './settings.ts';
import { startStack, type Stack } from './stack.ts';

/** Returns when the stack runs. From then on, signal handlers end the process. */
export const main: Main = async (args, io) => {
  const settings = readSettings(args, io.env);
  // Only this user may read the files.
  process.umask(0o077);
  openDataFolder(settings.folder);
  const unlock = lockDataFolder(settings.folder);
  try {
    await start(settings, io);
    process.on('exit', unlock);
  } catch (error) {
    unlock();
    throw error;
  }
};

async function start(settings: Settings, io: Io): Promise<void> {
  const { folder, liveForm, reset, seed } = settings;
  await waitForEndOfEngine(folder);
  await refusePortsInUse(settings);
  if (reset) {
    for (const name of engineNames) rmSync(join(folder, name), { recursive: true, force: true });
  }
  if (!liveForm) await buildFormWhenStale();
  const branding = readFileSync(join(ROOT, 'web/config.example.json'), 'utf8');
  const stack = await startStack({
    ...settings,
    keysFile: join(folder, 'issuer-keys.json'),
    branding: JSON.parse(branding) as Record<string, unknown>,
  });
  endWith(stack, folder, io);
  // No connection comes earlier: since the gateway listens, only promises were resolved.
  writeFileSync(stateFileOf(folder), `${JSON.stringify(stack.state, null, 2)}\n`);
  if (liveForm) await reloadOnChange(stack, io);
  const seeded = seed && (await seedTable(stack.state.engine, stack.state.table, seed));
  io.stdout.write(`${formatAnnouncement(stack, settings, seeded)}\n`);
}

if (import.meta.main) await runCommand(main);

/** @throws UsageError naming the option whose port is in use. */
async function refusePortsInUse({ port, inspect = 0 }: Settings): Promise<void> {
  const ports = port === 0 ? [] : [0, 1, 2, 3, 4, 5, 6, 7].map((offset) => port + offset);
  for (const one of [...ports, inspect]) {
    if (one === 0 || !(await isListening(one))) continue;
    const option = one === inspect ? '--inspect=PORT' : '--port (0 = any free port)';
    throw new UsageError(`Port ${one} is in use; choose another with ${option}.`);
  }
}

/**
 * Ends the process when a part fails, or after all parts on a signal and when npm ends. A second signal ends it at
 * once.
 */
function endWith(stack: Stack, folder: string, { stdout, stderr, env }: Io): void {
  process.on('exit', () => rmSync(stateFileOf(folder), { force: true }));
  const fail = (message: string | undefined): never => {
    stderr.write(`${message}\n`);
    process.exit(1);
  };
  void stack.engine.failed.then(({ message }) => fail(message));
  // dynalite throws from callbacks, for example on a full disk.
  process.on('uncaughtException', (error: NodeJS.ErrnoException) =>
    fail(error.code === undefined ? error.stack : error.message),
  );

  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) process.exit(130);
    stopping = true;
    await stack.close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop());
  // A closed pipe must not end the process first.
  stdout.on('error', () => undefined);
  onEndOfNpm(env, () => void stop());
}

/** Reloads once for changes within 100 ms, such as those of git checkout. */
async function reloadOnChange(stack: Stack, { stdout }: Io): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(
    ['src', 'mail', 'text', 'inbox'].map((room) => join(ROOT, room)),
    { ignoreInitial: true },
  );
  watcher.on('all', (_event, file) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      stack.reload();
      stdout.write(`${relative(ROOT, file)} changed: reloaded\n`);
    }, 100);
  });
  await once(watcher, 'ready');
}
