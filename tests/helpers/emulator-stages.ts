/** The commands with a real Terraform on an emulator of AWS, in temporary copies of the project. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { S3 } from '@aws-sdk/client-s3';
import { run, terraformEnv } from '../../deploy/terraform.ts';
import { ROOT } from '../../lib/paths.ts';

/** The emulator, where AWS_ENDPOINT_URL names one. */
export const endpoint = process.env['AWS_ENDPOINT_URL'] ?? '';
/** How clients of the SDK reach an emulator, or a proxy in front of it. */
export const clientOf = (url: string) => ({
  endpoint: url,
  region: 'eu-central-1' as const,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

/** Says that tests are skipped, or what they leave out and what is added to the emulator for them. */
export function announce(
  what: string,
  leftOut: readonly string[],
  added: readonly string[] = [],
): void {
  const more = added.length === 0 ? '' : `\n\nADDED to the emulator:\n  ${added.join('\n  ')}`;
  process.stdout.write(
    endpoint === ''
      ? `\nSKIPPED: ${what}, because AWS_ENDPOINT_URL names no emulator of AWS.\n`
      : `\nLEFT OUT of ${what}, because the emulator is moto:\n  ${leftOut.join('\n  ')}${more}\n`,
  );
}

/** A temporary folder with the commands, and with a module: its settings, state and lock file are not those of this checkout. */
export function copyProject(module: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'apply-test-'));
  for (const name of ['bin', 'home', 'tmp', 'infra/terraform']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  for (const name of ['deploy', 'lib', 'src', 'web/src', 'web/ui']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  for (const path of globSync(join(module, '{,*/}{*.tf,*.json}'), { cwd: ROOT })) {
    if (!/_override\.tf|\.auto\.tfvars/.test(path)) cpSync(join(ROOT, path), join(folder, path));
  }
  // lib/stages.ts reads it.
  const service = 'infra/terraform/service.json';
  cpSync(join(ROOT, service), join(folder, service));
  for (const path of globSync(join(module, 'tests/*_override.tf'), { cwd: ROOT })) {
    cpSync(join(ROOT, path), join(folder, module, basename(path)));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

/** The environment of Terraform and of the commands on an emulator, with none of this machine's settings of AWS. */
export const emulatorEnv = (url: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(terraformEnv()).filter(
      ([key]) => !key.startsWith('AWS_') && !key.startsWith('TF_VAR_'),
    ),
  ),
  AWS_ENDPOINT_URL: url,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'eu-central-1',
});

/** Starts a command in such a folder; `ended` is its exit code and output. */
export function startCommand(
  folder: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
) {
  const child = spawn(process.execPath, [join(folder, 'deploy', `${command}.ts`), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group, which a test may signal.
    detached: true,
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [code]]) => ({ code: code as number | null, output: stdout + stderr }),
  );
  return { child, ended };
}

/** What the emulator does not do, for the output of tests. */
export const STAGE_LEFT_OUT = [
  'the build and git are stubs: the functions and the form are those in dist/ and web/dist/',
  'the smoke test is a stub that asks for /smoke-test: moto runs no API',
];

/**
 * Stages of a service on an emulator of AWS, with a bucket for their state.
 *
 * @param name - Of the service; unique on the emulator.
 * @param url - Of the proxy in front of the emulator.
 * @param stages - The settings.
 */
export async function createStages(
  name: string,
  url: string,
  stages: Readonly<Record<string, object>>,
) {
  const client = clientOf(url);
  const { region } = client;
  const bucket = `${name}-state`;
  const folder = copyProject('infra/terraform');
  for (const path of ['dist', 'web/dist', 'web/public']) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  const files = {
    'bin/git': '#!/bin/sh\n',
    'bin/npm': '#!/bin/sh\n',
    'deploy/smoke.ts': `export async function testStage(outputs, form, { env }, interruption) {
  await fetch(env.AWS_ENDPOINT_URL + '/smoke-test');
  interruption.throwIfAborted();
  return true;
}`,
    'infra/terraform/backend.s3.tfbackend': `bucket = "${bucket}"
region = "${region}"
use_path_style = true
allowed_account_ids = ["123456789012"]
`,
    'infra/terraform/stages.auto.tfvars.json': JSON.stringify({ stages }),
  };
  for (const [path, content] of Object.entries(files)) {
    writeFileSync(join(folder, path), content, { mode: 0o755 });
  }
  const s3 = new S3({ ...client, forcePathStyle: true });
  const CreateBucketConfiguration = { LocationConstraint: region } as const;
  await s3.createBucket({ Bucket: bucket, CreateBucketConfiguration });

  const env = {
    ...emulatorEnv(url),
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    TMPDIR: join(folder, 'tmp'),
    TF_VAR_name: name,
  };
  return {
    folder,
    bucket,
    /** For other clients of the SDK. */
    client,
    s3,
    env,
    start: (...args: readonly string[]) => startCommand(folder, 'deploy', args, env),
    rollback: (...args: readonly string[]) => startCommand(folder, 'rollback', args, env).ended,
    /** A plain `terraform`, in the workspace of a stage. */
    terraform: (stage: string, ...args: readonly string[]) =>
      run('terraform', args, {
        cwd: join(folder, 'infra/terraform'),
        env: { ...env, TF_WORKSPACE: stage },
      }),
    /** Deploys the same stages from another clone. */
    startIn: (clone: string, ...args: readonly string[]) =>
      startCommand(clone, 'deploy', args, { ...env, TMPDIR: join(clone, 'tmp') }),
    remove: (): void => {
      s3.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
