/** `npm run bootstrap`: what it refuses, its steps, its settings and files, GitHub's ids, the question and signals. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, createDeployment, CTRL_C, CTRL_D, hasScript } from '../helpers/deployment.ts';
import type { Deployment, World } from '../helpers/deployment.ts';

const REGION = 'eu-central-1';
const BUCKET = `inquiries-terraform-state-${ACCOUNT}-${REGION}`;
const STATE = 'inquiries/bootstrap.tfstate';
const VERSION = 'terraform version -json';
const ROLES = {
  permissions_boundaries: { develop: 'arn:boundary', main: 'arn:boundary', release: 'arn:boundary' },
  github_roles: { develop: 'arn:deploy', 'develop-plan': 'arn:plan' },
};
const BACKEND = `# Written by npm run bootstrap.
bucket              = "${BUCKET}"
region              = "${REGION}"
allowed_account_ids = ["${ACCOUNT}"]
`;
const SETTINGS = 'bootstrap/settings.auto.tfvars.json';
const inState = (place: string) =>
  `What was created so far is in the state in ${place}; run the command again to continue.\n`;
const IN_BUCKET = inState(`the bucket ${BUCKET}`);
const IN_FILE = inState('infra/terraform/bootstrap/first.tfstate');

// The command writes in infra/terraform only, so that one copy serves all tests.
let command: Deployment;
beforeAll(async () => {
  command = await createDeployment('bootstrap', {
    changes: [{ address: 'aws_s3_bucket.state', actions: ['create'] }],
    diff: 'the diff',
    moduleFiles: {},
    outputs: { permissions_boundaries: {}, github_roles: {} },
  });
});
beforeEach(() => command.reset());
afterAll(() => command.remove());

/** The account's bucket exists, with or without a state, or does not. */
const arrangeBucket = (content: 'with a state' | 'empty' | undefined) => {
  const there = { 'with a state': ['', STATE], empty: [''], none: [] }[content ?? 'none'];
  for (const key of there) {
    command.aws.answers.set(`HEAD /${BUCKET}/${key}`, ({ headers }) =>
      headers['x-amz-expected-bucket-owner'] === ACCOUNT ? [200, ''] : [403, ''],
    );
  }
};
const arrangeSettings = (settings: object) =>
  command.arrange({ moduleFiles: { [SETTINGS]: JSON.stringify(settings) } });
const readJson = (name: string): unknown => JSON.parse(command.files()[name] ?? 'null');
/** The variables of the last plan. */
const planned = (): unknown => {
  const call = command.calls().findLast((each) => / plan /.test(each));
  return JSON.parse(/ with (.*) -out=/.exec(call ?? '')?.[1] ?? 'null');
};

/** One line, exit code 2, no file changed, and nothing called but what reads. */
async function expectRefusal(args: string, message: string, env?: NodeJS.ProcessEnv): Promise<void> {
  const before = command.files();
  const { code, output } = await command.run(args, env);
  expect([code, output, command.files()]).toEqual([2, `${message}\n`, before]);
  expect(['', VERSION]).toContain(command.calls().join('\n'));
}

