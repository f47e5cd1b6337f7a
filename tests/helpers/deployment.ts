/**
 * `npm run deploy` in a temporary copy of scripts/, src/ and web/src/: with stubs for terraform, git, npm, the smoke test
 * and the versions of the function, and with a server for the AWS APIs that the command calls itself; or with a real
 * Terraform on an emulator of AWS.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { ROOT } from '../../scripts/infra/terraform.ts';
import { close, listen } from '../../scripts/local/server.ts';

export interface Change {
  readonly address: string;
  readonly actions: readonly string[];
  readonly before?: object;
  readonly action_reason?: string;
}

/** What the stubs answer. The default is a clean checkout, a place of the state, and a plan that changes the function. */
export interface World {
  /** Name and version of the program. */
  program: string;
  terraform: string;
  /** Output of git status. */
  dirty: string;
  /** The command that fails, such as `terraform plan`, and its error. */
  failing: string;
  error: string;
  /** The command that waits for a signal, records each one, and fails once the file `end` exists. */
  hanging: string;
  /** The program that is not on the PATH. */
  missing: string;
  /** Files in infra/terraform. */
  moduleFiles: Record<string, string>;
  changes: readonly Change[];
  /** Changes of the second half of a gradual deployment. */
  rest: readonly Change[];
  outputChanges: Record<string, { actions: string[] }>;
  /** Output of `terraform show PLAN`. */
  diff: string;
  outputs: Record<string, unknown>;
  /** Resources in the state. */
  resources: { address: string; type: string; tainted?: boolean }[];
  /** Whether the smoke test fails. */
  isBroken: boolean;
}

const DEFAULT: World = {
  program: 'terraform',
  terraform: '1.11.4',
  dirty: '',
  failing: '',
  error: 'it went wrong',
  hanging: '',
  missing: '',
  moduleFiles: { 'backend.s3.tfbackend': 'bucket = "b"\nallowed_account_ids = ["111122223333"]\n' },
  changes: [{ address: 'aws_lambda_function.this', actions: ['update'] }],
  rest: [{ address: 'aws_lambda_alias.live', actions: ['update'] }],
  outputChanges: {},
  diff: `
Terraform used the selected providers to generate the following execution
plan. Resource actions are indicated with the following symbols:
  ~ update in-place
-/+ destroy and then create replacement

Terraform will perform the following actions:

  # aws_lambda_function.this will be updated in-place`,
  outputs: {
    api_url: 'https://api.example.com',
    cors_origin: 'https://www.example.com',
    dashboard_url: 'https://console.example.com/dashboard',
    site: null,
    form_config: null,
    connect_origins: [],
    smoke_sign_in: null,
    dns_records: [],
  },
  resources: [],
  isBroken: false,
};

/** The outputs of a stage with a form, a user pool and an alias. */
export const FORM_OUTPUTS = {
  ...DEFAULT.outputs,
  live_alias: { function_name: 'inquiries-develop', name: 'live', version: '4' },
  site: { bucket: 'form-bucket', distribution_id: 'E2', url: 'https://d1.example.com/' },
  form_config: {
    issuer: 'https://issuer.example.com/pool',
    clientId: 'c1',
    apiUrl: 'https://api.example.com',
  },
  connect_origins: ['https://issuer.example.com', 'https://api.example.com'],
  smoke_sign_in: { user_pool_id: 'eu_1', client_id: 'c2' },
};

/** A program that records its call, and answers from world.json. */
const stub = (folder: string) => `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync } = require('node:fs');
const { basename } = require('node:path');
const folder = ${JSON.stringify(folder)};
const world = JSON.parse(readFileSync(folder + '/world.json', 'utf8'));
const called = basename(process.argv[1]);
const args = process.argv.slice(2);
const shift = process.env.TF_VAR_shift ? ' with shift ' + process.env.TF_VAR_shift : '';
const record = (line) => appendFileSync(folder + '/calls', line + '\\n');
record([called, ...args].join(' ') + shift);
const name = called === world.program ? 'terraform' : called;
const key = name + ' ' + args[0];
const fail = () => {
  console.error('what was planned\\n\\nError: ' + world.error);
  process.exit(1);
};
if (key === world.failing) fail();
if (key === world.hanging) {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => record(key + ' got ' + signal));
  record(key + ' waits');
  setInterval(() => existsSync(folder + '/end') && fail(), 20);
} else if (key === 'terraform version') {
  console.log(JSON.stringify({ terraform_version: world.terraform }));
} else if (key === 'terraform show' && args.length === 2) {
  console.log(JSON.stringify({ values: { root_module: { resources: world.resources } } }));
} else if (key === 'terraform show' && args[1] === '-json') {
  const changes = args[2].endsWith('-rest') ? world.rest : world.changes;
  console.log(JSON.stringify({
    resource_changes: changes.map(({ address, actions, action_reason, before = null }) => ({
      address, type: address.split('.')[0], action_reason, change: { actions, before },
    })),
    output_changes: world.outputChanges,
  }));
} else if (key === 'terraform show') {
  console.log(world.diff);
} else if (key === 'terraform output') {
  const outputs = Object.entries(world.outputs).map(([output, value]) => [output, { value }]);
  console.log(JSON.stringify(Object.fromEntries(outputs)));
} else if (key === 'git rev-parse') {
  console.log('abc1234');
} else if (key === 'git status') {
  process.stdout.write(world.dirty);
} else if (name === 'smoke.ts') {
  process.exit(world.isBroken ? 1 : 0);
}
`;

