/** `npm run rollback` and deploy/versions.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../deploy/rollback.ts';
import type { testStage as runSmokeTest } from '../../deploy/smoke.ts';
import { switchAlias } from '../../deploy/versions.ts';
import { ACCOUNT, refusal } from '../helpers/aws.ts';
import { FORM_OUTPUTS, runCommandHere, setUpProject, typed } from '../helpers/programs.ts';
import { paths } from '../helpers/project.ts';

const testStage = vi.hoisted(() => vi.fn<typeof runSmokeTest>());
const check = vi.hoisted(() => vi.fn<(name: string) => Promise<void>>());
vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);
vi.mock(import('../../deploy/smoke.ts'), () => ({ testStage }));
vi.mock(import('../../deploy/invoke.ts'), () => ({
  createInvoke: (name: string) => name as never,
  createInvocationChecks: (name) => [['POST creates an inquiry', () => check(String(name))]],
}));

const NAME = 'inquiries-release';
const { state } = await setUpProject();

const STATE = '/b/env:/release/inquiries/terraform.tfstate';
const OUTPUTS = {
  ...FORM_OUTPUTS,
  cors_origin: 'http://localhost:5173',
  function: { name: NAME, version: '10', live: '10' },
};
const put = (path: string, body: string) => state.objects.set(path, { body, type: '', cache: '' });
const putState = (outputs: object) =>
  put(
    STATE,
    JSON.stringify({
      outputs: Object.fromEntries(
        Object.entries(outputs).map(([name, value]) => [name, { value }]),
      ),
    }),
  );
const readPage = () => state.objects.get('/form-bucket/index.html')?.body;

beforeEach(() => {
  state.functionName = NAME;
  testStage.mockReset().mockResolvedValue(true);
  check.mockReset().mockResolvedValue();
  writeBackend(`"444455556666", "${ACCOUNT}"`);
  putState(OUTPUTS);
  for (const version of ['9', '10']) put(`/form-bucket/versions/${version}/index.html`, version);
  put('/form-bucket/index.html', '10');
});

const rollback = (args: string) => runCommandHere(main, args);
const alias = (name: string, version: string) => ({ name, version, revision: 1 });
const writeBackend = (accounts: string) =>
  writeFileSync(
    join(paths.MODULE, 'backend.s3.tfbackend'),
    `bucket = "b"\nallowed_account_ids = [${accounts}]\n`,
  );

/** Another command switches the alias just before this one does. */
const switchMeanwhile = (version: string, revision: number) => {
  state.answers[`PUT /2015-03-31/functions/${NAME}/aliases/live`] = () => {
    Object.assign(state.aliases[0] ?? {}, { version, revision });
    return undefined;
  };
};

/** These versions fail their test. */
const fail = (...versions: string[]) =>
  check.mockImplementation(async (name) => {
    if (versions.includes(name.split(':')[1] ?? '')) throw new Error('answered 500, not 201');
  });

