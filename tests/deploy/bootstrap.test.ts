/** `npm run bootstrap`: what it refuses, its steps, its settings and files, GitHub's ids, the questions and signals. */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../deploy/bootstrap.ts';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { isServiceName, NAME_RULE } from '../../lib/stages.ts';
import { ACCOUNT, refusal, type Answer } from '../helpers/aws.ts';
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

const hasTerraform = (await terraformUnavailableReason()) === undefined;
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
  const noJson = `infra/terraform/${SETTINGS} is not a JSON object.`;
  it.each<[string, Partial<World>, string]>([
    [
      '--yes --github-ids 1/23',
      {},
      '--github-ids and --existing-provider need --github OWNER/NAME.',
    ],
    ['--yes --budget 50', {}, '--budget and --email need each other.'],
    ['--yes', { version: '1.9.8' }, 'terraform 1.9.8 is too old; version 1.11 or later is needed.'],
    ['--yes', { moduleFiles: { [SETTINGS]: 'region = "eu-central-1"' } }, noJson],
    ...['N', 'inquiries-of-customers'].map((name): [string, Partial<World>, string] => [
      '--yes',
      kept({ name }),
      `infra/terraform/${SETTINGS}: ${NAME_RULE}, not "${name}".`,
    ]),
    [
      '--yes',
      { moduleFiles: { 'bootstrap/errored.tfstate': '{}' } },
      'infra/terraform/bootstrap/errored.tfstate is a state that Terraform could not save; without it, Terraform would make everything in it again. Nothing was changed. Save it, and run this command again: terraform -chdir=infra/terraform/bootstrap state push errored.tfstate && rm infra/terraform/bootstrap/errored.tfstate',
    ],
    [
      '--plan-only',
      backend(`["${ACCOUNT}`, '["4'),
      names(`the bucket ${BUCKET} in account 4, region ${REGION}`),
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

  it('takes nothing back from an account whose settings this checkout lacks', async () => {
    arrangeBucket();
    aws.state.objects.set(`/${BUCKET}/inquiries/bootstrap.tfstate`, {
      body: '',
      type: '',
      cache: '',
    });
    for (const args of ['--yes', '--plan-only']) {
      const { code, output } = await bootstrap(args);
      expect([code, readCalls(), readModuleFiles()]).toEqual([2, [VERSION], {}]);
      expect(output).toContain(
        `The account was set up with settings that this checkout lacks: infra/terraform/${SETTINGS}.`,
      );
      resetProject();
      arrangeWorld();
    }
    arrangeWorld(kept({}));
    expect((await bootstrap('--yes')).code).toBe(0);
  });

  it('deletes nothing without a confirmation', async () => {
    arrangeBucket();
    const changes = [{ address: 'aws_iam_role.deploy["main"]', actions: ['delete'] }];
    arrangeWorld({ changes, ...kept({}) });
    const { code, output } = await bootstrap('--yes');
    expect([code, hasApplied()]).toEqual([2, false]);
    expect(output).toContain('The plan deletes 1 resources, which needs a confirmation');
    const stdin = typed(`${ACCOUNT}\n`);
    expect((await runCommandHere(main, '', { stdin, isTTY: true })).code).toBe(0);
    expect(hasApplied()).toBe(true);
  });

  describe('has AWS validate the policies of the plan', () => {
    const changes = [
      {
        address: 'aws_iam_policy.read["main"]',
        actions: ['create'],
        after: { policy: '{"Version":"2012-10-17"}' },
      },
      {
        address: 'aws_iam_role.plan["main"]',
        actions: ['update'],
        after: { assume_role_policy: '{}' },
      },
      { address: 'aws_iam_role.deploy["main"]', actions: ['delete'] },
    ];
    const findings = (findingType: string) => ({
      findings: [
        { findingType, findingDetails: 'The action s3:Foo does not exist.' },
        { findingType: 'SUGGESTION', findingDetails: 'An empty list.' },
      ],
    });
    const answer = (reply: Answer) => {
      const asked: unknown[] = [];
      arrangeBucket();
      arrangeWorld({ changes: changes.slice(0, 2), ...kept({}) });
      aws.state.answers['POST /policy/validation'] = ({ body }) => {
        asked.push(JSON.parse(body));
        return reply;
      };
      return asked;
    };

    it('and stops at an error, before anything is changed', async () => {
      const asked = answer({ status: 200, body: findings('ERROR') });
      const { code, output } = await bootstrap('--yes');
      expect([code, hasApplied()]).toEqual([2, false]);
      expect(output).toContain(`AWS finds errors in the policies:
ERROR: aws_iam_policy.read["main"]: The action s3:Foo does not exist.
ERROR: aws_iam_role.plan["main"]: The action s3:Foo does not exist.
Nothing was changed. Correct infra/terraform/bootstrap/policies.tf, and run the command again.\n`);
      expect(asked).toEqual([
        { policyType: 'IDENTITY_POLICY', policyDocument: '{"Version":"2012-10-17"}' },
        {
          policyType: 'RESOURCE_POLICY',
          validatePolicyResourceType: 'AWS::IAM::AssumeRolePolicyDocument',
          policyDocument: '{}',
        },
      ]);
    });

    it.each<[string, Answer, string]>([
      [
        'shows a warning',
        { status: 200, body: findings('SECURITY_WARNING') },
        'SECURITY_WARNING: aws_iam_policy.read["main"]: The action s3:Foo does not exist.\n',
      ],
      [
        'says that they were not validated',
        refusal(403, 'AccessDeniedException', 'no'),
        'The policies were not validated: AccessDeniedException. To have AWS validate them, allow access-analyzer:ValidatePolicy and run the command again.\n',
      ],
    ])('and %s, and goes on', async (_, reply, line) => {
      answer(reply);
      const { code, output } = await bootstrap('--yes');
      expect([code, hasApplied(), output]).toEqual([0, true, expect.stringContaining(line)]);
      expect(output).not.toContain('An empty list');
    });
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
    expect(readVariables()).toEqual({
      name: 'orders',
      github: null,
      region: REGION,
      bucket: orders,
    });
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

it('every name of a service gives a bucket whose name S3 takes, in the regions with the longest names', () => {
  const lengths = Array.from({ length: 40 }, (_, length) => 'n'.repeat(length));
  const longest = lengths.findLast(isServiceName);
  // docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  expect(`${longest}-terraform-state-${ACCOUNT}-ap-southeast-1`).toHaveLength(63);
});

describe('the first day passes npm run check:', () => {
  it('what npm run bootstrap writes passes the formatter', async () => {
    arrangeWorld({ outputs: ROLES });
    await bootstrap('--github octo/a --github-ids 1/23 --domain main=example.com --yes');
    copyFileSync('.oxfmtrc.json', join(paths.ROOT, '.oxfmtrc.json'));
    const program = join(process.cwd(), 'node_modules/.bin/oxfmt');
    const args = ['--check', '--no-error-on-unmatched-pattern', 'infra'];
    const { code, output } = await run(program, args, { cwd: paths.ROOT });
    expect(code === 0 ? '' : output).toBe('');
  });

  it.skipIf(!hasTerraform)(
    'a copy of the example passes terraform fmt (skipped without terraform)',
    async () => {
      const copy = join(paths.ROOT, 'stages.auto.tfvars');
      copyFileSync('infra/terraform/stages.auto.tfvars.example', copy);
      const { code, output } = await run('terraform', ['fmt', '-check', '-diff', copy], {
        env: terraformEnv(),
      });
      expect(code === 0 ? '' : output).toBe('');
    },
  );
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

  it('and trusts no ids, not those of another repository either, if it does not answer', async () => {
    arrangeWorld(kept({ github: { repository: 'octo/a', ...ids } }));
    aws.state.answers['GET /repos/octo/b'] = () => ({ status: 200, body: '<html>' });
    const { output } = await bootstrap('--github octo/b --yes');
    expect(output).toMatch(/^GitHub does not give the ids of octo\/b, .* --github-ids\.\n/);
    expect(readJson(SETTINGS)).toEqual({ region: REGION, github: { repository: 'octo/b' } });
  });
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

it('npm run bootstrap ends the step after a signal, says where the state is, and continues with the same settings', async () => {
  arrangeBucket();
  arrangeWorld({ hanging: 'terraform apply' });
  const ended = bootstrap('--domain main=example.com --yes');
  await awaitCall('terraform apply waits');
  process.emit('SIGINT');
  process.emit('SIGTERM');
  letEnd('terraform apply');
  const { code, output } = await ended;
  const signals = readCalls().filter((call) => call.includes(' got '));
  expect([code, signals, temporaryFiles()]).toEqual([130, [], []]);
  expect(output).toContain(`\n\nInterrupted. ${CONTINUE}\n`);
  expect(Object.keys(readModuleFiles())).not.toContain('backend.s3.tfbackend');
  arrangeWorld();
  expect((await bootstrap('--yes')).code).toBe(0);
  expect(readVariables()).toMatchObject({ domains: { main: ['example.com'] } });
  expect(readModuleFiles()['backend.s3.tfbackend']).toBe(BACKEND);
});
