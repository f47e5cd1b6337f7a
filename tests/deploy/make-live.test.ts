/** What Terraform runs for each function (infra/terraform/function/main.tf): which versions it makes live, and how long it tries. */
import { expect, it } from 'vitest';
import { FORM_OUTPUTS, setUpProject } from './programs.ts';
import { main } from '../../deploy/make-live.ts';
import type { CreateInquiryResponse, Inquiry, InquiryListResponse } from '../../src/contract.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createService, refusal, type Answer } from '../local/aws.ts';

const { name, package: hash } = FORM_OUTPUTS.function;
const report = (maxMemoryUsedMB: number) =>
  JSON.stringify({ type: 'platform.report', record: { metrics: { maxMemoryUsedMB } } });
const { command, transcribe, state } = await setUpProject(() => (state.log = report(80)));
const makeLive = (VERSION = '') =>
  command(main, '', undefined, { FUNCTION: name, PACKAGE: hash, VERSION });
const URL = `POST /2015-03-31/functions/${name}`;
const LIVE = `Version 11 of ${name} is live.\n`;
const NOT_LIVE = `Version 11 of ${name} is not made live.\n`;

/** Answers the first invocations otherwise. @returns How many there were. */
const breakFirst = (count: number, otherwise: Answer) => {
  let asked = 0;
  state.answers[`${URL}:11/invocations`] = () => {
    if (asked === count) return undefined;
    asked += 1;
    return otherwise;
  };
  return () => asked;
};

it.each<[failure: string, Answer]>([
  ['an answer with 500', { status: 200, body: { statusCode: 500, headers: {}, body: '{}' } }],
  [
    'a handler that throws',
    { status: 200, body: '{}', headers: { 'x-amz-function-error': 'Unhandled' } },
  ],
  ['a version that was idle', refusal(409, 'CodeArtifactUserPendingException', 'pending')],
])('tries again after %s, for a minute, and the next run begins again', async (_, failure) => {
  breakFirst(59, failure);
  expect(await makeLive()).toMatchObject({ code: 0, output: expect.stringContaining(LIVE) });
  state.live = '10';
  breakFirst(600, failure);
  const { code, output } = await makeLive();
  expect([code, output.endsWith(NOT_LIVE), state.live]).toEqual([1, true, '10']);
  breakFirst(0, failure);
  expect(await makeLive()).toMatchObject({ code: 0 });
});

it('refuses a wrong answer without trying again, and stores none', async () => {
  const body = '{"email":"a","count":0,"inquiries":[]}';
  const asked = breakFirst(1, { status: 200, body: { statusCode: 200, headers: {}, body } });
  expect(await makeLive()).toMatchObject({ code: 1, output: expect.stringContaining(NOT_LIVE) });
  expect([asked(), state.changes]).toEqual([1, ['publish 11']]);
  expect(await makeLive()).toMatchObject({ code: 0 });
});

type App = ReturnType<typeof createService>;
const editList = (
  response: Awaited<ReturnType<App>>,
  edit: (list: InquiryListResponse) => Partial<InquiryListResponse>,
) => {
  const list = JSON.parse(response.body) as InquiryListResponse;
  const edited = { ...list, ...edit(list) };
  return { ...response, body: JSON.stringify({ ...edited, count: edited.inquiries.length }) };
};
const seen: Inquiry[] = [];
const BROKEN: Record<string, (app: App, event: GatewayEvent) => ReturnType<App>> = {
  'lists all that its instance has seen': async (app, event) => {
    const response = await app(event);
    if (response.statusCode === 201) {
      seen.unshift((JSON.parse(response.body) as CreateInquiryResponse).inquiry);
    }
    return response.statusCode === 200 ? editList(response, () => ({ inquiries: seen })) : response;
  },
  'takes an empty email': (app, event) => {
    const claims = event.requestContext?.authorizer?.jwt?.claims as { email?: string } | undefined;
    if (claims?.email === '') claims.email = 'nobody@inquiries.invalid';
    return app(event);
  },
  'answers 201 in place of 400': async (app, event) => {
    const response = await app(event);
    return { ...response, statusCode: response.statusCode === 400 ? 201 : response.statusCode };
  },
  'ignores the key': (app, event) => app({ ...event, headers: {} }),
  'lists one inquiry': async (app, event) => {
    const response = await app(event);
    const edit = ({ inquiries }: InquiryListResponse) => ({ inquiries: inquiries.slice(0, 1) });
    return response.statusCode === 200 ? editList(response, edit) : response;
  },
  'gives rows another email': async (app, event) => {
    const response = await app(event);
    return { ...response, body: response.body.replaceAll('@inquiries.invalid', '@a.invalid') };
  },
};
it.each(Object.entries(BROKEN))('does not make a handler live that %s', async (_, broken) => {
  const app = createService();
  state.invoke = async (_name, event) =>
    JSON.stringify(await broken(app, JSON.parse(event) as GatewayEvent));
  const { code, output } = await makeLive();
  expect([code, state.live]).toEqual([1, '10']);
  expect(output.match(/^failed .*$/gm)).toMatchSnapshot();
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
const fail = (): never => {
  throw new Error('{"errorMessage":"broken"}');
};
const sendNothing = () => ({ mails: [] });
const events: Event[] = [];
const answer =
  (toResult: (event: Event) => object, variables: object = {}) =>
  () => {
    const Variables = { INBOX_TO: 'team@example.com', ...variables };
    state.answers[`GET /2015-03-31/functions/${name}/configuration`] = () => ({
      status: 200,
      body: { CodeSha256: hash, Environment: { Variables } },
    });
    state.invoke = async (_, text) => {
      const event = JSON.parse(text) as Event;
      events.push(event);
      return JSON.stringify(toResult(event));
    };
  };
const RECEIVER = { MAIL_BUCKET: 'mails', REPLY_DOMAIN: 'reply.example.com' };
const CASES: Record<string, string | (() => unknown)> = {
  'a function': '',
  'a version that is named': '9',
  'the version that is live': '10',
  'a function that keeps memory': () => (state.log = report(121)),
  'a version that Lambda does not publish': () => {
    const refused = refusal(400, 'CodeStorageExceededException', 'full\n  Deserialization');
    state.answers[`${URL}/versions`] = () => refused;
  },
  'a mailer': answer(mail),
  'a mailer that fails': answer(fail),
  'a mailer that sends nothing': answer(sendNothing),
  'a receiver': answer(mail, RECEIVER),
  'a receiver that fails': answer(fail, RECEIVER),
  'a receiver that sends nothing': answer(sendNothing, RECEIVER),
};
it.each(Object.entries(CASES))('%s', async (_, one) => {
  if (typeof one === 'function') one();
  const outcome = await makeLive(typeof one === 'string' ? one : '');
  expect(transcribe(outcome)).toMatchSnapshot();
  // The timer does no work.
  expect(events.filter(({ digest, trial }) => digest && !trial)).toEqual([]);
});
