/** Programs on the PATH of a command that record their calls and print what a test arranges, in {@link paths}. */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeEach, expect, vi } from 'vitest';
import { readIfThere, runMain, type Main } from '../../lib/command-line.ts';
import { startAws } from './aws.ts';
import { createIo, type IoOptions } from './io.ts';
import { paths, removeProject, resetProject } from './project.ts';

export interface Change {
  readonly address: string;
  readonly actions: readonly string[];
  /** Values of the resource in the plan. */
  readonly after?: object;
}

const OUTPUTS = {
  api_url: 'https://api.example.com',
  cors_origin: 'https://www.example.com',
  dashboard_url: 'https://console.example.com/dashboard',
  function: { name: 'inquiries-develop', version: '10', live: '10' },
  mailer: {},
  site: null,
  form_config: null,
  connect_origins: [],
  smoke_sign_in: null,
  dns_records: [],
};
/** What the programs answer: a clean checkout, a place of the state, and a plan that changes the function. */
const DEFAULT = {
  /** Output of git status. */
  dirty: '',
  /** The command that fails, such as `terraform plan`, and its error. */
  failing: '',
  error: 'it went wrong',
  /** The command that records the first signal, and fails once the file `end` exists. */
  hanging: '',
  /** Files in infra/terraform, by their path there. */
  moduleFiles: {
    'backend.s3.tfbackend': 'bucket = "b"\nallowed_account_ids = ["111122223333"]\n',
  } as Record<string, string>,
  changes: [{ address: 'aws_lambda_function.this', actions: ['update'] }] as readonly Change[],
  /** Changes that the plan after the apply has. */
  again: [] as readonly Change[],
  outputChanges: {} as Record<string, { actions: string[]; after?: object }>,
  /** Output of `terraform plan`. */
  diff: `
aws_lambda_function.this: Refreshing state... [id=inquiries-develop]

Terraform will perform the following actions:

  # aws_lambda_function.this will be updated in-place`,
  outputs: OUTPUTS as Record<string, unknown>,
  /** ARNs of resources that the state has, but not AWS, by address. */
  lost: {} as Readonly<Record<string, string>>,
};
export type World = typeof DEFAULT;

/** The outputs of a stage with a form and a user pool. */
export const FORM_OUTPUTS = {
  ...OUTPUTS,
  site: { bucket: 'form-bucket', distribution_id: 'E2', url: 'https://d1.example.com/' },
  form_config: {
    issuer: 'https://issuer.example.com/pool',
    clientId: 'c1',
    apiUrl: 'https://api.example.com',
  },
  connect_origins: ['https://issuer.example.com', 'https://api.example.com'],
  smoke_sign_in: { user_pool_id: 'eu_1', client_id: 'c2' },
};

const PROGRAM = `#!/bin/sh
PATH=/usr/bin:/bin
cd '${paths.ROOT}'
name=\${0##*/}
echo "$name $*" >> calls
key="$name $1"
if [ "$key" = "$(cat arranged/hanging)" ]; then
  trap 'echo "$key got SIGINT" >> calls' INT
  trap 'echo "$key got SIGTERM" >> calls' TERM
  echo "$key waits" >> calls
  until [ -e end ]; do sleep 0.02; done
  cp end arranged/failing
fi
if [ "$key" = "$(cat arranged/failing)" ]; then
  cat arranged/error >&2
  exit 1
fi
# The plan after the apply.
case "$*" in show*/again) key='terraform again';; esac
if [ -e "arranged/$key" ]; then cat "arranged/$key"; fi
`;

const toResource = ({ address, actions, after }: Change, before: object) => ({
  address,
  type: address.split('.').at(-2),
  change: { actions, before, after: after ?? before },
});

const VALUES = {
  function_name: 'inquiries-develop',
  filename: '../../dist/inquiries.zip',
  source_code_hash: createHash('sha256').update('dist/inquiries.zip').digest('base64'),
};
const toPlan = ({ changes, lost, outputChanges }: World) => ({
  resource_changes: [
    ...changes,
    ...['alias.live', 'function.other'].map((name) => ({
      address: `aws_lambda_${name}`,
      actions: ['no-op'],
    })),
  ].map((change) => toResource(change, VALUES)),
  resource_drift: Object.entries(lost).map(([address, arn]) =>
    toResource({ address, actions: ['delete'] }, { arn }),
  ),
  output_changes: outputChanges,
});

const write = (name: string, content: string | object, mode = 0o644): void =>
  writeFileSync(
    join(paths.ROOT, name),
    typeof content === 'string' ? content : JSON.stringify(content),
    { mode },
  );

/** Arranges what the programs answer. */
export function arrange(changes: Partial<World> = {}): void {
  const world = { ...DEFAULT, ...changes };
  for (const name of ['terraform', 'git', 'npm']) write(`bin/${name}`, PROGRAM, 0o755);
  const outputs = Object.entries(world.outputs).map(([output, value]) => [output, { value }]);
  const answers = {
    hanging: world.hanging,
    failing: world.failing,
    error: `what was planned\n\nError: ${world.error}\n`,
    'git status': world.dirty,
    'terraform plan': world.diff,
    'terraform show': toPlan(world),
    'terraform again': toPlan({ ...world, changes: world.again, outputChanges: {} }),
    'terraform output': Object.fromEntries(outputs),
  };
  for (const [name, answer] of Object.entries(answers)) write(`arranged/${name}`, answer);
  rmSync(join(paths.MODULE, 'backend.s3.tfbackend'), { force: true });
  for (const [name, content] of Object.entries(world.moduleFiles)) {
    writeFileSync(join(paths.MODULE, name), content);
  }
}

/** Runs a command with these programs on its PATH. */
export async function runCommandHere(
  main: Main,
  args: string,
  { env, ...options }: IoOptions = {},
) {
  const { io, stdout, stderr } = createIo({
    ...options,
    env: {
      ...process.env,
      PATH: join(paths.ROOT, 'bin'),
      TMPDIR: join(paths.ROOT, 'tmp'),
      TF_PLUGIN_DIR: '',
      ...env,
    },
  });
  const code = await runMain(main, args === '' ? [] : args.split(' '), io);
  return { code, output: stdout() + stderr() };
}

/** Starts what answers for AWS; before each test it is as at first, and the project is empty. */
export async function setUpProject() {
  const aws = await startAws();
  vi.stubEnv('TMPDIR', join(paths.ROOT, 'tmp'));
  beforeEach(() => {
    resetProject();
    aws.reset();
  });
  afterAll(async () => {
    await aws.close();
    removeProject();
  });
  return aws;
}

export const temporaryFiles = (): string[] => readdirSync(join(paths.ROOT, 'tmp'));

/** What is typed at a terminal; nothing is Ctrl-D. */
export function typed(keys: string): PassThrough {
  const stdin = new PassThrough();
  if (keys === '') stdin.end();
  else stdin.write(keys);
  return stdin;
}

/** The calls of the programs, in their order. */
export const readCalls = (): string[] =>
  readIfThere(join(paths.ROOT, 'calls'))?.trim().split('\n') ?? [];

export const awaitCall = (call: string) =>
  vi.waitFor(() => expect(readCalls()).toContain(call), { timeout: 20_000, interval: 10 });

/** Lets the command end that hangs. */
export const letEnd = (hanging: string): void => write('end', hanging);

export const hasApplied = (): boolean => readCalls().some((call) => /^\w+ apply/.test(call));
