import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Failure } from '../../web/src/api.ts';
import type { Inquiry } from '../../src/contract.ts';
import {
  createDrafts,
  removeDeletedDrafts,
  toStore,
  type DraftStore,
} from '../../web/src/form/drafts.ts';
import { EMPTY } from '../../web/src/form/fields.ts';
import { begin, reduce, type Action, type FormState } from '../../web/src/form/form-state.ts';
import { hasExpired, send } from '../../web/src/form/submission.ts';
import { INQUIRY } from '../helpers/events.ts';
import { createStorage } from './storage.ts';

const refusing = toStore(() => {
  throw new Error('SecurityError');
});
const TEXTS = { ...EMPTY, subject: 'a', body: 'b' };
const DRAFT = { ...TEXTS, key: 'k' };

/** By default in a browser of their own. */
const open = (
  own: DraftStore = createStorage(),
  shared: DraftStore = createStorage(),
  user = 'ana',
) => createDrafts(own, shared, user);

describe('drafts', () => {
  it('come back to their user, in a tab its own, and leave nothing behind', () => {
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

  it('end after 30 days, also those of others, when a page is opened', () => {
    vi.useFakeTimers({ now: 0, toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const [own, shared] = [createStorage(), createStorage()];
    open(own, shared).save(DRAFT);
    vi.setSystemTime(30 * 86_400_000);
    expect(open(own, shared).load()).toEqual(DRAFT);
    vi.setSystemTime(30 * 86_400_000 + 1);
    expect(open(own, shared).load()).toBeUndefined();
    removeDeletedDrafts(createStorage(), shared);
    expect([own, shared]).toEqual([{}, {}]);
  });

  it('are kept by one store when the other refuses, and in memory when both do', () => {
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

it.each<[what: string, answers: (Inquiry | Failure)[], waits?: number[]]>([
  ['ends with an inquiry', [INQUIRY]],
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
  [
    'goes on once when others of the user were being processed',
    [{ ...failure('busy'), retryAfter: 1 }, failure('busy')],
    [1],
  ],
  ['ends at once when the gateway throttles', [failure('busy')]],
  ['ends after waiting five times', Array<Failure>(6).fill(CONFLICT), [1, 1, 1, 1, 1]],
])('sending %s', async (_, answers, expected = []) => {
  const left = [...answers];
  const waits: number[] = [];
  const request = async () => left.shift() ?? failure('refused');
  const result = await send(request, false, async (seconds) => void waits.push(seconds));
  expect([result, left, waits]).toEqual([answers.at(-1), [], expected]);
});

it.each([
  ['signed-out', true],
  ['busy', true],
  ['too-large', false],
  ['refused', false],
  ['limit', false],
  ['reused', false],
] as const)('after an unknown outcome and then %s, it may have arrived: %j', async (kind, is) => {
  for (const [wasSent, ...answers] of [
    [false, LOST, failure(kind)],
    [false, CONFLICT, failure(kind)],
    [true, failure(kind)],
  ] as const) {
    const left = [...answers];
    const request = async () => left.shift() ?? INQUIRY;
    expect(await send(request, wasSent, async () => undefined)).toEqual({ kind, mayBeDone: is });
  }
});

it.each([
  [22, false],
  [24, true],
])('a key is sent again %i hours after the first attempt, or has expired: %j', (hours, expired) => {
  expect(hasExpired({ ...DRAFT, pending: 0 }, hours * 3_600_000)).toBe(expired);
});

const FAILED = { ...begin({ ...DRAFT, pending: 1 }), failure: { ...LOST, at: 1 } };
const LIMITED = { ...FAILED, isLimited: true, failure: { ...failure('limit'), at: 1 } };
const fail = (kind: Failure['kind'], mayBeDone = false): Action => ({
  type: 'failed',
  failure: failure(kind, mayBeDone),
  at: 2,
});
const edit = (texts: typeof TEXTS): Action => ({ type: 'edited', texts });
const sentElsewhere = (inquiry: Inquiry, key: string): Action => ({
  type: 'sent-elsewhere',
  inquiry,
  key,
});
it('each action changes the form as its rule says', async () => {
  const rules: [rule: string, from: FormState, action: Action][] = [
    [
      'an edit keeps the key, and makes a new attempt of the text',
      FAILED,
      edit({ ...TEXTS, body: 'c' }),
    ],
    ['a text in an emptied form has a new key', FAILED, edit(EMPTY)],
    [
      'a text that was too large may be sent once it is edited',
      { ...FAILED, failure: { ...failure('too-large'), at: 1 } },
      edit(TEXTS),
    ],
    ['the first attempt is remembered', begin(DRAFT), { type: 'started', at: 2 }],
    ['a further attempt does not change that', FAILED, { type: 'started', at: 2 }],
    ['an unknown outcome leaves an attempt', FAILED, fail('server', true)],
    ['a certain one leaves none', FAILED, fail('busy')],
    ['the end of the session leaves a draft that waits for the user', FAILED, fail('signed-out')],
    ['sending empties the form', FAILED, { type: 'sent', inquiry: INQUIRY }],
    [
      'what another tab has sent leaves the form',
      FAILED,
      sentElsewhere({ ...INQUIRY, ...TEXTS }, 'k'),
    ],
    ['another text with the same key stays', FAILED, sentElsewhere(INQUIRY, 'k')],
    [
      'the same text with another key stays',
      FAILED,
      sentElsewhere({ ...INQUIRY, ...TEXTS }, 'other'),
    ],
    ['at the limit the button waits for the next hour', FAILED, fail('limit')],
    ['then it is ready', LIMITED, { type: 'hour-ended' }],
    ['being online again ends no other failure', FAILED, { type: 'connected' }],
  ];
  const said = rules.map(
    ([rule, from, action]) => `${rule}\n${JSON.stringify(reduce(from, action, 'n'))}\n`,
  );
  await expect(said.join('\n')).toMatchFileSnapshot('golden/form-states.txt');
});
