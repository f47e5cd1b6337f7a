/** What Terraform runs for each function (infra/terraform/live.tf): which versions it makes live, and how long it tries. */
import { beforeEach, expect, it, vi } from 'vitest';
import { main } from '../../deploy/make-live.ts';
import { refusal } from '../helpers/aws.ts';
import { FORM_OUTPUTS, setUpProject } from './programs.ts';

vi.mock(import('../../lib/paths.ts'), async () => (await import('./project.ts')).paths);
vi.mock('node:timers/promises', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  setTimeout: (await import('../helpers/clock.ts')).skipTime,
}));

const { name, package: hash } = FORM_OUTPUTS.function;
const { reset, command, transcribe, state } = await setUpProject();
const makeLive = (VERSION = '') =>
  command(main, '', undefined, { FUNCTION: name, PACKAGE: hash, VERSION });
const URL = `POST /2015-03-31/functions/${name}`;
const LIVE = `Version 11 of ${name} is live.\n`;
const NOT_LIVE = `Version 11 of ${name} is not made live.\n`;

/** Answers the first invocations otherwise. @returns Whether one was. */
const breakFirst = (count: number, otherwise: () => Promise<string>) => {
  let left = count;
  state.invoke = async (...call) => (left-- > 0 ? otherwise() : usual(...call));
  return () => count - Math.max(0, left);
};
const fail = async () => JSON.stringify({ statusCode: 500, headers: {}, body: '{"error":"no"}' });
const report = (maxMemoryUsedMB: number) =>
  JSON.stringify({ type: 'platform.report', record: { metrics: { maxMemoryUsedMB } } });
let usual = state.invoke;
beforeEach(() => {
  usual = state.invoke;
  state.log = report(80);
});

it('publishes the package, checks the version, and makes it live', async () => {
  const { code, output } = await makeLive();
  expect([code, state.changes]).toEqual([0, ['switch 11']]);
  expect(output).toMatch(/^Version 11 of .*\n(passed .*\n){6}6 passed, 0 failed, 0 pending\n/);
  expect(output.endsWith(LIVE)).toBe(true);
});

it('makes the version that is named live without publishing one, and leaves one that is', async () => {
  state.published = '12';
  expect(await makeLive('9')).toMatchObject({ code: 0 });
  expect(await makeLive('9')).toMatchObject({ code: 0 });
  expect(state.changes).toEqual(['switch 9']);
});

it.each<[failure: string, (count: number) => unknown]>([
  ['an answer with 500', (count) => breakFirst(count, fail)],
  ['a handler that throws', (count) => breakFirst(count, () => Promise.reject(new Error('{}')))],
  [
    'CodeArtifactUserPendingException',
    (count) => {
      let left = count;
      state.answers[`${URL}:11/invocations`] = () =>
        left-- > 0 ? refusal(409, 'CodeArtifactUserPendingException', 'pending') : undefined;
    },
  ],
])('tries again after %s, for a minute, and the next run begins again', async (_, arrange) => {
  arrange(59);
  expect(await makeLive()).toMatchObject({ code: 0, output: expect.stringContaining(LIVE) });
  state.live = '10';
  arrange(600);
  const { code, output } = await makeLive();
  expect([code, output.endsWith(NOT_LIVE), state.live]).toEqual([1, true, '10']);
  arrange(0);
  expect(await makeLive()).toMatchObject({ code: 0 });
});

it('refuses a wrong answer without trying again, and stores none', async () => {
  const body = '{"email":"a","count":0,"inquiries":[]}';
  const asked = breakFirst(1, async () => JSON.stringify({ statusCode: 200, headers: {}, body }));
  expect(await makeLive()).toMatchObject({ code: 1, output: expect.stringContaining(NOT_LIVE) });
  expect([asked(), state.changes]).toEqual([1, []]);
  expect(await makeLive()).toMatchObject({ code: 0 });
});

it('refuses a version that keeps memory', async () => {
  state.log = report(121);
  const { code, output } = await makeLive();
  expect([code, state.changes]).toEqual([1, []]);
  expect(output).toContain('121 of 128 MB: docs/runbook.md');
});

it('leaves the live version when Lambda publishes none, and publishes in the next run', async () => {
  const refuse = vi
    .fn<() => ReturnType<typeof refusal>>()
    .mockReturnValueOnce(refusal(400, 'CodeStorageExceededException', 'full'));
  state.answers[`${URL}/versions`] = refuse;
  expect(await makeLive()).toMatchObject({ code: 1, output: expect.stringContaining('full') });
  expect(state.changes).toEqual([]);
  expect(await makeLive()).toMatchObject({ code: 0 });
  expect(state.changes).toEqual(['switch 11']);
});

/** An event of a mailer, as far as it is told apart. */
interface Event {
  trial?: true;
  digest?: true;
  Records?: { body?: string }[];
}
const mail = (event: Event): object => {
  if (event.digest) return { result: { digest: 'idle', daily: 'sent' }, mails: [] };
  if (event.trial) return { result: {}, mails: ['team@example.com'] };
  return event.Records?.[0]?.body ? { outcomes: ['idle'] } : { batchItemFailures: [] };
};
const fails = (): never => {
  throw new Error('{"errorMessage":"broken"}');
};
const RECEIVER = { MAIL_BUCKET: 'mails', REPLY_DOMAIN: 'reply.example.com' };
interface Case {
  answer: (event: Event) => object;
  variables?: object;
}
const CASES: Record<string, Case> = {
  'a mailer': { answer: mail },
  'a mailer that fails': { answer: fails },
  'a mailer that sends nothing': { answer: () => ({ mails: [] }) },
  'a receiver': { answer: mail, variables: RECEIVER },
  'a receiver that fails': { answer: fails, variables: RECEIVER },
  'a receiver that sends nothing': { answer: () => ({ mails: [] }), variables: RECEIVER },
};
it('a function that mails must do everything but send, and its timer does no work', async () => {
  const events: Event[] = [];
  const said = await transcribe(CASES, async ({ answer, variables }) => {
    reset();
    const Variables = { INBOX_TO: 'team@example.com', ...variables };
    state.answers[`GET /2015-03-31/functions/${name}/configuration`] = () => ({
      status: 200,
      body: { CodeSha256: hash, Environment: { Variables } },
    });
    state.invoke = async (_, text) => {
      const event = JSON.parse(text) as Event;
      events.push(event);
      return JSON.stringify(answer(event));
    };
    return makeLive();
  });
  await expect(said).toMatchFileSnapshot('golden/make-live.txt');
  expect(events.filter(({ digest, trial }) => digest && !trial)).toEqual([]);
});
