/**
 * The commands with a real Terraform on an emulator of AWS, in copies of the project. Stubs are: the build (dist/ and
 * web/dist/ are built before), git, and the smoke test, since moto runs no API.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { S3 } from '@aws-sdk/client-s3';
import { unzipSync, zipSync } from 'fflate';
import { copySources, hasOldProvider } from '../infra/module-copy.ts';
import { terraformEnv } from '../../deploy/terraform.ts';
import { run } from '../../lib/terminal/run.ts';
import { ROOT } from '../../lib/paths.ts';
import { toAwsEnv } from '../local/aws.ts';
import { startEmulatorProxy } from './emulator.ts';
import { unless } from '../helpers/needs.ts';
import { splitWords } from '../local/io.ts';

export const endpoint = process.env['AWS_ENDPOINT_URL'] ?? '';
export const clientOf = (url: string) => ({
  endpoint: url,
  region: 'eu-central-1' as const,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

export const needsEmulator = unless(
  endpoint === '' ? 'AWS_ENDPOINT_URL names no emulator of AWS' : undefined,
);

const none = { count: 0 };
const ignore = (...ignore_changes: string[]) => ({ lifecycle: { ignore_changes } });
const without = (block: string) => ({ dynamic: { [block]: { for_each: [], content: {} } } });
/**
 * Overrides by module, for what moto lacks, enforces without its conditions or reads back otherwise than written. Plans have it all
 * (tests/infra/golden).
 */
const OVERRIDES: Record<string, object> = {
  bootstrap: {
    aws_s3_bucket_lifecycle_configuration: { state: none },
    aws_s3_bucket_policy: { state: none },
  },
  function: {
    aws_lambda_function: { this: without('logging_config') },
    aws_lambda_event_source_mapping: {
      queue: ignore('function_name'),
      stream: ignore('function_name'),
    },
  },
  identity: {
    aws_cognito_user_pool: { this: ignore('username_attributes', 'username_configuration') },
  },
  mailer: {
    aws_s3_bucket_policy: { mails: { for_each: {} } },
    aws_sesv2_configuration_set: {
      this: ignore('delivery_options', 'tracking_options', 'vdm_options'),
      team: ignore('delivery_options', 'tracking_options', 'vdm_options'),
    },
    aws_sesv2_configuration_set_event_destination: {
      metrics: { for_each: {} },
      team: { for_each: {} },
    },
    aws_sqs_queue: { ses: ignore('redrive_policy') },
  },
  site: {
    aws_cloudfront_distribution: {
      this: {
        ...ignore('default_cache_behavior', 'origin', 'viewer_certificate'),
        default_cache_behavior: {
          target_origin_id: 'bucket',
          viewer_protocol_policy: 'allow-all',
          allowed_methods: ['GET', 'HEAD'],
          cached_methods: ['GET', 'HEAD'],
        },
      },
    },
    aws_cloudfront_response_headers_policy: { this: none },
    aws_s3_bucket_policy: { this: none },
  },
};

/** A temporary folder with commands and modules, without this checkout's settings, state and lock files. */
export function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'apply-test-'));
  for (const name of ['bin', 'home', 'tmp']) mkdirSync(join(folder, name));
  for (const name of ['deploy', 'lib', 'src', 'text']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  const { TF_PLUGIN_DIR: given } = process.env;
  copySources(folder, !given || hasOldProvider(process.env));
  for (const [module, resource] of Object.entries(OVERRIDES)) {
    const file = join(folder, 'infra/terraform', module, 'emulator_override.tf.json');
    writeFileSync(file, JSON.stringify({ resource }));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

/**
 * For Terraform and commands; vitest.config.ts removes this machine's AWS settings. Most of a plan's CPU time is the
 * provider's schema, of which the collector of Go takes half.
 */
export const emulatorEnv = (url: string) =>
  terraformEnv({ ...toAwsEnv(url), GOGC: '400', GOMAXPROCS: '1' });

export function startCommand(
  folder: string,
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
) {
  const child = spawn(process.execPath, [join(folder, 'deploy', `${command}.ts`), ...args], {
    cwd: folder,
    env: { ...env, TMPDIR: join(folder, 'tmp') },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [code]]) => ({ code: code as number | null, output: stdout + stderr }),
  );
  return { child, ended };
}

/** A stage with fewer resources: its own issuer and page. */
export const OWN = {
  issuer: 'https://issuer.example.com',
  audience: ['client'],
  cors_origin: 'https://www.example.com',
};

export type Stages = Awaited<ReturnType<typeof createStages>>;

/**
 * Stages of a new service on an emulator behind a proxy, with a bucket for their state.
 *
 * @param kind - Begins the service's unique name.
 * @param stages - The settings.
 * @param reach - See {@link startEmulatorProxy}.
 */
export async function createStages(
  kind: string,
  stages: Record<string, object>,
  reach?: Parameters<typeof startEmulatorProxy>[1],
) {
  const emulator = await startEmulatorProxy(endpoint, reach);
  const client = clientOf(emulator.url);
  const { region } = client;
  const name = `${kind}-${crypto.randomUUID().slice(0, 8)}`;
  const bucket = `${name}-state`;
  const folder = copyProject();
  for (const path of ['dist', 'web/dist', 'web/public']) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  const configure = (settings: object): void =>
    writeFileSync(
      join(folder, 'infra/terraform/stages.auto.tfvars.json'),
      JSON.stringify({ stages: settings }),
    );
  configure(stages);
  const files = {
    'bin/git': '#!/bin/sh\n',
    'bin/npm': '#!/bin/sh\n',
    'deploy/checks/stage.ts': `export async function testStage(outputs, form, { io, interruption }) {
  await fetch(io.env.AWS_ENDPOINT_URL + '/smoke-test');
  interruption.throwIfAborted();
  return [];
}`,
    'infra/terraform/backend.s3.tfbackend': `bucket = "${bucket}"
region = "${region}"
use_path_style = true
allowed_account_ids = ["123456789012"]
`,
  };
  for (const [path, content] of Object.entries(files)) {
    writeFileSync(join(folder, path), content, { mode: 0o755 });
  }
  const s3 = new S3({ ...client, forcePathStyle: true });
  const CreateBucketConfiguration = { LocationConstraint: region } as const;
  await s3.createBucket({ Bucket: bucket, CreateBucketConfiguration });
  const env = {
    ...emulatorEnv(emulator.url),
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    TF_VAR_name: name,
  };
  return {
    name,
    folder,
    bucket,
    client,
    s3,
    env,
    configure,
    change(zip: 'inquiries.zip' | 'mailer.zip', code: string): void {
      const modules = Object.entries(unzipSync(readFileSync(join(ROOT, 'dist', zip)))).map(
        ([file, content]) => [file, Buffer.concat([content, Buffer.from(`\n${code}`)])],
      );
      // The same code is the same package, whenever it is written.
      const content = zipSync(Object.fromEntries(modules), { mtime: '1980-01-01T00:00:00' });
      writeFileSync(join(folder, 'dist', zip), content);
    },
    start: (command: string, args: string) => startCommand(folder, command, splitWords(args), env),
    terraform: (stage: string, ...args: string[]) =>
      run('terraform', args, {
        cwd: join(folder, 'infra/terraform'),
        env: { ...env, TF_WORKSPACE: stage },
      }),
    remove: async (): Promise<void> => {
      s3.destroy();
      rmSync(folder, { recursive: true, force: true });
      await emulator.stop();
    },
  };
}
