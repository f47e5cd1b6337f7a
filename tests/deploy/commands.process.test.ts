/** Each command once as a process of its own, and what only processes have: signals, and Ctrl-C at a terminal. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { run } from '../../deploy/terraform.ts';
import { readIfThere } from '../../lib/command-line.ts';
import { MODULE, ROOT } from '../../lib/paths.ts';
import { ACCOUNT, callerIdentity, startAws } from '../helpers/aws.ts';

// util-linux's script gives a command a terminal.
const hasScript = (await run('script', ['--version'])).code === 0;
if (!hasScript) {
  process.stdout.write('\nSKIPPED: commands at a terminal, because `script` is not on the PATH.\n');
}

/**
 * Programs on the PATH: a terraform that only says its version, and an npm whose build waits for a signal. The commands do
 * not get further than that, because they run in this checkout.
 */
const PROGRAMS = {
  git: '[ "$1" = status ] || echo abc1234',
  terraform: `echo '{"terraform_version":"1.11.4"}'`,
  npm: `
trap 'echo SIGINT >> "$0.calls"' INT
trap 'echo SIGTERM >> "$0.calls"' TERM
echo waits >> "$0.calls"
until [ -e "$0.end" ]; do sleep 0.02; done
echo built && echo built >> "$0.calls"
exit 1`,
};
const folder = mkdtempSync(join(tmpdir(), 'commands-'));
const aws = await startAws();
// A checkout that has been set up names its account, which the command compares with that of the credentials.
const place = ['develop', 'backend'].map(
  (name) => readIfThere(join(MODULE, `${name}.s3.tfbackend`)) ?? '',
);
const [, account = ACCOUNT] = /allowed_account_ids\s*=\s*\["(\d+)"/.exec(place.join('\n')) ?? [];
aws.state.answers['GetCallerIdentity'] = () => callerIdentity(account);
const calls = () => readIfThere(join(folder, 'bin/npm.calls'))?.trim().split('\n') ?? [];
beforeEach(() => {
  rmSync(join(folder, 'bin'), { recursive: true, force: true });
  mkdirSync(join(folder, 'bin'));
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`, {
      mode: 0o755,
    });
  }
});
afterAll(async () => {
  await aws.close();
  rmSync(folder, { recursive: true, force: true });
});

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
  // In the place of a file with the place of the state.
  TF_CLI_ARGS_init: '-backend-config=bucket=b',
});
const script = (name: string) => join(ROOT, 'deploy', `${name}.ts`);
const awaitBuild = (call: string) =>
  vi.waitFor(() => expect(calls()).toContain(call), { timeout: 20_000, interval: 20 });

it.each([
  ['bootstrap', [], 2, 'There is no terminal for the confirmation; pass --yes or --plan-only.\n'],
  ['check-infra', ['--all'], 2, "Unknown option '--all' (see --help)\n"],
  [
    'deploy',
    ['develop'],
    2,
    'There is no terminal for the confirmation; pass --yes or --plan-only.\n',
  ],
  [
    'rollback',
    ['release'],
    2,
    'There is no terminal for the confirmation; pass --yes or --list.\n',
  ],
  ['smoke', ['--url', 'x'], 2, "--url must be an http or https URL, not 'x'\n"],
])('npm run %s %j ends with its exit code, in one line', async (name, args, code, output) => {
  const outcome = await run(process.execPath, [script(name), ...args], { env: environment() });
  expect(outcome).toEqual({ code, stdout: '', output });
});

/** Reads what a command prints, until it says that it waits. */
async function awaitWaiting(stream: Readable): Promise<void> {
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    if (String(chunk).includes('waiting for npm run build to end')) return;
  }
}

/** Lets the build end, which no signal has reached; the command then ends, too. */
async function expectEnd(child: ChildProcess, stream: Readable, exitCode: number): Promise<void> {
  const output = text(stream);
  writeFileSync(join(folder, 'bin/npm.end'), '');
  const [code] = (await once(child, 'close')) as [number | null];
  expect([code, calls()]).toEqual([exitCode, ['waits', 'built']]);
  expect(await output).toContain('Interrupted. Nothing was changed. Run the same command again.');
}

it('a program of npm run deploy goes on when the command is killed, and can print', async () => {
  const child = spawn(process.execPath, [script('deploy'), 'develop', '--yes'], {
    env: environment(),
    stdio: 'ignore',
  });
  await awaitBuild('waits');
  child.kill('SIGKILL');
  await once(child, 'close');
  writeFileSync(join(folder, 'bin/npm.end'), '');
  await awaitBuild('built');
  expect(calls()).toEqual(['waits', 'built']);
});

it('npm run rollback --list ends in order if nobody reads its output to the end', async () => {
  const command = `set -o pipefail; "${process.execPath}" "${script('rollback')}" develop --list | true`;
  expect(await run('bash', ['-c', command], { env: environment() })).toMatchObject({ code: 0 });
});

it.skipIf(!hasScript)(
  'Ctrl-C at a terminal does not reach a program of npm run deploy',
  async () => {
    const command = `"${process.execPath}" "${script('deploy')}" develop --yes`;
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: environment() });
    await awaitBuild('waits');
    child.stdin.write('\u0003');
    await awaitWaiting(child.stdout);
    child.stdin.write('\u0003');
    await expectEnd(child, child.stdout, 130);
  },
);
