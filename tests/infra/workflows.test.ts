import { expect, it } from 'vitest';
import { STAGES } from '../../lib/stages.ts';
import { readText } from '../helpers/repository.ts';

const deploy = readText('.github/workflows/deploy.yml');
const check = readText('.github/workflows/check.yml');
const drift = readText('.github/workflows/drift.yml');
const workflows = deploy + check + drift;
const NO_LOCK = 'TF_CLI_ARGS_plan: -lock=false';
const PLANS = 'environment: ${{ github.ref_name }}-plan\n';
/** The text of one job. */
const readJob = (name: string): string =>
  deploy.split(/^ {2}(?=[\w-]+:$)/m).find((job) => job.startsWith(`${name}:`)) ?? '';

it.each<[rule: string, text: string, parts: readonly (string | RegExp)[]]>([
  [
    'a push to a stage’s branch checks and deploys',
    deploy,
    [`branches: [${STAGES.join(', ')}]`, 'check.yml'],
  ],
  [
    'a deployment follows its plan, in its stage',
    readJob('deploy'),
    ['needs: plan', 'name: ${{ github.ref_name }}\n'],
  ],
  [
    'a plan follows the checks, by a role that only reads',
    readJob('plan'),
    ['needs: check', PLANS, NO_LOCK],
  ],
  [
    'a plan stops where its command fails',
    readJob('plan'),
    [/shell: bash .*\n(.*\n)+ +npm run .* --plan-only .*\| tee/],
  ],
  [
    'a plan is shown before the approval',
    readJob('plan'),
    ['"$GITHUB_STEP_SUMMARY"', '--plan "$RUNNER_TEMP/plan"', 'actions/upload-artifact'],
  ],
  [
    'only that plan is deployed',
    readJob('deploy'),
    ['actions/download-artifact', '--yes --plan "$RUNNER_TEMP/plan"'],
  ],
  ['all stages are compared', drift, [`stage: [${STAGES.join(', ')}]`, '--drift\n']],
  ['that is done every day', drift, [/^ {2}schedule:\n {4}- cron: \d+ \d+ \* \* \*$/m]],
  [
    'that is by a role that only reads',
    drift,
    ['environment: ${{ matrix.stage }}-plan\n', NO_LOCK],
  ],
  [
    'they are compared with their branch',
    drift,
    ['ref: ${{ matrix.stage }}', 'deploy -- "$STAGE"'],
  ],
  [
    'packages are audited',
    drift,
    ['- run: npm audit --omit=dev\n', '- run: npm audit signatures\n'],
  ],
  [
    'a pull request is checked',
    check,
    [/^on:\n {2}pull_request:/m, '.ci/run', 'check:infra -- --no-skip'],
  ],
  [
    'a pull request is deployed to an emulator',
    check,
    [/npm run test:apply\n +env:\n +AWS_ENDPOINT_URL: http/],
  ],
])('%s', (_, text, parts) => {
  for (const part of parts) expect(text).toMatch(part);
});

it('Dependabot proposes no version of the last week', () => {
  const updates = readText('.github/dependabot.yml').split('  - package-ecosystem: ').slice(1);
  expect(updates.map((update) => update.split('\n')[0])).toEqual(['github-actions', 'npm']);
  for (const update of updates) expect(update).toMatch(/cooldown:\n +default-days: 7\n/);
});

it('no workflow stores AWS keys or has a permission to write other than the identity token', () => {
  expect(workflows).not.toMatch(/access-key|ACCESS_KEY|pull_request_target/i);
  const permissions = [...workflows.matchAll(/^\s+([a-z-]+: (?:read|write))\b/gm)].map(
    ([, found]) => found,
  );
  expect(new Set(permissions)).toEqual(new Set(['contents: read', 'id-token: write']));
});

it('no workflow puts an expression into a shell command', () => {
  const commands = [...workflows.matchAll(/run: (?:[|>]-?\n(?: {10}.*\n)+|.*)/g)].map(
    ([command]) => command,
  );
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
});
