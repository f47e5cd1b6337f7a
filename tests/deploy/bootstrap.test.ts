/** `npm run bootstrap`: what it refuses, its steps, its settings and files, GitHub's ids, the questions and signals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../deploy/bootstrap.ts';
import { ACCOUNT } from '../helpers/aws.ts';
import {
  arrange,
  awaitCall,
  hasApplied,
  letEnd,
  readCalls,
  readModuleFiles,
  runCommandHere,
  setUpProject,
  temporaryFiles,
  typed,
} from '../helpers/programs.ts';
import type { World } from '../helpers/programs.ts';
import { paths, resetProject } from '../helpers/project.ts';

vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);

const REGION = 'eu-central-1';
const BUCKET = `inquiries-terraform-state-${ACCOUNT}-${REGION}`;
const VERSION = 'terraform version -json';
const ROLES = {
  permissions_boundaries: {
    develop: 'arn:boundary',
    main: 'arn:boundary',
    release: 'arn:boundary',
  },
  github_roles: { develop: 'arn:deploy', 'develop-plan': 'arn:plan' },
};
const BACKEND = `# Written by npm run bootstrap.
bucket              = "${BUCKET}"
region              = "${REGION}"
allowed_account_ids = ["${ACCOUNT}"]
`;
const SETTINGS = 'bootstrap/settings.auto.tfvars.json';
const CREATED = `The bucket ${BUCKET} was created; nothing else was changed.`;
const CONTINUE = `What was created so far is in the state in the bucket ${BUCKET}; run the command again to continue.`;

const aws = await setUpProject();
const arrangeWorld = (world: Partial<World> = {}) =>
  arrange({
    changes: [{ address: 'aws_s3_bucket_policy.state', actions: ['create'] }],
    diff: 'the diff',
    moduleFiles: {},
    outputs: { permissions_boundaries: {}, github_roles: {} },
    ...world,
  });
/** The account has the bucket. */
const arrangeBucket = (status = 200) => {
  aws.state.answers[`HEAD /${BUCKET}/`] = ({ headers }) => ({
    status: headers['x-amz-expected-bucket-owner'] === ACCOUNT ? status : 403,
  });
};
beforeEach(() => arrangeWorld());

const bootstrap = (args: string, env: NodeJS.ProcessEnv = {}) =>
  runCommandHere(main, args, { env });
const kept = (settings: object) => ({ moduleFiles: { [SETTINGS]: JSON.stringify(settings) } });
const readJson = (name: string): unknown => JSON.parse(readModuleFiles()[name] ?? 'null');
/** The variables of the last plan. */
const readVariables = (): unknown =>
  JSON.parse(readFileSync(join(paths.ROOT, 'variables.json'), 'utf8'));

