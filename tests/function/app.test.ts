import { expect, it, onTestFinished, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { EMAIL, makeEvent, makeKeyedPost, makePost, SUB } from '../helpers/events.ts';

const CONTENT = { subject: 'Hello', body: 'World' };
const unexpected = (): never => {
  throw new Error('The store was not expected to be asked.');
};
const context = (remaining: number) => ({
  awsRequestId: 'request-1',
  functionName: 'inquiries-main',
  getRemainingTimeInMillis: () => remaining,
});

function setUp(store: Partial<InquiryStore>) {
  const inquiries = createInquiries({ put: unexpected, list: unexpected, ...store });
  const log = vi.fn<NonNullable<Parameters<typeof createApp>[0]['log']>>();
  return { log, app: createApp({ inquiries, corsOrigin: '*', log }) };
}

it('tells the store the key without quotes, the language and whether the email is verified', async () => {
  const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
  const claims = { sub: SUB, email: EMAIL, email_verified: 'true' };
  const event = makeKeyedPost(String.raw`"a\"b"`, CONTENT, claims);
  Object.assign(event.headers ?? {}, { 'accept-language': 'FR-CA;q=0.8' });
  const { app } = setUp({ put });
  await app(event);
  await app({ ...makePost(CONTENT), headers: null });
  expect(put.mock.calls.map(([, , options]) => options)).toMatchObject([
    { key: 'a"b', language: 'fr', isEmailVerified: true },
    { key: undefined, language: undefined, isEmailVerified: false },
  ]);
});

it.each([
  ['9.5 s of a long invocation', 30_000, 9_500],
  ['what remains less 1.5 s, in whole milliseconds', 4_000.7, 2_500],
  ['nothing when less than 1.5 s remain', 1_000, 0],
])('gives the store %s', async (_, remaining, expected) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  await setUp({ async *list() {} }).app(makeEvent({}), context(remaining));
  expect(timeout.mock.calls).toEqual([[expected]]);
});

it('logs each request with its error, attempts and milliseconds', async () => {
  const error = new TypeError('secret');
  vi.useFakeTimers({ toFake: ['hrtime'] });
  onTestFinished(() => void vi.useRealTimers());
  const { app, log } = setUp({
    async put() {
      throw error;
    },
    async *list(_owner, _query, call) {
      call.attempts += 3;
      vi.advanceTimersByTime(60);
      yield [];
    },
  });
  expect((await app(makePost(CONTENT), context(9_000))).body).not.toContain('secret');
  await app(makeEvent({}), context(9_000));
  const names = { requestId: 'request-1', functionName: 'inquiries-main' };
  expect(log.mock.calls.flat()).toMatchObject([
    { ...names, method: 'POST', status: 500, attempts: 0, error },
    { ...names, method: 'GET', status: 200, attempts: 3, error: undefined, milliseconds: 60 },
  ]);
});