const PAGE = `<meta content="default-src 'none'; connect-src 'self' https: http://localhost:*; base-uri 'none'" />`;
const VERSIONS = (folder: string) => `
import { appendFileSync } from 'node:fs';
const record = (line) => appendFileSync(${JSON.stringify(join(folder, 'calls'))}, line + '\\n');
export const pruneVersions = async (name, keep) => {
  record('prune ' + name + ' ' + keep);
  return ['1', '2'];
};
export const switchAlias = async (name, version) => record('switch ' + name + ' ' + version);
`;

/** The APIs that the command calls itself: STS, S3, CloudFront, CloudWatch. */
function createAws() {
  /** Key → file in the bucket, by `/BUCKET/KEY`. */
  const objects = new Map<string, { body: string; type: string; cache: string }>();
  const state = {
    url: '',
    objects,
    /** `METHOD PATH` of the requests to S3 that write, and to CloudFront with its paths, in their order. */
    writes: [] as string[],
    /** The alarms that ring at each question; the last answer is repeated. */
    ringing: [[]] as string[][],
  };
  const answer = async (request: IncomingMessage): Promise<[number, string, Record<string, string>?]> => {
    const { method = '', url = '', headers } = request;
    const body = await text(request);
    if (body.includes('GetCallerIdentity')) {
      const account = '<GetCallerIdentityResult><Account>111122223333</Account></GetCallerIdentityResult>';
      return [200, `<GetCallerIdentityResponse>${account}</GetCallerIdentityResponse>`];
    }
    if (String(headers['x-amz-target']).endsWith('DescribeAlarms')) {
      const names = (state.ringing.length > 1 ? state.ringing.shift() : state.ringing[0]) ?? [];
      return [200, JSON.stringify({ MetricAlarms: names.map((AlarmName) => ({ AlarmName })) })];
    }
    const [path = ''] = url.split('?');
    if (path.endsWith('/invalidation')) {
      state.writes.push(
        `invalidate ${[...body.matchAll(/<Path>(.*?)<\/Path>/g)].map(([, item]) => item).join(' ')}`,
      );
      return [201, '<Invalidation><Id>I1</Id></Invalidation>'];
    }
    const object = objects.get(path);
    if (method === 'PUT') {
      state.writes.push(`put ${path}`);
      const { 'content-type': type = '', 'cache-control': cache = '' } = headers;
      objects.set(path, { body, type, cache });
      return [200, ''];
    }
    if (method !== 'HEAD' || object === undefined) return [404, ''];
    const etag = `"${createHash('md5').update(object.body).digest('hex')}"`;
    return [200, '', { etag, 'content-type': object.type, 'cache-control': object.cache }];
  };
  const server = createServer((request, response) => {
    void answer(request).then(([status, body, headers = {}]) =>
      response.writeHead(status, headers).end(body),
    );
  });
  return { state, server };
}

/** A temporary folder with what the command needs of the project. */
function copyProject(folders: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'deploy-test-'));
  for (const name of ['bin', 'dist', 'home', 'tmp', ...folders]) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  for (const name of ['scripts', 'src', 'web/src']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Starts the command in such a folder; `ended` is its exit code and output. */
function startDeployment(folder: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [join(folder, 'scripts/deploy.ts'), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [code]]) => ({ code: code as number | null, output: stdout + stderr }),
  );
  return { child, ended };
}

