import { expect, it } from 'vitest';
import { STAGES } from '../../lib/stages.ts';
import { readText } from '../helpers/repository.ts';

const deploy = readText('.github/workflows/deploy.yml');
const check = readText('.github/workflows/check.yml');
const drift = readText('.github/workflows/drift.yml');
const workflows = deploy + check + drift;
/** The text of one job. */
const readJob = (name: string): string =>
  deploy.split(/^ {2}(?=[\w-]+:$)/m).find((job) => job.startsWith(`${name}:`)) ?? '';

it('a push to the branch of a stage deploys that stage, after the checks', () => {
  expect(deploy).toContain(`branches: [${STAGES.join(', ')}]`);
  expect(deploy).toContain('uses: ./.github/workflows/check.yml');
  expect(readJob('plan')).toContain('needs: check');
  expect(readJob('deploy')).toContain('needs: plan');
  expect(readJob('deploy')).toContain('name: ${{ github.ref_name }}\n');
});

it('the plan is made before the approval by a role that only reads, and only that plan is deployed', () => {
  const plan = readJob('plan');
  expect(plan).toContain('environment: ${{ github.ref_name }}-plan\n');
  expect(plan).toContain('TF_CLI_ARGS_plan: -lock=false');
  expect(plan).toMatch(/shell: bash .*\n(.*\n)+ +npm run --silent deploy -- "\$GITHUB_REF_NAME" --plan-only \| tee/);
  expect(plan).toContain('>> "$GITHUB_STEP_SUMMARY"');
  expect(plan).toContain('sha256: ${{ steps.plan.outputs.sha256 }}');
  expect(readJob('deploy')).toContain('PLAN_SHA256: ${{ needs.plan.outputs.sha256 }}');
  expect(readJob('deploy')).toContain('--yes --expect "$PLAN_SHA256"');
});

it('every day the branch of each stage is compared with the stage, by a role that only reads', () => {
  expect(drift).toMatch(/^ {2}schedule:\n {4}- cron: \d+ \d+ \* \* \*$/m);
  expect(drift).toContain(`stage: [${STAGES.join(', ')}]`);
  expect(drift).toContain('ref: ${{ matrix.stage }}');
  expect(drift).toContain('environment: ${{ matrix.stage }}-plan\n');
  expect(drift).toContain('run: npm run deploy -- "$STAGE" --drift\n');
  expect(drift).toContain('TF_CLI_ARGS_plan: -lock=false');
});

it('every night the packages are audited, and Dependabot proposes no version of the last week', () => {
  expect(drift).toContain('- run: npm audit --omit=dev\n');
  expect(drift).toContain('- run: npm audit signatures\n');
  const updates = readText('.github/dependabot.yml').split('  - package-ecosystem: ').slice(1);
  expect(updates.map((update) => update.split('\n')[0])).toEqual(['github-actions', 'npm']);
  for (const update of updates) expect(update).toMatch(/cooldown:\n +default-days: 7\n/);
});

it('a pull request runs .ci/run, every check of the infrastructure and the apply test', () => {
  expect(check).toMatch(/^on:\n {2}pull_request:/m);
  expect(check).toContain('run: .ci/run');
  expect(check).toContain('run: npm run check:infra -- --no-skip');
  expect(check).toMatch(/run: npm run test:apply\n +env:\n +AWS_ENDPOINT_URL: http/);
});

it('no workflow stores AWS keys or has a permission to write other than the identity token', () => {
  expect(workflows).not.toMatch(/access-key|ACCESS_KEY|pull_request_target/i);
  const permissions = [...workflows.matchAll(/^\s+([a-z-]+: (?:read|write))\b/gm)].map(([, found]) => found);
  expect(new Set(permissions)).toEqual(new Set(['contents: read', 'id-token: write']));
});

it('no workflow puts an expression into a shell command', () => {
  const commands = [...workflows.matchAll(/run: (?:[|>]-?\n(?: {10}.*\n)+|.*)/g)].map(([command]) => command);
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
});
