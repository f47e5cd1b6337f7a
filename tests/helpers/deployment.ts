/**
 * `npm run deploy` or `npm run bootstrap` in a temporary copy of scripts/, src/ and web/src/, with stubs for terraform, git,
 * npm, the smoke test and the versions of the function, and with a server for the APIs that the command calls itself.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import { run } from '../../deploy/terraform.ts';
import { ROOT } from '../../lib/paths.ts';
import { close, listen } from '../../lib/loopback-server.ts';

/** Whether there is a program that gives a command a terminal: util-linux's script. */
export const hasScript = (await run('script', ['--version'])).code === 0;
if (!hasScript)
  process.stdout.write('\nSKIPPED: commands at a terminal, because `script` is not on the PATH.\n');

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';

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
  /** Files in infra/terraform, by their path there. */
  moduleFiles: Record<string, string>;
  changes: readonly Change[];
  /** Changes of the second half of a gradual deployment. */
  rest: readonly Change[];
  outputChanges: Record<string, { actions: string[] }>;
  /** Output of `terraform show PLAN`. */
  diff: string;
  outputs: Record<string, unknown>;
  /** The state of infra/terraform/bootstrap, local or in the bucket. */
  state: object;
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
  state: { lineage: 'new', resources: [{ type: 'aws_s3_bucket' }] },
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
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const { basename } = require('node:path');
const folder = ${JSON.stringify(folder)};
const world = JSON.parse(readFileSync(folder + '/world.json', 'utf8'));
const called = basename(process.argv[1]);
const args = process.argv.slice(2);
const shift = process.env.TF_VAR_shift ? ' with shift ' + process.env.TF_VAR_shift : '';
const record = (line) => appendFileSync(folder + '/calls', line + '\\n');
// A file with variables is gone when the test reads the calls.
const toText = (arg) => arg.replace(/^-var-file=(.*)/, (_, file) => 'with ' + JSON.stringify(JSON.parse(readFileSync(file, 'utf8'))));
record([called, ...args.map(toText)].join(' ') + shift);
const name = called === world.program ? 'terraform' : called;
const key = name + ' ' + args[0];
const fail = () => {
  console.error('what was planned\\n\\nError: ' + world.error);
  process.exit(1);
};
if (key === world.failing) fail();
const isLocal = existsSync('backend_override.tf') && readFileSync('backend_override.tf', 'utf8').includes('first.tfstate');
if (isLocal && /^terraform (import|apply)$/.test(key)) writeFileSync('first.tfstate', JSON.stringify(world.state));
if (key === world.hanging) {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => record(key + ' got ' + signal));
  record(key + ' waits');
  // Also when the test has gone without it.
  setInterval(() => (existsSync(folder + '/end') || !existsSync(folder)) && fail(), 20);
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
} else if (key === 'terraform state' && args[1] === 'pull') {
  console.log(JSON.stringify({ ...world.state, lineage: 'of the bucket' }));
} else if (key === 'terraform state') {
  readFileSync(args[2]);
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

export const ACCOUNT = '111122223333';

/** Status and body; undefined: no answer. */
type Answer = (request: IncomingMessage) => [number, string] | undefined;

/** The APIs that the command calls itself: STS, S3, CloudFront, CloudWatch, GitHub. */
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
    /** Other answers, by `METHOD PATH`. */
    answers: new Map<string, Answer>(),
  };
  const answer = async (
    request: IncomingMessage,
  ): Promise<[number, string, Record<string, string>?] | undefined> => {
    const { method = '', url = '', headers } = request;
    const body = await text(request);
    const [path = ''] = url.split('?');
    const other = state.answers.get(`${method} ${path}`);
    if (other !== undefined) return other(request);
    if (body.includes('GetCallerIdentity')) {
      const account = `<GetCallerIdentityResult><Account>${ACCOUNT}</Account></GetCallerIdentityResult>`;
      return [200, `<GetCallerIdentityResponse>${account}</GetCallerIdentityResponse>`];
    }
    if (String(headers['x-amz-target']).endsWith('DescribeAlarms')) {
      const names = (state.ringing.length > 1 ? state.ringing.shift() : state.ringing[0]) ?? [];
      return [200, JSON.stringify({ MetricAlarms: names.map((AlarmName) => ({ AlarmName })) })];
    }
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
    void answer(request).then((found) => {
      if (found === undefined) return response.destroy();
      const [status, body, headers = {}] = found;
      return response.writeHead(status, headers).end(body);
    });
  });
  return { state, server };
}

/** A temporary folder with what the commands need of the project. */
export function copyProject(folders: readonly string[]): string {
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

/** Starts a command in such a folder; `ended` is its exit code and output. */
export function startScript(
  folder: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
) {
  const child = spawn(process.execPath, [join(folder, 'scripts', `${command}.ts`), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [code]]) => ({ code: code as number | null, output: stdout + stderr }),
  );
  return { child, ended };
}

