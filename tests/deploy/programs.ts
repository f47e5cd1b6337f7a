/**
 * What deploy/ uses, for a test file that imports this one before deploy/: a temporary project, programs that
 * {@link run} records and answers as arranged, and no waiting. commands.process.test.ts has processes, *.apply.test.ts
 * a real Terraform.
 */
import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeEach, expect, vi } from 'vitest';
import type { Outcome } from '../../lib/terminal/run.ts';
import type { Main } from '../../lib/terminal/command-line.ts';
import { startAws, stubAws } from '../local/aws.ts';
import { skipTime } from '../local/clock.ts';
import { run as runInProcess } from '../local/io.ts';
import { paths, removeProject, resetProject } from './project.ts';

vi.mock(import('../../lib/paths.ts'), () => paths);
vi.mock(import('../../lib/terminal/run.ts'), async () => ({ run }));
vi.mock(import('../../deploy/terraform.ts'), async (original) => ({
  ...(await original()),
  terraformUnavailableReason: async () => undefined,
}));
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<object>()),
  setTimeout: skipTime,
}));

const PLANNING =
  /^(npm run build …\nterraform init …\nterraform workspace …\n)?terraform plan …\n\nTerraform will perform the following\n\nterraform show …\n/gm;

type Changes = Record<string, readonly [action: string, after?: object]>;

const PACKAGE = createHash('sha256').update('dist/inquiries.zip').digest('base64');

const OUTPUTS = {
  api_url: 'https://api.example.com',
  cors_origin: 'https://www.example.com',
  dashboard_url: 'https://console.example.com/dashboard',
  function: { name: 'inquiries-develop', package: PACKAGE },
  mailer: {},
};
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

/** A clean checkout, a place of the state, and a plan that changes the function. */
const initially = () => ({
  /** The account's plan with AWS, as JSON. */
  account: '',
  dirty: '',
  differing: '',
  failing: 'nothing',
  files: { 'backend.s3.tfbackend': 'bucket = "b"\n' } as Record<string, string>,
  changes: { 'aws_lambda_function.this': ['update'] } as Changes,
  again: {} as Changes,
  settings: { release: {} } as object,
  outputChanges: {} as Record<string, { actions: string[]; after?: object }>,
  happen: (): void => {},
  during: 'terraform apply',
  /** ARNs that only the state has, by address. */
  lost: {} as Record<string, string>,
  outputs: OUTPUTS as object,
});
export type World = ReturnType<typeof initially>;

let world = initially();
export let calls: string[] = [];

const VALUES = {
  function_name: 'inquiries-develop',
  filename: '../../dist/inquiries.zip',
  source_code_hash: PACKAGE,
};
const toResources = (changes: Changes) =>
  Object.entries(changes).map(([address, [action, after = VALUES]]) => ({
    address,
    type: address.split('.').at(-2),
    change: { actions: action.split(' '), before: after, after },
  }));

function print(call: string): string {
  if (call.startsWith('git status')) return world.dirty;
  if (call.startsWith('git diff')) return world.differing;
  if (call.startsWith('aws freetier')) return world.account;
  if (call.startsWith('gh repo')) return 'octo/inquiries\n';
  if (call.startsWith('terraform output')) return '{}';
  if (call.startsWith('terraform plan')) {
    return 'aws_s3_bucket.b: Refreshing state... [id=b]\n\nTerraform will perform the following';
  }
  if (!call.startsWith('terraform show')) return '';
  const unchanged: Changes = {
    'module.function.aws_lambda_alias.live': ['no-op'],
    'aws_lambda_function.o': ['no-op'],
  };
  const lost = Object.entries(world.lost).map(([address, arn]) => [address, ['delete', { arn }]]);
  return JSON.stringify({
    variables: { stages: { value: world.settings } },
    resource_changes: toResources({
      ...(call.endsWith('/again') ? world.again : world.changes),
      ...unchanged,
    }),
    resource_drift: toResources(Object.fromEntries(lost) as Changes),
    output_changes: world.outputChanges,
  });
}

export async function run(command: string, args: string[]): Promise<Outcome> {
  const call = [command, ...args].join(' ');
  calls.push(call);
  if (call.startsWith(world.during)) world.happen();
  const isFailing = call.startsWith(world.failing);
  const stdout = print(call);
  const output = `${stdout}${isFailing ? '\n\nError: it went wrong\n' : ''}`;
  return { code: isFailing ? 1 : 0, stdout, output };
}

/**
 * Starts AWS's stand-in; each test begins with it and an empty project.
 *
 * @param prepare - Then called.
 */
export async function setUpProject(prepare: () => void = () => {}) {
  const aws = await startAws(PACKAGE);
  const arrange = (changes: Partial<World> = {}): void => {
    world = { ...initially(), ...changes };
    for (const [name, content] of Object.entries(world.files)) {
      writeFileSync(join(paths.MODULE, name), content);
    }
    const outputs = Object.entries(world.outputs).map(([name, value]) => [name, { value }]);
    const state = JSON.stringify({ outputs: Object.fromEntries(outputs) });
    aws.state.objects.set('/b/env:/develop/inquiries/terraform.tfstate', state);
  };
  const reset = (): void => {
    resetProject();
    vi.stubEnv('TMPDIR', join(paths.ROOT, 'tmp'));
    stubAws(aws.env);
    aws.reset();
    calls = [];
    prepare();
  };
  beforeEach(reset);
  afterAll(async () => {
    await aws.close();
    removeProject();
  });
  /** @param keys - Typed at a terminal; '' is Ctrl-D; undefined: there is none. */
  const command = async (main: Main, args: string, keys?: string, env: NodeJS.ProcessEnv = {}) => {
    const stdin = new PassThrough();
    if (keys) stdin.write(keys);
    else stdin.end();
    const options = { stdin, isTTY: keys !== undefined, env };
    const { code, stdout, stderr } = await runInProcess(main, args, options);
    expect(readdirSync(join(paths.ROOT, 'tmp'))).toEqual([]);
    // Times differ, and a terminal has carriage returns.
    return { code, output: (stdout + stderr).replaceAll(/ +\d+ ms$|\r/gm, '') };
  };
  /** What a command says and does. What it refuses is not applied. */
  const transcribe = ({ code, output }: Awaited<ReturnType<typeof command>>): string => {
    const ran = calls.flatMap((call) => /^terraform (?:plan|apply)/.exec(call) ?? []);
    if (code === 2) expect(ran).not.toContain('terraform apply');
    const ends = [`exit code ${code}`, ...ran, ...aws.state.changes];
    // The usual steps of a plan are left out.
    const said = stripVTControlCharacters(output).replace(PLANNING, '').trim();
    return [said, '--', ...ends].join('\n');
  };
  return { ...aws, arrange, command, transcribe };
}
