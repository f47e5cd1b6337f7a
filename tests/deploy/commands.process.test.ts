/** Each command once as a process of its own, and what only processes have: signals, and Ctrl-C at a terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { parseBackend } from '../../deploy/account.ts';
import { run } from '../../deploy/terraform.ts';
import { readIfThere } from '../../lib/command-line.ts';
import { MODULE, ROOT } from '../../lib/paths.ts';
import { ACCOUNT, callerIdentity, startAws } from '../helpers/aws.ts';

// util-linux's script gives a command a terminal.
const hasScript = (await run('script', ['--version'])).code === 0;
if (!hasScript) {
  process.stdout.write('\nSKIPPED: commands at a terminal, because `script` is not on the PATH.\n');
}

/** Programs on the PATH: a build that waits for a signal. The command does not get further, since it runs in this checkout. */
const NPM = `#!/bin/sh
PATH=/usr/bin:/bin
trap 'echo SIGINT >> "$0.calls"' INT
trap 'echo SIGTERM >> "$0.calls"' TERM
echo waits >> "$0.calls"
until [ -e "$0.end" ]; do sleep 0.02; done
echo built && echo built >> "$0.calls"
exit 1
`;
const folder = mkdtempSync(join(tmpdir(), 'commands-'));
const aws = await startAws();
// A checkout that has been set up names its account, which the command compares with that of the credentials.
const { account = ACCOUNT } = parseBackend(readIfThere(join(MODULE, 'backend.s3.tfbackend')) ?? '');
aws.state.answers['GetCallerIdentity'] = () => callerIdentity(account);
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'npm'), NPM, { mode: 0o755 });
});
afterAll(async () => {
  await aws.close();
  rmSync(folder, { recursive: true, force: true });
});

const calls = () => readIfThere(join(folder, 'npm.calls'))?.trim().split('\n') ?? [];
const awaitCall = (call: string) =>
  vi.waitFor(() => expect(calls()).toContain(call), { timeout: 20_000, interval: 20 });
const environment = () => ({ ...process.env, PATH: `${folder}:/usr/bin:/bin` });
const script = (name: string) => join(ROOT, 'deploy', `${name}.ts`);
const NO_TERMINAL = 'There is no terminal for the confirmation; pass --yes';

it.each([
  ['bootstrap', [], `${NO_TERMINAL}.\n`],
  ['check-infra', ['--all'], "Unknown option '--all' (see --help)\n"],
  ['deploy', ['develop'], `${NO_TERMINAL} or --plan-only.\n`],
  ['rollback', ['release'], `${NO_TERMINAL} or --list.\n`],
  ['smoke', ['--url', 'x'], "--url must be an http or https URL, not 'x'\n"],
])('npm run %s %j ends with exit code 2, in one line', async (name, args, output) => {
  const outcome = await run(process.execPath, [script(name), ...args], { env: environment() });
  expect(outcome).toEqual({ code: 2, stdout: '', output });
});

it.skipIf(!hasScript)(
  'Ctrl-C at a terminal does not reach a program of npm run deploy',
  async () => {
    const command = `"${process.execPath}" "${script('deploy')}" develop --yes`;
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: environment() });
    let output = '';
    child.stdout.on('data', (chunk) => void (output += String(chunk)));
    await awaitCall('waits');
    for (const times of [1, 2]) {
      child.stdin.write('\u0003');
      await vi.waitFor(() =>
        expect(output.split('waiting for npm run build')).toHaveLength(times + 1),
      );
    }
    const closed = once(child, 'close');
    writeFileSync(join(folder, 'npm.end'), '');
    expect([(await closed)[0], calls()]).toEqual([130, ['waits', 'built']]);
    expect(output).toContain('Interrupted. Nothing was changed. Run the same command again.');
  },
);
