import { expect, it } from 'vitest';
import { STAGES } from '../../scripts/infra/terraform.ts';
import { readText } from '../helpers/repository.ts';

const deploy = readText('.github/workflows/deploy.yml');
const check = readText('.github/workflows/check.yml');
const workflows = deploy + check;

it('a push to the branch of a stage deploys that stage, after the checks', () => {
  expect(deploy).toContain(`branches: [${STAGES.join(', ')}]`);
  expect(deploy).toContain('uses: ./.github/workflows/check.yml');
  expect(deploy).toContain('needs: check');
  expect(deploy).toContain('name: ${{ github.ref_name }}');
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