describe('npm run rollback', () => {
  it('tests the version before the live one, switches the alias, serves its form, tests the stage, and says how to go forward', async () => {
    testStage.mockResolvedValue(false);
    const { code, output } = await rollback('release --yes');
    for (const part of [
      `inquiries-release, stage release, account ${ACCOUNT}, region eu-central-1\n      9  2026-11-09 10:20  sha-9\n`,
      'Switched: version 9 is live.\nIts form is served at https://d1.example.com/.\n',
      'To go forward: correct or revert the commit, then npm run deploy -- release.',
      'The smoke test failed. Version 9 is live; before it was 10.\n',
    ]) {
      expect(output).toContain(part);
    }
    expect([code, state.changes]).toEqual([
      1,
      ['switch 9', 'put /form-bucket/index.html', 'invalidate / /index.html'],
    ]);
    expect([readPage(), check.mock.calls, testStage.mock.calls[0]?.[0]]).toEqual([
      '9',
      [[`${NAME}:9`]],
      OUTPUTS,
    ]);
  });

  it('passes over versions that fail their test', async () => {
    fail('9', '3');
    const { code, output } = await rollback('release --yes');
    expect([code, state.changes[0]]).toEqual([0, 'switch 2']);
    expect(output).toContain(
      'Version 9 fails its test, and is no choice: POST creates an inquiry: answered 500, not 201\n',
    );
  });

  it('switches to the version that is named, also forward', async () => {
    const earlier = await rollback('release 2 --yes');
    const message = 'It was deployed without a form: the form stays as it is.\n';
    expect(earlier).toEqual({ code: 0, output: expect.stringContaining(message) });
    expect((await rollback('release 10 --yes')).code).toBe(0);
    // Again, as after a rollback that was killed.
    expect((await rollback('release 10 --yes')).code).toBe(0);
    expect(state.changes).toEqual(['switch 2', 'switch 10']);
  });

  it('lists the versions that pass, newest first, with their dates and packages, and changes nothing', async () => {
    fail('9', '2');
    const { code, output } = await rollback('release --list');
    expect(output.split('\n').filter((line) => /^ +\d/.test(line))).toEqual([
      '     10  2026-11-10 10:20  sha-10  live',
      '      3  2026-11-03 10:20  sha-3',
      '      1  2026-11-01 10:20  sha-1',
    ]);
    expect([code, state.changes]).toEqual([0, []]);
  });

  it('without the state switches the function alone, and says so', async () => {
    state.objects.delete(STATE);
    const { code, output } = await rollback('release --yes');
    expect(output).toContain('The state of release cannot be read (');
    expect(output).toContain('): the form stays, and the API is not tested.\n');
    expect([code, state.changes, readPage()]).toEqual([0, ['switch 9'], '10']);
  });

  it.each([
    ['release\n', 0, ['switch 9', 'put /form-bucket/index.html', 'invalidate / /index.html']],
    ['yes\n', 2, []],
    ['', 2, []],
  ])(
    'asks at a terminal, and switches only if the stage is typed: %j',
    async (keys, code, changes) => {
      const outcome = await runCommandHere(main, 'release', { stdin: typed(keys), isTTY: true });
      expect(outcome.output).toContain(
        'Make version 9 live instead of 10? Type release to confirm: ',
      );
      expect(outcome.output.includes('Nothing was changed.')).toBe(code === 2);
      expect([outcome.code, state.changes]).toEqual([code, changes]);
    },
  );
});

describe('npm run rollback refuses in one line and changes nothing:', () => {
  it.each<[args: string, message: string, arrange?: () => unknown]>([
    ['--yes', 'The stage is missing: npm run rollback -- develop|main|release'],
    ['release 1 2 --yes', '"1 2" is not a version; a version is a number.'],
    ['release 4 --yes', 'No version 4 is there and passes its test. Nothing was changed.'],
    [
      'release --yes',
      'No version before 1, which is live, is there and passes its test. Nothing was changed.',
      () => (state.aliases = [alias('live', '1')]),
    ],
    [
      'release --yes',
      'There is no function of release with an alias live in this account and region; npm run deploy -- release makes it.',
      () => (state.aliases = []),
    ],
    [
      'release --yes',
      `The credentials are of account ${ACCOUNT}, but release is in 444455556666 (infra/terraform/backend.s3.tfbackend).`,
      () => writeBackend('"444455556666"'),
    ],
  ])('%s: %s', async (args, message, arrange = () => undefined) => {
    arrange();
    const { code, output } = await rollback(args);
    const lines = output.split('\n').filter((line) => !/^(inquiries-\w+, stage| +9 )/.test(line));
    expect([code, lines]).toEqual([2, [message, '']]);
    expect(state.changes).toEqual([]);
  });

  it('an alias that another command has switched at the same time', async () => {
    switchMeanwhile('3', 7);
    const { code, output } = await rollback('release --yes');
    expect(output).toContain(
      'Version 3 of inquiries-release was made live by another command at the same time; nothing was switched.\n',
    );
    expect([code, state.changes]).toEqual([2, []]);
  });

  it('credentials that do not allow what it needs, naming it, with exit code 1', async () => {
    const message = `User: arn:aws:iam::${ACCOUNT}:user/ana is not authorized to perform: lambda:UpdateAlias on resource: r`;
    state.answers[`PUT /2015-03-31/functions/${NAME}/aliases/live`] = () =>
      refusal(403, 'AccessDeniedException', message);
    const { code, output } = await rollback('release --yes');
    expect(output).toContain('The AWS credentials do not allow lambda:UpdateAlias.\n');
    expect([code, state.changes]).toEqual([1, []]);
  });
});

it('a version counts as switched when the response to the switch was lost and the SDK sent it again', async () => {
  switchMeanwhile('3', 2);
  await switchAlias(NAME, '3', { version: '10', revisionId: '1' });
  expect(state.aliases[0]?.version).toBe('3');
});
