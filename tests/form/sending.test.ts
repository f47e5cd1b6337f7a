/** Drafts and sending of the contact form, without a browser. */
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../web/src/api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createDrafts, toStore, type DraftStore } from '../../web/src/drafts.ts';
import { EMPTY } from '../../web/src/fields.ts';
import { createSubmission } from '../../web/src/submission.ts';
import { INQUIRY } from '../helpers/events.ts';
import { createStorage } from '../helpers/storage.ts';

const refusing = toStore(() => {
  throw new Error('SecurityError');
});
const TEXTS = { subject: 'a', body: 'b' };
const DRAFT = { ...TEXTS, key: 'k' };

/** Drafts of a user, by default in a browser of their own. */
const open = (
  own: DraftStore = createStorage(),
  shared: DraftStore = createStorage(),
  user = 'ana',
) => createDrafts(own, shared, user);

describe('drafts', () => {
  it('come back to their user, in the same tab and in a new one, each tab its own, and leave nothing behind', () => {
    const [first, second, shared] = [createStorage(), createStorage(), createStorage()];
    open(first, shared).save(DRAFT);
    expect(open(undefined, shared).load()).toEqual(DRAFT);
    open(second, shared).save({ ...DRAFT, subject: 'second' });
    expect(open(first, shared).load()).toEqual(DRAFT);
    expect(open(first, shared, 'ben').load()).toBeUndefined();
    open(first, shared).clear();
    expect(open(undefined, shared).load()?.subject).toBe('second');
    expect(open(second, shared).save({ ...EMPTY, key: 'k' })).toBe(true);
    expect([first, second, shared]).toEqual([{}, {}, {}]);
  });

  it('are kept by one store when the other refuses; when both do, `save` reports it, and they stay in memory', () => {
    const drafts = open(refusing);
    expect([drafts.save(DRAFT), drafts.load()]).toEqual([true, DRAFT]);
    const none = open(refusing, refusing);
    expect([none.save(DRAFT), none.load()]).toEqual([false, DRAFT]);
    expect(open(refusing, refusing).load()).toEqual(DRAFT);
    none.clear();
    expect(none.load()).toBeUndefined();
  });

  it('are separate for each element with the same storage; a new element gets the last one', () => {
    const storage = createStorage();
    const openElement = () =>
      open(
        toStore(() => storage),
        storage,
      );
    const one = openElement();
    one.save(DRAFT);
    openElement().save({ ...DRAFT, body: 'other' });
    expect([one.load()?.body, openElement().load()?.body]).toEqual(['b', 'other']);
  });

  it.each([
    ['no JSON', undefined],
    ['{"subject":"x","body":""}', undefined],
    ['{"subject":1,"body":"b","key":"k"}', { ...DRAFT, subject: '' }],
    ['{"subject":"a","body":"b","key":"k","pending":1}', { ...DRAFT, pending: 1 }],
    ['{"subject":"a","body":"b","key":"k","pending":"soon"}', DRAFT],
  ])('stored as %s come back as %j', (text, draft) => {
    const own = createStorage();
    own.setItem('inquiries.draft.ana', text);
    expect(open(own).load()).toEqual(draft);
  });
});

const failure = (kind: Failure['kind'], mayBeDone = false): Failure => ({ kind, mayBeDone });
const LOST = failure('unreachable', true);
const CONFLICT = failure('conflict', true);

/** Sends the draft to a service with these answers, one after the other. @param pending - Of the stored draft. */
async function submit(answers: readonly (Inquiry | Failure)[], pending?: number) {
  const drafts = open();
  drafts.save({ ...DRAFT, pending });
  const left = [...answers];
  const requests: unknown[] = [];
  const waits: number[] = [];
  const reload = () =>
    createSubmission(
      drafts,
      async (...request) => {
        requests.push(request);
        return left.shift() ?? failure('refused');
      },
      async (seconds) => void waits.push(seconds),
    );
  const result = await reload().send(TEXTS);
  return { drafts, requests, waits, result, reload };
}

it.each<[what: string, answers: (Inquiry | Failure)[], waits?: number[]]>([
  ['is done when the service answers', [INQUIRY]],
  ['goes on at once after no answer', [LOST, INQUIRY]],
  ['ends after the second request whose outcome is unknown', [failure('server', true), LOST]],
  ['goes on at once when the browser says that it is offline', [failure('offline', true), INQUIRY]],
  ['ends when nothing was sent', [failure('unreachable')]],
  ['ends with a used key', [failure('reused')]],
  [
    'waits as long as Retry-After says',
    [{ ...CONFLICT, retryAfter: 3 }, CONFLICT, INQUIRY],
    [3, 1],
  ],
  ['ends after waiting five times', Array<Failure>(6).fill(CONFLICT), [1, 1, 1, 1, 1]],
])('sending %s, each time with the same request and key', async (_, answers, expected = []) => {
  const { result, requests, waits } = await submit(answers);
  expect([result, waits]).toEqual([answers.at(-1), expected]);
  expect(requests).toEqual(answers.map(() => [TEXTS, 'k']));
});

it.each([
  ['signed-out', true],
  ['busy', true],
  ['too-large', false],
  ['refused', false],
  ['limit', false],
  ['reused', false],
] as const)(
  'after an unknown outcome and then %s, it may have been done: %j',
  async (kind, mayBeDone) => {
    for (const { result } of [
      await submit([LOST, failure(kind)]),
      await submit([CONFLICT, failure(kind)]),
      await submit([failure(kind)], Date.now()),
    ]) {
      expect(result).toEqual({ kind, mayBeDone });
    }
  },
);

it.each([
  [[LOST, LOST], true, false],
  [[failure('signed-out')], false, true],
  [[failure('limit')], false, false],
])(
  'after %j and a reload, a draft may have arrived: %j, or is ready: %j',
  async (answers, ...is) => {
    const { texts, key, isUnsure, isReady, expiredAttempt } = (await submit(answers)).reload();
    expect([texts, key(), isUnsure(), isReady()]).toEqual([TEXTS, 'k', ...is]);
    expect(expiredAttempt()).toBeUndefined();
  },
);

it('a draft has one key until it is emptied, and says when the service has forgotten that', async () => {
  const { drafts, reload } = await submit([LOST, LOST]);
  drafts.save({ ...DRAFT, pending: 1 });
  const { keep, key, expiredAttempt, edit } = reload();
  keep({ ...TEXTS, body: 'c' });
  expect([key(), expiredAttempt()]).toEqual(['k', 1]);
  edit();
  keep(EMPTY);
  expect(key()).not.toBe('k');
});