describe('npm run bootstrap refuses in one line and changes nothing:', { timeout: 30_000 }, () => {
  const noCredentials = 'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).';
  it.each<[string, Partial<World> & { env?: NodeJS.ProcessEnv }, string]>([
    ['--yes --force', {}, "Unknown option '--force' (see --help)"],
    ['--yes --github octo', {}, '"octo" is not OWNER/NAME of a repository.'],
    ['--yes --github octo/*', {}, '"octo/*" is not OWNER/NAME of a repository.'],
    ['--yes --github octo/a --github-ids 1', {}, '"1" is not OWNER_ID/REPOSITORY_ID.'],
    ['--yes --github-ids 1/23', {}, '--github-ids and --existing-provider need --github OWNER/NAME.'],
    ['--yes --existing-provider', {}, '--github-ids and --existing-provider need --github OWNER/NAME.'],
    ['--yes --domain test=example.com', {}, '"test=example.com" is not STAGE=NAME.'],
    ['--yes --domain main=*.example.com', {}, '"main=*.example.com" is not STAGE=NAME.'],
    ['--yes --domain main=example.com=x', {}, '"main=example.com=x" is not STAGE=NAME.'],
    ['--yes --budget 50', {}, '--budget and --email need each other.'],
    ['--yes --email a@example.com', {}, '--budget and --email need each other.'],
    ['--yes --email a@example.com --budget 0', {}, '"0" is not a sum above 0.'],
    ['--yes --email a@example.com --budget Infinity', {}, '"Infinity" is not a sum above 0.'],
    [`--region ${REGION}`, {}, 'There is no terminal for the confirmation; pass --yes or --plan-only.'],
    ['--yes', { terraform: '1.9.8' }, 'terraform 1.9.8 is too old; version 1.10 or later is needed.'],
    ['--yes', { missing: 'terraform' }, 'terraform is not on the PATH; version 1.10 or later is needed.'],
    ['--yes', { env: { AWS_ACCESS_KEY_ID: '' } }, noCredentials],
    ['--yes', { env: { AWS_REGION: '' } }, 'There is no AWS region; set AWS_REGION or AWS_PROFILE.'],
  ])('%s with %j', async (args, { env, ...world }, message) => {
    command.arrange(world);
    await expectRefusal(args, message, env);
  });

  it.each(['region = "eu-central-1"', '[]'])('a settings file with %s', async (text) => {
    command.arrange({ moduleFiles: { [SETTINGS]: text } });
    await expectRefusal('--yes', `infra/terraform/${SETTINGS} is not a JSON object.`);
  });

  it.each([
    [BUCKET, 'other', `the bucket other in account ${ACCOUNT}, region ${REGION}`],
    [`["${ACCOUNT}`, '["4', `the bucket ${BUCKET} in account 4, region ${REGION}`],
    [`"${REGION}"`, '"us-east-1"', `the bucket ${BUCKET} in account ${ACCOUNT}, region us-east-1`],
  ])('a place of the state with %s replaced by %s', async (text, other, theirs) => {
    command.arrange({ moduleFiles: { 'backend.s3.tfbackend': BACKEND.replace(text, other) } });
    const message = `infra/terraform/backend.s3.tfbackend names ${theirs}; these credentials and settings mean the bucket ${BUCKET} in account ${ACCOUNT}, region ${REGION}. Nothing was changed.`;
    await expectRefusal('--plan-only', message);
  });

  it.each(['', STATE])('a bucket that answers 403 to HEAD /%s', async (key) => {
    arrangeBucket('empty');
    command.aws.answers.set(`HEAD /${BUCKET}/${key}`, () => [403, '']);
    const message = `The bucket ${BUCKET} exists, but account ${ACCOUNT} may not read it: it is another account's, or these credentials may too little. Nothing was changed.`;
    await expectRefusal('--yes', message);
  });

  it('a local state that differs from the one in the bucket', async () => {
    arrangeBucket('with a state');
    command.arrange({ moduleFiles: { 'bootstrap/first.tfstate': '{"resources":[]}' } });
    const { code, output } = await command.run('--yes');
    const message = `first.tfstate differs from the state in the bucket ${BUCKET}; compare them and remove one. Nothing was changed.\n`;
    expect([code, output]).toEqual([2, expect.stringContaining(message)]);
    expect(command.calls().join('\n')).not.toMatch(/ (plan|apply) /);
    expect(command.files()).toEqual({ 'bootstrap/first.tfstate': '{"resources":[]}' });
  });
});

const init = 'terraform init -no-color -reconfigure';
const initInBucket = `${init} -backend-config=bucket=${BUCKET} -backend-config=region=${REGION} -backend-config=allowed_account_ids=["${ACCOUNT}"]`;

