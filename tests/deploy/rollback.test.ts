/** `npm run rollback` and deploy/versions.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../deploy/rollback.ts';
import type { main as runSmokeTest } from '../../deploy/smoke.ts';
import { pruneVersions, switchAlias } from '../../deploy/versions.ts';
import { ACCOUNT, refusal } from '../helpers/aws.ts';
import { FORM_OUTPUTS, runCommandHere, setUpProject, typed } from '../helpers/programs.ts';
import { paths } from '../helpers/project.ts';

const smoke = vi.hoisted(() => vi.fn<typeof runSmokeTest>());
vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);
vi.mock(import('../../deploy/smoke.ts'), () => ({ main: smoke }));

const NAME = 'inquiries-release';
const { state } = await setUpProject();

/** The options of the smoke test. */
const readTests = () => smoke.mock.calls.map(([given]) => given.join(' '));
const STATE = '/b/env:/release/inquiries/terraform.tfstate';
const OUTPUTS = {
  ...FORM_OUTPUTS,
  cors_origin: 'http://localhost:5173',
  function: { name: NAME, version: '10' },
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
  smoke.mockReset().mockResolvedValue(0);
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

/** Somebody else switches the alias just before this command does. */
const switchMeanwhile = (version: string, revision: number) => {
  state.answers[`PUT /2015-03-31/functions/${NAME}/aliases/live`] = () => {
    Object.assign(state.aliases[0] ?? {}, { version, revision });
    return undefined;
  };
};

describe('npm run rollback', () => {
  it('switches the alias to the version before the live one, serves its form, checks the stage as a user of its pool, and says how to go forward', async () => {
    smoke.mockResolvedValue(1);
    const { code, output } = await rollback('release --yes');
    expect(output).toContain(
      `inquiries-release, stage release, account ${ACCOUNT}, region eu-central-1\n`,
    );
    expect(output).toContain('     10  2026-11-10 10:20  sha-10  c10           live\n');
    expect(output).toContain('      9  2026-11-09 10:20  sha-9  c9  <- switch to this version\n');
    expect(output).toContain(
      'Switched: version 9 is live.\nIts form is served at https://d1.example.com/.\n',
    );
    expect(output).toContain(
      'To go forward: correct or revert the commit, then npm run deploy -- release.',
    );
    expect(output).toContain(
      'The smoke test failed. Version 9 is live; before it was 10. --list shows all versions.\n',
    );
    const invalidation = 'invalidate / /inquiry-form.js /config.json /index.html';
    expect([code, state.changes]).toEqual([
      1,
      ['switch 9', 'put /form-bucket/index.html', invalidation],
    ]);
    expect([readPage(), readTests()]).toEqual([
      '9',
      [
        `--wait 30 --function ${NAME}:live --url https://api.example.com --origin http://localhost:5173 --user-pool eu_1 --client c2`,
      ],
    ]);
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

  it('lists the versions, newest first, with their dates, packages and commits, and changes nothing', async () => {
    const { code, output } = await rollback('release --list');
    expect(output.split('\n').slice(1, -1)).toEqual([
      '     10  2026-11-10 10:20  sha-10  c10           live',
      '      9  2026-11-09 10:20  sha-9  c9',
      '      3  2026-11-03 10:20  sha-3  c3',
      '      2  2026-11-02 10:20  sha-2  c2',
      '      1  2026-11-01 10:20  sha-1  c1',
    ]);
    expect([code, state.changes, readTests()]).toEqual([0, [], []]);
  });

  it('without the state switches and checks the function alone, and says so', async () => {
    state.objects.delete(STATE);
    const { code, output } = await rollback('release --yes');
    expect(output).toContain('The state of release cannot be read (');
    expect(output).toContain('): the form stays, and only the function is tested.\n');
    expect(readTests()).toEqual([`--wait 30 --function ${NAME}:live`]);
    expect([code, state.changes, readPage()]).toEqual([0, ['switch 9'], '10']);
  });

  it.each([
    [
      'release\n',
      0,
      [
        'switch 9',
        'put /form-bucket/index.html',
        'invalidate / /inquiry-form.js /config.json /index.html',
      ],
    ],
    ['yes\n', 2, []],
    ['', 2, []],
  ])(
    'asks at a terminal, and switches only if the stage is typed: %j',
    async (keys, code, changes) => {
      const outcome = await runCommandHere(main, 'release', { stdin: typed(keys), isTTY: true });
      expect(outcome.output).toContain('Switch to it? Type release to confirm: ');
      expect(outcome.output.includes('Nothing was changed.')).toBe(code === 2);
      expect([outcome.code, state.changes]).toEqual([code, changes]);
    },
  );
});

describe('npm run rollback refuses in one line and changes nothing:', () => {
  it.each<[args: string, message: string, arrange?: () => unknown]>([
    ['--yes', 'The stage is missing: npm run rollback -- develop|main|release'],
    ['release 1 2 --yes', '"1 2" is not a version; a version is a number.'],
    ['release 4 --yes', 'There is no version 4; there are 10, 9, 3, 2, 1.'],
    [
      'release --yes',
      'There is no version before 1, which is live.',
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
    const lines = output
      .split('\n')
      .filter((line) => !/^(inquiries-|contact-)\w+, stage/.test(line));
    expect([code, lines]).toEqual([2, [message, '']]);
    expect(state.changes).toEqual([]);
  });

  it('an alias that somebody else has switched meanwhile', async () => {
    switchMeanwhile('3', 7);
    const { code, output } = await rollback('release --yes');
    expect(output).toContain(
      'The alias live of inquiries-release was changed by somebody else meanwhile and names version 3; it was not switched.\n',
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

describe('the versions of a function', () => {
  it('are pruned to the newest ones, of all pages, by number', async () => {
    expect(await pruneVersions(NAME, 2)).toEqual(['3', '2', '1']);
    expect(state.versions).toEqual(['9', '10']);
    expect(await pruneVersions(NAME, 2)).toEqual([]);
  });

  it('are kept while an alias names them', async () => {
    state.aliases = [alias('live', '2'), alias('mine', '9')];
    expect(await pruneVersions(NAME, 1)).toEqual(['3', '1']);
    expect(state.versions).toEqual(['2', '9', '10']);
  });

  it('count as switched when the response to the switch was lost and the SDK sent it again', async () => {
    switchMeanwhile('3', 2);
    await switchAlias(NAME, '3', '1');
    expect(state.aliases[0]?.version).toBe('3');
  });
});
