import { beforeEach, expect, it, vi } from 'vitest';
import { switchAlias } from '../../deploy/functions.ts';
import { main } from '../../deploy/rollback.ts';
import type { testStage as runSmokeTest } from '../../deploy/smoke.ts';
import { ACCOUNT } from '../helpers/aws.ts';
import { FORM_OUTPUTS, setUpProject } from './programs.ts';

const testStage = vi.hoisted(() => vi.fn<typeof runSmokeTest>());
vi.mock(import('../../lib/paths.ts'), async () => (await import('./project.ts')).paths);
vi.mock(import('../../deploy/smoke.ts'), () => ({ testStage }));

const { name } = FORM_OUTPUTS.function;
const { arrange, command, state } = await setUpProject();
beforeEach(() => {
  testStage.mockReset().mockResolvedValue(true);
  arrange({ outputs: FORM_OUTPUTS });
  for (const version of ['9', '10']) {
    state.objects.set(`/form-bucket/versions/${version}/index.html`, version);
  }
});

/** Just before this command does. */
const switchMeanwhile = (version: string) => {
  state.answers[`PUT /2015-03-31/functions/${name}/aliases/live`] = () => {
    state.live = version;
    return undefined;
  };
};

it('tests the version before the live one, makes it and its form live, and tests the stage', async () => {
  testStage.mockResolvedValue(false);
  const { code, output } = await command(main, 'develop --yes');
  expect(code).toBe(1);
  for (const part of [
    `${name}:10 is live, account ${ACCOUNT}, region eu-central-1\n\nVersion 9 of `,
    '5 passed, 0 failed, 1 pending\nSwitched: version 9 is live.\n',
    'To go forward: npm run deploy -- develop of a corrected commit.',
    'The smoke test failed. Version 9 is live; before it was 10.\n',
  ]) {
    expect(output).toContain(part);
  }
  expect(state.changes).toEqual(['switch 9', 'put /form-bucket/index.html', 'invalidate /*']);
  expect(state.objects.get('/form-bucket/index.html')).toBe('9');
  expect(testStage.mock.calls[0]?.[0]).toEqual(FORM_OUTPUTS);
});

/** With which every request is answered. */
const OPEN = JSON.stringify({
  statusCode: 200,
  headers: { 'Access-Control-Allow-Origin': 'https://www.example.com' },
});
it.each([
  ['lets everybody in', OPEN, 'answered 200, not 401'],
  ['throws', new Error('{"errorMessage":"broken"}'), `${name}:9 failed: {"errorMessage":"broken"}`],
])('passes over a version that %s, and over all that fail', async (_, answer, reason) => {
  const { invoke } = state;
  state.invoke = async (called, event) => {
    if (![`${name}:9`, `${name}:3`].includes(called)) return invoke(called, event);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const { code, output } = await command(main, 'develop --yes');
  expect([code, state.changes[0]]).toEqual([0, 'switch 2']);
  expect(output).toContain(reason);
});

it('switches to the version that is named, also forward, and again', async () => {
  for (const version of ['2', '10', '10']) {
    expect(await command(main, `develop ${version} --yes`)).toMatchObject({ code: 0 });
  }
  expect(state.changes.filter((each) => each.startsWith('switch'))).toEqual([
    'switch 2',
    'switch 10',
  ]);
});

it.each<[string, string, ((() => unknown) | undefined)?, string?]>([
  ['develop 1 2 --yes', '"develop 2" is not a stage'],
  ['develop 4 --yes', 'There is no version 4 that passes its test. Nothing was changed.'],
  ['develop --yes', 'There is no version before 1 that passes its test.', () => (state.live = '1')],
  [
    'develop --yes',
    'was made live by another command at the same time; nothing was switched.',
    () => switchMeanwhile('3'),
  ],
  ['develop', 'Not confirmed; '],
  ['develop', 'Not confirmed; ', undefined, 'yes\n'],
])('refuses %s: %s', async (args, message, happen, keys) => {
  happen?.();
  const output = expect.stringContaining(message) as string;
  expect(await command(main, args, keys)).toEqual({ code: 2, output });
  expect(state.changes).toEqual([]);
});

it('takes the name of the stage at a terminal for a yes', async () => {
  expect(await command(main, 'develop', 'develop\n')).toMatchObject({ code: 0 });
  expect(state.changes[0]).toBe('switch 9');
});

it('a version counts as switched when the response was lost and the SDK sent it again', async () => {
  switchMeanwhile('3');
  await switchAlias(name, '3', { version: '10', RevisionId: 'of 10' });
  expect(state.live).toBe('3');
});