describe('npm run bootstrap', { timeout: 30_000 }, () => {
  it('plans, applies that plan with a local state, moves the state to the bucket, and writes the place', async () => {
    const { code, output } = await command.run('--yes');
    const plan = /-out=(\S+)/.exec(command.calls().join('\n'))?.[1];
    expect(command.calls()).toEqual([
      VERSION,
      init,
      `terraform plan -no-color with {"region":"${REGION}","bucket":"${BUCKET}"} -out=${plan}`,
      `terraform show -json ${plan}`,
      `terraform show -no-color ${plan}`,
      `terraform apply -no-color ${plan}`,
      initInBucket,
      expect.stringMatching(/^terraform state push \S+bootstrap\/first\.tfstate$/),
      'terraform output -json',
    ]);
    const place = `  account   ${ACCOUNT}\n  region    ${REGION}\n  bucket    ${BUCKET}\n`;
    expect(output).toContain(`\nthe diff\n\n${place}`);
    expect(output.slice(output.indexOf('\nDone.'))).toBe(`
Done. The state of all stages goes to ${BUCKET}.

Next:
- Commit infra/terraform/backend.s3.tfbackend, the files settings.auto.tfvars.json and .terraform.lock.hcl in infra/terraform/bootstrap.
- npm run deploy -- develop
`);
    const settings = `{\n  "region": "${REGION}"\n}\n`;
    expect(command.files()).toEqual({ 'backend.s3.tfbackend': BACKEND, [SETTINGS]: settings });
    expect([code, command.temporary()]).toEqual([0, []]);
  });

  it('with roles, writes their boundaries and lists the environments; without, removes those boundaries', async () => {
    command.arrange({ outputs: ROLES });
    const { output } = await command.run('--github octo/a --github-ids 1/23 --yes');
    const { permissions_boundaries } = ROLES;
    expect(readJson('bootstrap.auto.tfvars.json')).toEqual({ permissions_boundaries });
    expect(output).toContain('infra/terraform/bootstrap, infra/terraform/bootstrap.auto.tfvars.json.\n');
    expect(output).toContain(`each with the secret AWS_ROLE_ARN (docs/deploy.md):
  develop       arn:deploy
  develop-plan  arn:plan
- Run this command again after the first deployment of each stage`);
    command.arrange({});
    expect((await command.run('--yes')).code).toBe(0);
    expect(Object.keys(command.files())).not.toContain('bootstrap.auto.tfvars.json');
  });

  it.each([
    ['the plan in the bucket', [{ address: 'aws_s3_bucket.state', actions: ['update'] }], true],
    ['nothing if nothing has changed', [{ address: 'aws_s3_bucket.state', actions: ['no-op'] }], false],
  ])('run again, applies %s, and removes a left-over local state', async (_, changes, isApplied) => {
    arrangeBucket('with a state');
    const state = '{"resources":[{"type":"aws_s3_bucket"}]}';
    command.arrange({ changes, moduleFiles: { 'bootstrap/first.tfstate': state } });
    const { code } = await command.run('--yes');
    expect([code, command.applied(), command.calls()[1]]).toEqual([0, isApplied, initInBucket]);
    expect(command.calls().join()).not.toContain('state push');
    expect(Object.keys(command.files()).toSorted()).toEqual(['backend.s3.tfbackend', SETTINGS]);
  });

  const buckets = [undefined, 'empty', 'with a state'] as const;
  it.each(buckets)('--plan-only changes nothing (bucket: %s)', async (bucket) => {
    arrangeBucket(bucket);
    const { code, output } = await command.run('--plan-only --domain main=example.com');
    expect(output).toContain('\nthe diff\n');
    expect([code, command.applied(), command.files(), command.temporary()]).toEqual([0, false, {}, []]);
    const isImported = command.calls().some((call) => call.endsWith(` aws_s3_bucket.state ${BUCKET}`));
    expect(isImported).toBe(bucket === 'empty');
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
    expect((await command.run(options.join(' '))).code).toBe(0);
    expect(readJson(SETTINGS)).toEqual(first);
    await command.run('--domain main=example.com --yes');
    const second = { ...first, domains: { ...first.domains, main: ['example.com'] } };
    expect(readJson(SETTINGS)).toEqual(second);
    expect(planned()).toEqual({ ...second, bucket: BUCKET.replace(REGION, 'eu-west-1') });
  });

  it('takes the name of the service from the settings, where null is as good as nothing', async () => {
    arrangeSettings({ name: 'orders', github: null });
    await command.run('--plan-only');
    const orders = BUCKET.replace('inquiries', 'orders');
    expect(planned()).toEqual({ name: 'orders', region: REGION, bucket: orders });
  });

  it('runs the program that TERRAFORM names, for every step', async () => {
    command.arrange({ program: 'tofu' });
    const { code, output } = await command.run('--yes', { TERRAFORM: 'tofu' });
    expect([code, output]).toEqual([0, expect.stringContaining('tofu apply …\n')]);
    expect(command.calls().filter((call) => !call.startsWith('tofu '))).toEqual([]);
  });

  it.each([
    ['terraform init', 'Nothing was changed.'],
    ['terraform plan', 'Nothing was changed.'],
    ['terraform apply', IN_FILE],
    ['terraform state', IN_FILE],
    ['terraform output', IN_BUCKET],
  ])('says what is true if %s fails', async (failing, state) => {
    command.arrange({ failing });
    const { code, output } = await command.run('--yes');
    expect([code, command.temporary()]).toEqual([1, []]);
    expect(output).toContain(`Failed: ${failing}.\n\n${state}`);
    expect(Object.keys(command.files())).not.toContain('bootstrap/backend_override.tf');
  });
});

