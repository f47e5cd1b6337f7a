import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FORM_OUTPUTS, setUpProject } from './programs.ts';
import { testStage } from './smoke-test.ts';
import { updateLive } from '../../deploy/versions.ts';
import { main } from '../../deploy/rollback.ts';
import { paths } from './project.ts';

const { name } = FORM_OUTPUTS.function;
const { arrange, command, transcribe, state } = await setUpProject(() => {
  testStage.mockReset().mockResolvedValue([]);
  arrange({ outputs: FORM_OUTPUTS });
  for (const version of ['9', '10']) {
    state.objects.set(`/form-bucket/versions/${version}/index.html`, version);
  }
});

const switchMeanwhile = (version: string) => {
  state.answers[`PUT /2015-03-31/functions/${name}/aliases/live`] = () => {
    state.live = version;
    return undefined;
  };
};

const breakVersions = (toAnswer: () => Promise<string>) => () => {
  const { invoke } = state;
  state.invoke = async (called, event) =>
    [`${name}:9`, `${name}:3`].includes(called) ? toAnswer() : invoke(called, event);
};
const OPEN = JSON.stringify({
  statusCode: 200,
  headers: { 'Access-Control-Allow-Origin': 'https://www.example.com' },
});

const STATE = 'GET /b/env:/develop/inquiries/terraform.tfstate';
const answerState = (status: number, body: string) => () => {
  state.answers[STATE] = () => ({ status, body });
};
const xml = (code: string) => `<Error><Code>${code}</Code><Message>no</Message></Error>`;
const WITHOUT_STATE: Record<string, () => unknown> = {
  'no file of the backend': () => rmSync(join(paths.MODULE, 'backend.s3.tfbackend')),
  'a bucket that was deleted': answerState(404, xml('NoSuchBucket')),
  'a state that may not be read': answerState(403, xml('AccessDenied')),
  'a stage that was never deployed': answerState(404, xml('NoSuchKey')),
  'a first apply that failed': answerState(200, '{"outputs":{}}'),
  'a damaged state': answerState(200, 'o no'),
  'a function that was deleted': () => (state.live = undefined),
};
it.each(Object.entries(WITHOUT_STATE))('says what to do in one line: %s', async (_, happen) => {
  happen();
  const { code, output } = await command(main, 'develop --yes');
  expect(`${code} ${output}`).toMatchSnapshot();
  expect(output.trim()).not.toContain('\n');
  expect(state.changes).toEqual([]);
});

const MAILER = { inquiries: { name: `${name}-mailer` }, replies: { name: `${name}-replies` } };
/** Versions of the functions that mail; `10` of each is live. */
const arrangeMailer = (versions: Record<string, readonly string[]>) => () => {
  arrange({ outputs: { ...FORM_OUTPUTS, mailer: MAILER } });
  for (const [each, numbers] of Object.entries(versions)) {
    const url = `/2015-03-31/functions/${each}`;
    const Versions = numbers.map((Version) => ({ Version }));
    state.answers[`GET ${url}/versions`] = () => ({ status: 200, body: { Versions } });
    for (const method of ['GET', 'PUT']) {
      state.answers[`${method} ${url}/aliases/live`] = ({ body }) => {
        const { FunctionVersion = '10', Description } = JSON.parse(body || '{}') as Record<
          string,
          string
        >;
        if (method === 'PUT') state.changes.push(`${each}: live ${FunctionVersion}`);
        return { status: 200, body: { FunctionVersion, Description, RevisionId: 'r' } };
      };
    }
  }
};

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
  'no mailer': { args: 'develop --mailer --yes' },
  'the mailer, with a version': {
    args: 'develop 9 --mailer --yes',
    happen: arrangeMailer({}),
  },
  'the mailer, of whose functions one has no earlier version': {
    args: 'develop --mailer --yes',
    happen: arrangeMailer({ [`${name}-mailer`]: ['9', '10'], [`${name}-replies`]: ['10'] }),
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