describe('npm run bootstrap refuses in one line and changes nothing:', () => {
  const names = (place: string) =>
    `infra/terraform/backend.s3.tfbackend names ${place}; these credentials and settings mean the bucket ${BUCKET} in account ${ACCOUNT}, region ${REGION}. Nothing was changed.`;
  const backend = (text: string, other: string) => ({
    moduleFiles: { 'backend.s3.tfbackend': BACKEND.replace(text, other) },
  });
  const octo = { repository: 'octo/a' };
  const noJson = `infra/terraform/${SETTINGS} is not a JSON object.`;
  it.each<[string, Partial<World>, string]>([
    ['--yes --github octo', {}, '"octo" is not OWNER/NAME of a repository.'],
    ['--yes --github octo/a --github-ids 1', {}, '"1/" is not OWNER_ID/REPOSITORY_ID.'],
    [
      '--yes --github-ids 1/23',
      {},
      '--github-ids and --existing-provider need --github OWNER/NAME.',
    ],
    ['--yes --domain main=*.example.com', {}, '"main=*.example.com" is not STAGE=NAME.'],
    ['--yes --domain main=example.com=x', {}, '"main=example.com=x" is not STAGE=NAME.'],
    ['--yes --budget 50', {}, '--budget and --email need each other.'],
    ['--yes --email a@example.com --budget Infinity', {}, '"Infinity" is not a sum above 0.'],
    ['--yes', { version: '1.9.8' }, 'terraform 1.9.8 is too old; version 1.10 or later is needed.'],
    ['--yes', { moduleFiles: { [SETTINGS]: 'region = "eu-central-1"' } }, noJson],
    ['--yes', { moduleFiles: { [SETTINGS]: '[]' } }, noJson],
    [
      '--yes',
      kept({ name: 'N' }),
      'A name is 2 to 32 lower-case letters, digits and hyphens, begins with a letter, and contains neither the name of a stage after a hyphen nor aws, amazon or cognito, not "N".',
    ],
    ['--yes', kept({ bucket: 'b_b' }), '"b_b" is not a name of a bucket.'],
    [
      '--yes',
      kept({ github: { repository: 'octo/*' } }),
      '"octo/*" is not OWNER/NAME of a repository.',
    ],
    [
      '--yes',
      kept({ github: { ...octo, owner_id: '*', repository_id: '1' } }),
      '"*/1" is not OWNER_ID/REPOSITORY_ID.',
    ],
    [
      '--yes',
      kept({ domains: { test: ['example.com'] } }),
      '"test=example.com" is not STAGE=NAME.',
    ],
    [
      '--yes',
      kept({ budget: { monthly_usd: 1, email: 'ana' } }),
      '"ana" is not an e-mail address.',
    ],
    [
      '--yes',
      { moduleFiles: { 'bootstrap/errored.tfstate': '{"tags": {"stage": "main"}}' } },
      'infra/terraform/bootstrap/errored.tfstate is a state that Terraform could not save; without it, Terraform would make everything in it again. Nothing was changed. Save it, and run this command again: terraform -chdir=infra/terraform/bootstrap state push errored.tfstate && rm infra/terraform/bootstrap/errored.tfstate',
    ],
    [
      '--plan-only',
      backend(`["${ACCOUNT}`, '["4'),
      names(`the bucket ${BUCKET} in account 4, region ${REGION}`),
    ],
    [
      '--plan-only',
      backend(`"${REGION}"`, '"us-east-1"'),
      names(`the bucket ${BUCKET} in account ${ACCOUNT}, region us-east-1`),
    ],
  ])('%s with %j', async (args, world, message) => {
    arrangeWorld(world);
    const before = readModuleFiles();
    expect(await bootstrap(args)).toEqual({ code: 2, output: `${message}\n` });
    expect([readModuleFiles(), aws.state.changes]).toEqual([before, []]);
    expect(['', VERSION]).toContain(readCalls().join('\n'));
  });

  it("a bucket that is another account's", async () => {
    arrangeBucket(403);
    const { code, output } = await bootstrap('--yes');
    const message = `The bucket ${BUCKET} exists, but account ${ACCOUNT} may not read it: it is another account's, or these credentials lack the permission. Nothing was changed.\n`;
    expect([code, output]).toEqual([2, expect.stringContaining(message)]);
    expect([readCalls(), aws.state.changes, readModuleFiles()]).toEqual([[VERSION], [], {}]);
  });
});