describe('npm run bootstrap asks GitHub for the ids of the repository', { timeout: 30_000 }, () => {
  const ids = { owner_id: '1', repository_id: '23' };

  it('with GITHUB_TOKEN, once for each repository', async () => {
    const asked: (string | undefined)[] = [];
    for (const [name, id] of Object.entries({ a: 23, b: 24 })) {
      command.aws.answers.set(`GET /repos/octo/${name}`, ({ headers }) => {
        asked.push(`${name} ${headers.authorization}`);
        return [200, JSON.stringify({ id, owner: { id: 1 } })];
      });
    }
    await command.run('--github octo/a --existing-provider --yes', { GITHUB_TOKEN: 'token' });
    const first = { repository: 'octo/a', ...ids, existing_provider: true };
    expect(readJson(SETTINGS)).toEqual({ region: REGION, github: first });
    await command.run('--github octo/a --yes');
    expect([asked, readJson(SETTINGS)]).toEqual([['a Bearer token'], { region: REGION, github: first }]);
    await command.run('--github octo/b --yes');
    const second = { ...first, repository: 'octo/b', repository_id: '24' };
    expect([asked.at(-1), readJson(SETTINGS)]).toEqual(['b undefined', { region: REGION, github: second }]);
  });

  it.each<[string, () => [number, string] | undefined]>([
    ['404', () => [404, '{"message":"Not Found"}']],
    ['a page', () => [200, '<html>']],
    ['nothing', () => undefined],
  ])('and trusts no ids, not those of another repository either, if it answers %s', async (_, answer) => {
    arrangeSettings({ github: { repository: 'octo/a', ...ids } });
    command.aws.answers.set('GET /repos/octo/b', answer);
    const { code, output } = await command.run('--github octo/b --yes');
    expect(output).toMatch(/^GitHub does not give the ids of octo\/b, so that only .* --github-ids\.\n/);
    expect([code, readJson(SETTINGS)]).toEqual([0, { region: REGION, github: { repository: 'octo/b' } }]);
  });
});

describe.skipIf(!hasScript)('npm run bootstrap at a terminal', { timeout: 30_000 }, () => {
  const isAsked = (output: string) => output.includes('Type the account id to confirm: ');

  it.each([
    ['another word', 'yes\r'],
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('changes nothing and exits 2 after %s', async (_, keys) => {
    arrangeBucket('empty');
    const { code, output } = await (await command.press(keys, '', isAsked)).ended;
    expect([code, output]).toEqual([2, expect.stringMatching(/Nothing was changed\.\r\n$/)]);
    expect([command.applied(), command.files(), command.temporary()]).toEqual([false, {}, []]);
  });

  it('applies after the account id', async () => {
    const { ended } = await command.press(`${ACCOUNT}\r`, '', isAsked);
    expect([(await ended).code, command.applied()]).toEqual([0, true]);
  });

  it('does not ask if nothing has changed', async () => {
    arrangeBucket('with a state');
    command.arrange({ changes: [] });
    const { ended } = await command.press('', '', (output) => output.includes('Done.'));
    expect(isAsked((await ended).output)).toBe(false);
  });
});

describe('npm run bootstrap after a signal', { timeout: 30_000 }, () => {
  /** Sends SIGINT, and then another signal, while the command waits for the step. */
  async function interrupt(hanging: string, moduleFiles: Record<string, string> = {}) {
    command.arrange({ hanging, moduleFiles });
    const { child, ended } = command.start('--domain main=example.com --yes');
    await command.awaitCall(`${hanging} waits`);
    child.kill('SIGINT');
    await command.awaitCall(`${hanging} got SIGINT`);
    child.kill('SIGTERM');
    command.letEnd();
    const { code, output } = await ended;
    expect([code, command.signals()]).toEqual([130, [`${hanging} got SIGINT`]]);
    expect(command.temporary()).toEqual([]);
    expect(Object.keys(command.files())).not.toContain('bootstrap/backend_override.tf');
    return output;
  }

  it('during the plan changes nothing', async () => {
    arrangeBucket('empty');
    expect(await interrupt('terraform plan')).toMatch(/\n\nInterrupted\. Nothing was changed\.\n$/);
    expect(command.files()).toEqual({});
  });

  it.each([
    ['terraform apply', undefined, IN_FILE],
    ['terraform apply', 'with a state', IN_BUCKET],
    ['terraform output', undefined, IN_BUCKET],
  ] as const)(
    'during %s says where the state is; run again, continues (bucket: %s)',
    async (hanging, bucket, place) => {
      arrangeBucket(bucket);
      expect(await interrupt(hanging)).toContain(`\n\nInterrupted. ${place}`);
      expect(Object.keys(command.files())).not.toContain('backend.s3.tfbackend');

      command.arrange({});
      const again = await command.run('--yes');
      const isLocal = again.output.includes('The local state of an interrupted run is used.\n');
      expect([again.code, isLocal]).toEqual([0, place === IN_FILE]);
      expect(planned()).toMatchObject({ domains: { main: ['example.com'] } });
      expect(command.files()['backend.s3.tfbackend']).toBe(BACKEND);
    },
  );

  it('says what to do with a state that Terraform could not save', async () => {
    const output = await interrupt('terraform apply', { 'bootstrap/errored.tfstate': '' });
    expect(output).toContain('save its state, which is in infra/terraform/bootstrap/errored.tfstate.');
  });
});
