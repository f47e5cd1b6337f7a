/** `npm run rollback` and deploy/versions.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { main } from '../../deploy/rollback.ts';
import type { testStage as runSmokeTest } from '../../deploy/smoke.ts';
import { switchAlias } from '../../deploy/versions.ts';
import { ACCOUNT } from '../helpers/aws.ts';
import { FORM_OUTPUTS, runCommandHere, setUpProject, typed } from '../helpers/programs.ts';
import { paths } from '../helpers/project.ts';

const testStage = vi.hoisted(() => vi.fn<typeof runSmokeTest>());
vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);
vi.mock(import('../../deploy/smoke.ts'), () => ({ testStage }));

const NAME = FORM_OUTPUTS.function.name;
const STATE = '/b/env:/develop/inquiries/terraform.tfstate';
const aws = await setUpProject();
const { state } = aws;
const put = (path: string, body: string) => state.objects.set(path, { body, type: '', cache: '' });
const readPage = () => state.objects.get('/form-bucket/index.html')?.body;

beforeEach(() => {
  testStage.mockReset().mockResolvedValue(true);
  const place = join(paths.MODULE, 'backend.s3.tfbackend');
  writeFileSync(place, `bucket = "b"\nallowed_account_ids = ["${ACCOUNT}"]\n`);
  const outputs = Object.entries(FORM_OUTPUTS).map(([name, value]) => [name, { value }]);
  put(STATE, JSON.stringify({ outputs: Object.fromEntries(outputs) }));
  for (const version of ['9', '10']) put(`/form-bucket/versions/${version}/index.html`, version);
  put('/form-bucket/index.html', '10');
});

const rollback = (args: string, keys?: string) =>
  runCommandHere(main, args, keys === undefined ? {} : { stdin: typed(keys), isTTY: true });

/** Versions that answer a request otherwise: that of a person, or that without claims. */
const breakVersions = (versions: readonly string[], isClaimed: boolean, answer: () => string) => {
  const { invoke } = state;
  state.invoke = async (name, event) =>
    versions.includes(name.split(':')[1] ?? '') && event.includes('claims') === isClaimed
      ? answer()
      : invoke(name, event);
};
/** Another command switches the alias just before this one does. */
const switchMeanwhile = (version: string) => {
  state.answers[`PUT /2015-03-31/functions/${NAME}/aliases/live`] = () => {
    state.live = { FunctionVersion: version, RevisionId: '7' };
    return undefined;
  };
};

it('tests the version before the live one, switches the alias, serves its form, tests the stage, and says how to go forward', async () => {
  testStage.mockResolvedValue(false);
  const { code, output } = await rollback('develop --yes');
  for (const part of [
    `${NAME}:10 is live, account ${ACCOUNT}, region eu-central-1\n      9  2026-11-09T10:20  sha-9  passes its test\n`,
    'Switched: version 9 is live.\nform      index.html is served\n',
    'To go forward: correct or revert the commit, then npm run deploy -- develop.',
    'The smoke test failed. Version 9 is live; before it was 10.\n',
  ]) {
    expect(output).toContain(part);
  }
  const changes = ['switch 9', 'put /form-bucket/index.html', 'invalidate / /index.html'];
  expect([code, state.changes, readPage()]).toEqual([1, changes, '9']);
  expect(testStage.mock.calls[0]?.[0]).toEqual(FORM_OUTPUTS);
});

const answer = (statusCode: number, body: string, headers: object = {}): string =>
  JSON.stringify({ statusCode, headers: { 'Content-Type': 'application/json', ...headers }, body });
const MESSAGE = 'Invalid or missing required JWT claims';
it.each<[what: string, isClaimed: boolean, answer: () => string, reason: string]>([
  ['lets everybody in', false, () => answer(200, '{}'), 'answered 200, not 401'],
  [
    'throws',
    false,
    () => {
      throw new Error('{"errorMessage":"broken"}');
    },
    `${NAME}:9 failed: {"errorMessage":"broken"}`,
  ],
  [
    'has its own text',
    false,
    () => answer(401, '{"error":"Unauthorized","message":"m"}'),
    `message is "m", not "${MESSAGE}"`,
  ],
  ['answers a person with 500', true, () => answer(500, '{}'), 'answered 500, not 405'],
])('passes over a version that %s, and over all that fail', async (_, isClaimed, reply, reason) => {
  breakVersions(['9', '3'], isClaimed, reply);
  const { code, output } = await rollback('develop --yes');
  expect([code, state.changes[0]]).toEqual([0, 'switch 2']);
  expect(output).toMatch(/^ +9 .*  .*: /m);
  expect(output).toContain(reason);
});

it('switches to the version that is named, also forward, and again', async () => {
  for (const version of ['2', '10', '10']) {
    expect((await rollback(`develop ${version} --yes`)).code).toBe(0);
  }
  expect(state.changes).toEqual(['switch 2', 'switch 10']);
});

it('lists the versions, newest first, with whether they pass, and changes nothing', async () => {
  breakVersions(['9', '2'], false, () => '{}');
  const { code, output } = await rollback('develop --list');
  const passing = output.split('\n').filter((line) => line.endsWith('passes its test'));
  expect(passing.map((line) => Number(line.slice(0, 7)))).toEqual([10, 3, 1]);
  expect([code, state.changes]).toEqual([0, []]);
});

it.each<[string, string, (() => unknown)?]>([
  ['develop 1 2 --yes', '"2" is one argument too many.'],
  ['develop 4 --yes', 'There is no version 4 that passes its test. Nothing was changed.'],
  [
    'develop --yes',
    'There is no version before 1 that passes its test. Nothing was changed.',
    () => (state.live = { FunctionVersion: '1', RevisionId: '1' }),
  ],
  [
    'develop --yes',
    `Version 3 of ${NAME} was made live by another command at the same time; nothing was switched.`,
    () => switchMeanwhile('3'),
  ],
])('refuses %s: %s', async (args, message, happen = () => undefined) => {
  happen();
  const { code, output } = await rollback(args);
  expect([code, output]).toEqual([2, expect.stringContaining(`${message}\n`)]);
  expect(state.changes).toEqual([]);
});

it('asks at a terminal', async () => {
  expect((await rollback('develop', 'yes\n')).code).toBe(2);
  expect(state.changes).toEqual([]);
  expect((await rollback('develop', 'develop\n')).code).toBe(0);
  expect(state.changes[0]).toBe('switch 9');
});

it('a version counts as switched when the response to the switch was lost and the SDK sent it again', async () => {
  switchMeanwhile('3');
  await switchAlias(NAME, '3', { version: '10', revisionId: '1' });
  expect(state.live?.FunctionVersion).toBe('3');
});