export async function createDeployment() {
  const folder = copyProject(['infra/terraform/.terraform', 'web/dist/assets']);
  const { state: aws, server } = createAws();
  aws.url = `http://127.0.0.1:${await listen(server, 0)}`;
  const files = {
    'package.json': '{"type":"module"}',
    'bin/package.json': '{"type":"commonjs"}',
    'dist/inquiries.zip': 'inquiries',
    'dist/mailer.zip': 'mailer',
    'web/dist/index.html': PAGE,
    'web/dist/favicon.svg': '<svg/>',
    'web/dist/assets/index-1.js': 'script',
    'web/dist/assets/index-1.css': 'style',
    'scripts/infra/versions.ts': VERSIONS(folder),
    // process.argv[1] is still scripts/smoke.ts, from which the stub has its name.
    'scripts/smoke.ts': "import '../bin/smoke.cjs';",
    'bin/smoke.cjs': stub(folder),
    calls: '',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);

  function arrange(changes: Partial<World>): void {
    const world = { ...DEFAULT, ...changes };
    writeFileSync(join(folder, 'world.json'), JSON.stringify(world));
    for (const name of [world.program, 'git', 'npm']) {
      writeFileSync(join(folder, 'bin', name), stub(folder), { mode: 0o755 });
      if (name === world.missing) rmSync(join(folder, 'bin', name));
    }
    rmSync(join(folder, 'infra/terraform/backend.s3.tfbackend'), { force: true });
    for (const [name, content] of Object.entries(world.moduleFiles)) {
      writeFileSync(join(folder, 'infra/terraform', name), content);
    }
  }
  arrange({});

  const environment = (env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    PATH: join(folder, 'bin'),
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_ENDPOINT_URL: aws.url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-central-1',
    ...env,
  });
  const start = (args: string, env?: NodeJS.ProcessEnv) =>
    startDeployment(folder, args.split(' '), environment(env));
  const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return {
    folder,
    aws,
    arrange,
    environment,
    start,
    deploy: (args: string, env?: NodeJS.ProcessEnv) => start(args, env).ended,
    calls,
    applied: () => calls().some((call) => call.startsWith('terraform apply')),
    remove: async () => {
      await close(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Deployment = Awaited<ReturnType<typeof createDeployment>>;

/** What the emulator does not do, for the output of tests. */
export const STAGE_LEFT_OUT = [
  'the build and git are stubs: the functions and the form are those in dist/ and web/dist/',
  'the smoke test is a stub that asks for /smoke-test: moto runs no function',
];

/**
 * Stages of a service on an emulator of AWS, with a bucket for their state.
 *
 * @param name - Of the service; unique on the emulator.
 * @param url - Of the proxy in front of the emulator.
 * @param stages - The settings.
 */
export async function createStages(name: string, url: string, stages: Readonly<Record<string, object>>) {
  const region = 'eu-central-1';
  const client = {
    endpoint: url,
    region,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
  const bucket = `${name}-state`;
  const folder = copyProject(['infra/terraform']);
  for (const path of ['dist', 'web/dist']) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  for (const path of globSync('infra/terraform/{*.tf,*.json}', { cwd: ROOT })) {
    if (!/_override\.tf|\.auto\.tfvars/.test(path)) cpSync(join(ROOT, path), join(folder, path));
  }
  const files = {
    'package.json': '{"type":"module"}',
    'bin/git': '#!/bin/sh\n[ "$1" = status ] || echo abc1234\n',
    'bin/npm': '#!/bin/sh\n',
    // Asks for something, so that a test can wait for it.
    'scripts/smoke.ts': `await fetch(process.env.AWS_ENDPOINT_URL + '/smoke-test');`,
    'infra/terraform/backend.s3.tfbackend': `bucket = "${bucket}"
region = "${region}"
use_path_style = true
allowed_account_ids = ["123456789012"]
`,
    'infra/terraform/stages.auto.tfvars.json': JSON.stringify({ stages }),
  };
  for (const [path, content] of Object.entries(files))
    writeFileSync(join(folder, path), content, { mode: 0o755 });
  const s3 = new S3Client({ ...client, forcePathStyle: true });
  const CreateBucketConfiguration = { LocationConstraint: region } as const;
  await s3.send(new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration }));

  const inherited = Object.entries(process.env).filter(([key]) => !/^(AWS_|TF_VAR_)/.test(key));
  const env = {
    ...Object.fromEntries(inherited),
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    TMPDIR: join(folder, 'tmp'),
    AWS_ENDPOINT_URL: url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: region,
    TF_VAR_name: name,
    TF_VAR_runtime: 'nodejs22.x', // the newest one that provider 5.100 knows
  };
  return {
    folder,
    bucket,
    /** For other clients of the SDK. */
    client,
    s3,
    start: (...args: readonly string[]) => startDeployment(folder, args, env),
    remove: (): void => {
      s3.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
