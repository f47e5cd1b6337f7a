/** Each command once as a process, and Ctrl-C. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { readBackend } from '../../deploy/stage.ts';
import { isAlive } from '../../lib/running-stack.ts';
import { run } from '../../lib/terminal/run.ts';
import { ROOT } from '../../lib/paths.ts';
import { ACCOUNT, callerIdentity, startAws, stubAws } from '../local/aws.ts';
import { createFolder } from '../local/data-folder.ts';

/** A build that waits and records a signal: the command gets no further in this checkout. */
const NPM = `#!/bin/sh
PATH=/usr/bin:/bin
trap 'touch "$0.signalled"' INT TERM
touch "$0.waits"
until [ -e "$0.end" ] || [ ! -e "$0" ]; do sleep 0.02; done
exit 1
`;
const folder = createFolder(afterAll);
const npm = join(folder, 'npm');
writeFileSync(npm, NPM, { mode: 0o755 });
const terraform = join(folder, 'terraform');
const writeTerraform = (version: string) =>
  writeFileSync(terraform, `#!/bin/sh\necho '{"terraform_version":"${version}"}'\n`, {
    mode: 0o755,
  });
const aws = await startAws();
// A set-up checkout names its account, which is compared with the credentials'.
const { allowed_account_ids: account = ACCOUNT } = readBackend();
aws.state.answers['GetCallerIdentity'] = () => callerIdentity(account);
afterAll(aws.close);
beforeEach(() => {
  writeTerraform('1.11.0');
  stubAws(aws.env);
});
const env = () => ({ ...process.env, PATH: `${folder}:/usr/bin:/bin` });
const script = (name: string) => join(ROOT, 'deploy', `${name}.ts`);
const NO_STAGE = '"x" is not a stage; stages are develop, main, release.\n';

it.each([
  ['bootstrap', '--all', "Unknown option '--all' (see --help)\n"],
  ['deploy', 'x', NO_STAGE],
  ['rollback', 'x', NO_STAGE],
  ['smoke', 'x', NO_STAGE],
])('npm run %s %s ends with exit code 2, in one line', async (name, argument, output) => {
  const outcome = await run(process.execPath, [script(name), argument], { env: env() });
  expect(outcome).toEqual({ code: 2, stdout: '', output });
});

it('looks for Terraform before anything is built or created', async () => {
  const outcomeOf = async (...[name = '', ...args]: string[]) => {
    const outcome = await run(process.execPath, [script(name), ...args], { env: env() });
    return [outcome.code, outcome.output];
  };
  const refusesFor = async (reason: string) => {
    expect(await outcomeOf('deploy', 'develop')).toEqual([2, `${reason}\n`]);
    // Bootstrap names all that an account lacks at once.
    const title = 'Terraform is there and new enough'.padEnd(48);
    expect(await outcomeOf('bootstrap')).toEqual([
      2,
      expect.stringMatching(RegExp(`^failed   ${title} ${reason}\n[^]*\nNothing was changed\\.`)),
    ]);
  };
  writeTerraform('1.9.8');
  await refusesFor('terraform is 1.9.8; version 1.11 or later is needed.');
  rmSync(terraform);
  await refusesFor('terraform is not on the PATH; version 1.11 or later is needed.');
});

it('takes a process for ended whose parent does not ask for its exit code', async () => {
  const parent = spawn('sh', ['-c', 'true & echo $!; exec sleep 300']);
  onTestFinished(() => void parent.kill());
  const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
  await expect.poll(() => isAlive(Number(pid))).toBe(false);
});

it('names the signal that ended a program', async () => {
  const output = 'sh was ended by SIGTERM.\n';
  expect(await run('sh', ['-c', 'kill $$'])).toEqual({ code: 127, stdout: '', output });
});

it('Ctrl-C, which the whole process group gets, does not reach a program of npm run deploy', async () => {
  const args = [script('deploy'), 'develop', '--yes'];
  const child = spawn(process.execPath, args, { env: env(), detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => void (output += String(chunk)));
  }
  const wait = (isReached: () => boolean) =>
    vi.waitFor(() => expect(isReached()).toBe(true), { timeout: 300_000, interval: 20 });
  await wait(() => existsSync(`${npm}.waits`));
  const second = await run(process.execPath, args, { env: env() });
  expect(second).toMatchObject({
    code: 2,
    output: `npm run deploy -- develop --yes (process ${child.pid}) uses this checkout. Wait for its end, or work in another clone.\n`,
  });
  for (const times of [1, 2]) {
    process.kill(-Number(child.pid), 'SIGINT');
    await wait(() => output.split('waiting for npm run build').length === times + 1);
  }
  const closed = once(child, 'close');
  writeFileSync(`${npm}.end`, '');
  expect([(await closed)[0], existsSync(`${npm}.signalled`)]).toEqual([130, false]);
  expect(output).toContain('Interrupted. Nothing was changed. Run it again');
});