describe('npm run bootstrap', () => {
  it('creates the bucket with versions, plans, applies that plan with the state there, and writes the place', async () => {
    const { code, output } = await bootstrap('--yes');
    const bucket = aws.state.objects.get(`/${BUCKET}/`);
    expect(aws.state.changes).toEqual([`put /${BUCKET}/`, `put /${BUCKET}/`]);
    expect(bucket?.body).toContain('<Status>Enabled</Status>');
    const plan = /-out=(\S+)/.exec(readCalls().join('\n'))?.[1];
    expect(readCalls()).toEqual([
      VERSION,
      `terraform init -no-color -reconfigure -backend-config=bucket=${BUCKET} -backend-config=region=${REGION} -backend-config=allowed_account_ids=["${ACCOUNT}"]`,
      expect.stringMatching(/^terraform plan -no-color -var-file=\S+ -out=\S+$/),
      `terraform show -json ${plan}`,
      `terraform apply -no-color ${plan}`,
      'terraform output -json',
    ]);
    expect(readVariables()).toEqual({ region: REGION, bucket: BUCKET });
    expect(output).toContain(
      `  account   ${ACCOUNT}\n  region    ${REGION}\n  bucket    ${BUCKET}\n`,
    );
    expect(output).toContain('\nthe diff\n');
    expect(output.slice(output.indexOf('\nDone.'))).toBe(`
Done. The state of all stages goes to ${BUCKET}.

Next:
- Commit infra/terraform/backend.s3.tfbackend, the files settings.auto.tfvars.json and .terraform.lock.hcl in infra/terraform/bootstrap.
- npm run deploy -- develop
`);
    const settings = `{\n  "region": "${REGION}"\n}\n`;
    expect(readModuleFiles()).toEqual({ 'backend.s3.tfbackend': BACKEND, [SETTINGS]: settings });
    expect([code, temporaryFiles()]).toEqual([0, []]);
  });

  it('with roles, writes their boundaries and lists the environments; without, removes those boundaries', async () => {
    arrangeWorld({ outputs: ROLES });
    const { output } = await bootstrap('--github octo/a --github-ids 1/23 --yes');
    const { permissions_boundaries } = ROLES;
    expect(readJson('bootstrap.auto.tfvars.json')).toEqual({ permissions_boundaries });
    expect(output).toContain(
      'infra/terraform/bootstrap, infra/terraform/bootstrap.auto.tfvars.json.\n',
    );
    expect(output).toContain(`each with the secret AWS_ROLE_ARN (docs/deploy.md):
  develop       arn:deploy
  develop-plan  arn:plan
- Run this command again after the first deployment of each stage`);
    arrangeWorld();
    expect((await bootstrap('--yes')).code).toBe(0);
    expect(Object.keys(readModuleFiles())).not.toContain('bootstrap.auto.tfvars.json');
  });

  it('deletes nothing without its settings, nor without a confirmation', async () => {
    arrangeBucket();
    const changes = ['develop', 'main'].map((stage) => ({
      address: `aws_iam_role.deploy["${stage}"]`,
      actions: ['delete'],
    }));
    const runs: [string, Partial<World>][] = [
      ['--yes', {}],
      ['--yes', kept({})],
      ['--plan-only', {}],
    ];
    for (const [args, world] of runs) {
      arrangeWorld({ changes, ...world });
      const { code, output } = await bootstrap(args);
      expect([code, hasApplied()]).toEqual([2, false]);
      expect(output).toContain(
        `The plan deletes 2 resources, which needs infra/terraform/${SETTINGS} and a confirmation at a terminal.`,
      );
      resetProject();
    }
    arrangeWorld({ changes, ...kept({}) });
    const stdin = typed(`${ACCOUNT}\n`);
    expect((await runCommandHere(main, '', { stdin, isTTY: true })).code).toBe(0);
    expect(hasApplied()).toBe(true);
  });

  it.each([
    ['the changes', 'update', true],
    ['nothing if nothing has changed', 'no-op', false],
  ])('run again, creates no bucket and applies %s', async (_, action, isApplied) => {
    arrangeBucket();
    arrangeWorld({ changes: [{ address: 'aws_s3_bucket.state', actions: [action] }] });
    const { code } = await bootstrap('--yes');
    expect([code, hasApplied(), aws.state.changes]).toEqual([0, isApplied, []]);
    expect(Object.keys(readModuleFiles()).toSorted()).toEqual(['backend.s3.tfbackend', SETTINGS]);
  });

  it.each([
    ['shows the plan', true, '\nthe diff\n'],
    ['says that the bucket comes first', false, 'The bucket does not exist. It is created first'],
  ])('--plan-only %s and changes nothing (bucket: %s)', async (_, hasBucket, text) => {
    if (hasBucket) arrangeBucket();
    const { code, output } = await bootstrap('--plan-only --domain main=example.com');
    expect([code, output]).toEqual([0, expect.stringContaining(text)]);
    expect([hasApplied(), aws.state.changes, readModuleFiles()]).toEqual([false, [], {}]);
    expect(temporaryFiles()).toEqual([]);
  });

  it('keeps the settings, adds to them, and gives all of them to the plan', async () => {
    const first = {
      region: 'eu-west-1',
      github: { repository: 'octo/a', owner_id: '1', repository_id: '23', existing_provider: true },
      domains: { main: ['m.example.com'], release: ['example.com', 'www.example.com'] },
      budget: { monthly_usd: 12.5, email: 'a@example.com' },
    };
    const options = [
      '--region eu-west-1 --github octo/a --github-ids 1/23 --existing-provider --budget 12.5 --email a@example.com',
      '--domain main=m.example.com --domain release=example.com --domain release=www.example.com --yes',
    ];
    expect((await bootstrap(options.join(' '))).code).toBe(0);
    expect(readJson(SETTINGS)).toEqual(first);
    await bootstrap('--domain main=example.com --yes');
    const second = { ...first, domains: { ...first.domains, main: ['example.com'] } };
    expect(readJson(SETTINGS)).toEqual(second);
    expect(readVariables()).toEqual({ ...second, bucket: BUCKET.replace(REGION, 'eu-west-1') });
  });

  it('takes the name of the service from the settings, where null means unset', async () => {
    arrangeWorld(kept({ name: 'orders', github: null }));
    await bootstrap('--yes');
    const orders = BUCKET.replace('inquiries', 'orders');
    expect(readVariables()).toEqual({ name: 'orders', region: REGION, bucket: orders });
  });

  it.each([
    ['terraform init', CREATED],
    ['terraform plan', CREATED],
    ['terraform apply', CONTINUE],
    ['terraform output', CONTINUE],
  ])('says what is true if %s fails', async (failing, state) => {
    arrangeWorld({ failing });
    const { code, output } = await bootstrap('--yes');
    expect([code, temporaryFiles()]).toEqual([1, []]);
    expect(output).toContain(`Failed: ${failing}.\n\n${state}\n`);
  });
});

