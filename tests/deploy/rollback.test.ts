import { expect, it } from 'vitest';
import { FORM_OUTPUTS, setUpProject } from './programs.ts';
import { testStage } from './smoke-test.ts';
import { updateLive } from '../../deploy/versions.ts';
import { main } from '../../deploy/rollback.ts';

const { name } = FORM_OUTPUTS.function;
const { arrange, command, transcribe, state } = await setUpProject(() => {
  testStage.mockReset().mockResolvedValue([]);
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

/** Answers every request to two versions. */
const breakVersions = (toAnswer: () => Promise<string>) => () => {
  const { invoke } = state;
  state.invoke = async (called, event) =>
    [`${name}:9`, `${name}:3`].includes(called) ? toAnswer() : invoke(called, event);
};
const OPEN = JSON.stringify({
  statusCode: 200,
  headers: { 'Access-Control-Allow-Origin': 'https://www.example.com' },
});

const CASES: Record<string, { args?: string; happen?: () => unknown; keys?: string }> = {
  'two versions': { args: 'develop 1 2 --yes' },
  'a version that is not there': { args: 'develop 4 --yes' },
  'a version that is named': { args: 'develop 2 --yes' },
  'a later version': { args: 'develop 10 --yes', happen: () => (state.live = '9') },
  'the version that is live': { args: 'develop 10 --yes' },
  'no version before': { happen: () => (state.live = '1') },
  'a version that another command makes live': { happen: () => switchMeanwhile('3') },
  'versions that let everybody in': { happen: breakVersions(async () => OPEN) },
  'versions that throw': {
    happen: breakVersions(() => Promise.reject(new Error('{"errorMessage":"broken"}'))),
  },
  'no answer': { args: 'develop' },
  'another answer': { args: 'develop', keys: 'yes\n' },
  'the name of the stage': { args: 'develop', keys: 'develop\n' },
  'the version before, which fails the smoke test': {
    happen: () => testStage.mockResolvedValue(['405 for PUT']),
  },
};
it.each(Object.entries(CASES))('%s', async (_, { args = 'develop --yes', happen, keys }) => {
  happen?.();
  expect(transcribe(await command(main, args, keys))).toMatchSnapshot();
});

it('a version counts as switched when the response was lost and the SDK sent it again', async () => {
  switchMeanwhile('3');
  await updateLive(name, { version: '10', RevisionId: 'of 10' }, { version: '3' });
  expect(state.live).toBe('3');
});