/** @param world - What the stubs of this command answer by default. */
export async function createDeployment(
  command: 'deploy' | 'bootstrap' = 'deploy',
  world: Partial<World> = {},
) {
  const folder = copyProject(['web/dist/assets']);
  const { state: aws, server } = createAws();
  aws.url = `http://127.0.0.1:${await listen(server, 0)}`;
  const module = join(folder, 'infra/terraform');
  const files = {
    'package.json': '{"type":"module"}',
    'bin/package.json': '{"type":"commonjs"}',
    'dist/inquiries.zip': 'inquiries',
    'dist/mailer.zip': 'mailer',
    'web/dist/index.html': PAGE,
    'web/dist/favicon.svg': '<svg/>',
    'web/dist/inquiry-form.js': 'element',
    'web/dist/assets/index-1.js': 'script',
    'web/dist/assets/index-1.css': 'style',
    'deploy/versions.ts': VERSIONS(folder),
    // process.argv[1] is still deploy/smoke.ts, from which the stub has its name.
    'deploy/smoke.ts': "import '../bin/smoke.cjs';",
    'bin/smoke.cjs': stub(folder),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);

  function arrange(changes: Partial<World>): void {
    const arranged = { ...DEFAULT, ...world, ...changes };
    writeFileSync(join(folder, 'world.json'), JSON.stringify(arranged));
    for (const name of ['terraform', 'tofu']) rmSync(join(folder, 'bin', name), { force: true });
    for (const name of [arranged.program, 'git', 'npm']) {
      writeFileSync(join(folder, 'bin', name), stub(folder), { mode: 0o755 });
      if (name === arranged.missing) rmSync(join(folder, 'bin', name));
    }
    rmSync(join(module, 'backend.s3.tfbackend'), { force: true });
    for (const [name, content] of Object.entries(arranged.moduleFiles)) {
      writeFileSync(join(module, name), content);
    }
  }
  /** As at the beginning, for a command that writes in infra/terraform only. */
  function reset(): void {
    rmSync(module, { recursive: true, force: true });
    mkdirSync(join(module, 'bootstrap'), { recursive: true });
    for (const name of ['calls', 'end']) rmSync(join(folder, name), { force: true });
    writeFileSync(join(folder, 'calls'), '');
    aws.objects.clear();
    aws.answers.clear();
    arrange({});
  }
  reset();

  const environment = (env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    PATH: join(folder, 'bin'),
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_ENDPOINT_URL: aws.url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-central-1',
    GITHUB_API_URL: aws.url,
    // Halves the time of a command that runs again in the same copy.
    NODE_COMPILE_CACHE: join(folder, 'home/cache'),
    ...env,
  });
  const script = join(folder, 'scripts', `${command}.ts`);
  const start = (args: string, env?: NodeJS.ProcessEnv) =>
    startScript(folder, command, args.split(' '), environment(env));
  /** Starts the command at a terminal, and presses keys once `isReady`. */
  async function press(keys: string, args: string, isReady: (output: string) => Promise<void> | boolean) {
    const child = spawn('script', ['-qec', `"${process.execPath}" "${script}" ${args}`, '/dev/null'], {
      cwd: folder,
      env: environment({ PATH: `${join(folder, 'bin')}:/usr/bin:/bin` }),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }));
    await vi.waitFor(async () => expect(await isReady(output)).not.toBe(false), { timeout: 20_000 });
    // A command that is not asked anything may have ended.
    if (keys !== '') child.stdin.write(keys);
    return { child, ended };
  }
  const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return {
    folder,
    aws,
    arrange,
    reset,
    start,
    /** Runs the command to its end. */
    run: (args: string, env?: NodeJS.ProcessEnv) => start(args, env).ended,
    press,
    calls,
    awaitCall: (call: string) =>
      vi.waitFor(() => expect(calls()).toContain(call), { timeout: 20_000, interval: 20 }),
    /** Lets the command end that waits for a signal. */
    letEnd: () => writeFileSync(join(folder, 'end'), ''),
    signals: () => calls().filter((call) => call.includes(' got ')),
    /** The files in infra/terraform with their contents. */
    files: () => {
      const names = globSync('**/*', { cwd: module }).filter((name) => statSync(join(module, name)).isFile());
      return Object.fromEntries(names.map((name) => [name, readFileSync(join(module, name), 'utf8')]));
    },
    /** The temporary files that are left. */
    temporary: () => readdirSync(join(folder, 'tmp')),
    applied: () => calls().some((call) => call.startsWith('terraform apply')),
    remove: async () => {
      await close(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Deployment = Awaited<ReturnType<typeof createDeployment>>;