describe('npm run bootstrap asks GitHub for the ids of the repository', () => {
  const ids = { owner_id: '1', repository_id: '23' };

  it('with GITHUB_TOKEN, once for each repository', async () => {
    const asked: (string | undefined)[] = [];
    for (const [name, id] of Object.entries({ a: 23, b: 24 })) {
      aws.state.answers[`GET /repos/octo/${name}`] = ({ headers }) => {
        asked.push(`${name} ${headers.authorization}`);
        return { status: 200, body: { id, owner: { id: 1 } } };
      };
    }
    await bootstrap('--github octo/a --existing-provider --yes', { GITHUB_TOKEN: 'token' });
    const first = { repository: 'octo/a', ...ids, existing_provider: true };
    expect(readJson(SETTINGS)).toEqual({ region: REGION, github: first });
    await bootstrap('--github octo/a --yes');
    expect([asked, readJson(SETTINGS)]).toEqual([
      ['a Bearer token'],
      { region: REGION, github: first },
    ]);
    await bootstrap('--github octo/b --yes', { GITHUB_TOKEN: '' });
    const second = { ...first, repository: 'octo/b', repository_id: '24' };
    expect([asked.at(-1), readJson(SETTINGS)]).toEqual([
      'b undefined',
      { region: REGION, github: second },
    ]);
  });

  it.each([
    ['404', 404, '{"message":"Not Found"}'],
    ['a page', 200, '<html>'],
    ['nothing', 0, ''],
  ])(
    'and trusts no ids, not those of another repository either, if it answers %s',
    async (_, status, body) => {
      arrangeWorld(kept({ github: { repository: 'octo/a', ...ids } }));
      aws.state.answers['GET /repos/octo/b'] = () => ({ status, body });
      const { code, output } = await bootstrap('--github octo/b --yes');
      expect(output).toMatch(
        /^GitHub does not give the ids of octo\/b, so that only .* --github-ids\.\n/,
      );
      expect([code, readJson(SETTINGS)]).toEqual([
        0,
        { region: REGION, github: { repository: 'octo/b' } },
      ]);
    },
  );
});

describe('npm run bootstrap at a terminal', () => {
  const answer = (keys: string) => runCommandHere(main, '', { stdin: typed(keys), isTTY: true });

  it.each([
    ['Apply this plan?', 'yes\r', arrangeBucket],
    ['Create the bucket?', '', () => {}],
  ])('asks %s, changes nothing and exits 2 after %j', async (question, keys, arrangeAccount) => {
    arrangeAccount();
    const { code, output } = await answer(keys);
    expect(output).toContain(`${question} Type the account id to confirm: `);
    expect([code, output]).toEqual([2, expect.stringMatching(/Nothing was changed\.\n$/)]);
    expect([hasApplied(), aws.state.changes, readModuleFiles()]).toEqual([false, [], {}]);
  });

  it('applies after the account id, and does not ask if nothing has changed', async () => {
    arrangeBucket();
    expect([(await answer(`${ACCOUNT}\n`)).code, hasApplied()]).toEqual([0, true]);
    arrangeWorld({ changes: [] });
    const { code, output } = await answer('');
    expect([code, output]).toEqual([0, expect.not.stringContaining('to confirm')]);
  });
});

describe('npm run bootstrap after a signal', () => {
  /** Sends SIGINT, and then another signal, while the command waits for the step. */
  async function interrupt(hanging: string) {
    arrangeBucket();
    arrangeWorld({ hanging });
    const ended = bootstrap('--domain main=example.com --yes');
    await awaitCall(`${hanging} waits`);
    process.emit('SIGINT');
    process.emit('SIGTERM');
    letEnd(hanging);
    const { code, output } = await ended;
    const signals = readCalls().filter((call) => call.includes(' got '));
    expect([code, signals, temporaryFiles()]).toEqual([130, [], []]);
    return output;
  }

  it.each(['terraform apply', 'terraform output'])(
    'during %s says where the state is; run again, continues with the same settings',
    async (hanging) => {
      expect(await interrupt(hanging)).toContain(`\n\nInterrupted. ${CONTINUE}\n`);
      expect(Object.keys(readModuleFiles())).not.toContain('backend.s3.tfbackend');
      arrangeWorld();
      expect((await bootstrap('--yes')).code).toBe(0);
      expect(readVariables()).toMatchObject({ domains: { main: ['example.com'] } });
      expect(readModuleFiles()['backend.s3.tfbackend']).toBe(BACKEND);
    },
  );
});
