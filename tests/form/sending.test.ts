/** Drafts, sending and the list of the contact form, without a browser. */
import { describe, expect, it } from 'vitest';
import type { Failure, Page } from '../../web/src/api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createDrafts, toStore, type Drafts, type DraftStore } from '../../web/src/drafts.ts';
import { appendOlder, mergeNewest, addSent } from '../../web/src/pages.ts';
import { send } from '../../web/src/outbox.ts';
import { createSubmission } from '../../web/src/submission.ts';

const createStore = (): DraftStore & { size(): number } => {
  const map = new Map<string, string>();
  return {
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => void map.set(key, value),
    removeItem: (key) => void map.delete(key),
    size: () => map.size,
  };
};
const refusing = toStore(() => {
  throw new Error('SecurityError');
});
const DRAFT = { subject: 'a', body: 'b', key: 'k' };

describe('drafts', () => {
  it('come back in the same tab, in another tab, and not to another user', () => {
    const shared = createStore();
    const own = createStore();
    createDrafts(own, shared, 'ana').save(DRAFT);
    expect(createDrafts(own, shared, 'ana').load()).toEqual(DRAFT);
    expect(createDrafts(createStore(), shared, 'ana').load()).toEqual(DRAFT);
    expect(createDrafts(own, shared, 'ben').load()).toBeUndefined();
  });

  it('of two tabs are kept apart', () => {
    const shared = createStore();
    const [first, second] = [createStore(), createStore()].map((own) =>
      createDrafts(own, shared, 'ana'),
    );
    first?.save({ subject: 'first', body: '', key: 'k1' });
    second?.save({ subject: 'second', body: '', key: 'k2' });
    expect(first?.load()?.subject).toBe('first');
    first?.clear();
    expect(createDrafts(createStore(), shared, 'ana').load()?.subject).toBe('second');
  });

  it('leave nothing behind when they are sent or emptied', () => {
    const own = createStore();
    const shared = createStore();
    const drafts = createDrafts(own, shared, 'ana');
    drafts.save(DRAFT);
    drafts.clear();
    drafts.save(DRAFT);
    expect(drafts.save({ subject: '', body: '', key: 'k' })).toBe(true);
    expect(own.size() + shared.size()).toBe(0);
  });

  it('are kept by one store when the other refuses; when both do, `save` reports it, and they stay in memory', () => {
    const drafts = createDrafts(refusing, createStore(), 'ana');
    expect(drafts.save(DRAFT)).toBe(true);
    expect(drafts.load()).toEqual(DRAFT);
    const none = createDrafts(refusing, refusing, 'ana');
    expect(none.save(DRAFT)).toBe(false);
    expect(createDrafts(refusing, refusing, 'ana').load()).toEqual(DRAFT);
    expect(createDrafts(refusing, refusing, 'ben').load()).toBeUndefined();
    expect(() => none.clear()).not.toThrow();
    expect(none.load()).toBeUndefined();
  });

  it('are separate for each element with the same storage; a new element gets the last one', () => {
    const storage = createStore();
    const [one, other, third] = [1, 2, 3]
      .map(() => toStore(() => storage))
      .map((own) => createDrafts(own, storage, 'ana'));
    one?.save(DRAFT);
    other?.save({ ...DRAFT, body: 'other' });
    expect(one?.load()).toEqual(DRAFT);
    expect(third?.load()?.body).toBe('other');
  });

  it.each([
    ['', undefined],
    ['no JSON', undefined],
    ['{"subject":1,"body":"b","key":"k"}', { ...DRAFT, subject: '' }],
    ['{"subject":"x","body":""}', undefined],
    ['{"subject":"a","body":"b","key":"k","pending":1}', { ...DRAFT, pending: 1 }],
    ['{"subject":"a","body":"b","key":"k","pending":"soon"}', DRAFT],
    [
      '{"subject":"a","body":"b","key":"k","pending":"signed-out"}',
      { ...DRAFT, pending: 'signed-out' },
    ],
  ])('stored as %s come back as %j', (text, draft) => {
    const own = createStore();
    own.setItem('inquiries.draft.ana', text);
    expect(createDrafts(own, createStore(), 'ana').load()).toEqual(draft);
  });
});

const inquiry = (id: string): Inquiry => ({
  id,
  cognito_sub: '',
  email: '',
  subject: 'a',
  body: 'b',
  created_at: '',
});
const LOST: Failure = { kind: 'unreachable', mayBeDone: true };
const FAULT: Failure = { kind: 'server', mayBeDone: true };
const CONFLICT: Failure = { kind: 'conflict', mayBeDone: true };
const NO_TOKEN: Failure = { kind: 'signed-out', mayBeDone: false };

/** Sends DRAFT to a service with these answers, one after the other; resolves to what became of it. */
const attempt = async (answers: (Inquiry | Failure)[], isRetry = false) => {
  const requests: unknown[] = [];
  const waits: number[] = [];
  const create: Parameters<typeof send>[0] = async (...request) => {
    requests.push(request);
    const answer = answers.shift();
    if (answer === undefined) throw new Error('no more answers');
    return answer;
  };
  const result = await send(
    create,
    { subject: 'a', body: 'b' },
    'k',
    isRetry,
    async (seconds) => void waits.push(seconds),
  );
  return { result, requests, waits };
};

describe('sending', () => {
  const stored = inquiry('1');
  const request = [{ subject: 'a', body: 'b' }, 'k'];

  it.each<[what: string, answers: (Inquiry | Failure)[], waits?: number[]]>([
    ['is done when the service answers', [stored]],
    ['sends once more at once after no answer', [LOST, stored]],
    ['sends once more at once after a fault', [FAULT, stored]],
    ['ends after the second request whose outcome is unknown', [LOST, FAULT]],
    ['sends nothing more offline', [{ kind: 'offline', mayBeDone: true }]],
    ['sends nothing more when nothing was sent', [{ kind: 'unreachable', mayBeDone: false }]],
    ['sends nothing more without a token', [NO_TOKEN]],
    ['sends nothing more with a used key', [{ kind: 'reused', mayBeDone: false }]],
    [
      'waits as long as Retry-After says',
      [{ ...CONFLICT, retryAfter: 3 }, CONFLICT, stored],
      [3, 1],
    ],
    [
      'gives up after waiting five times',
      Array.from({ length: 6 }, () => CONFLICT),
      [1, 1, 1, 1, 1],
    ],
  ])('%s, each time with the same request and key', async (_, answers, waits = []) => {
    const requests = answers.map(() => request);
    expect(await attempt([...answers])).toEqual({ result: answers.at(-1), requests, waits });
  });

  it.each<[kind: Failure['kind'], mayBeDone: boolean]>([
    ['signed-out', true],
    ['busy', true],
    ['too-large', false],
    ['refused', false],
    ['limit', false],
    ['reused', false],
  ])('may have been done after an unknown outcome and then %s: %j', async (kind, mayBeDone) => {
    const failure = { kind, mayBeDone: false };
    for (const [answers, isRetry] of [
      [[LOST, failure], false],
      [[CONFLICT, failure], false],
      [[failure], true],
    ] as const) {
      expect((await attempt([...answers], isRetry)).result).toEqual({ kind, mayBeDone });
    }
  });
});

describe('a submission', () => {
  /** The form's draft in a new tab, after the service has given these answers. */
  const reopen = async (drafts: Drafts, ...answers: (Inquiry | Failure)[]) => {
    const create = async (request: object) => {
      expect(request).toEqual({ subject: 'a', body: 'b' });
      return answers.shift() ?? LOST;
    };
    const begin = () => createSubmission(drafts, create, () => true);
    const submission = begin();
    submission.keep(DRAFT);
    await submission.send(DRAFT);
    return begin();
  };

  it('goes on after a reload where it was', async () => {
    for (const [answer, isUnsure, isReady] of [
      [LOST, true, false],
      [NO_TOKEN, false, true],
      [{ kind: 'limit', mayBeDone: false }, false, false],
    ] as const) {
      const drafts = createDrafts(createStore(), createStore(), 'ana');
      const { texts, ...after } = await reopen(drafts, answer, answer);
      expect(texts).toEqual({ subject: 'a', body: 'b' });
      expect([after.isUnsure(), after.isReady()]).toEqual([isUnsure, isReady]);
    }
  });

  it('has one key until it is emptied, and says when the service has forgotten that', async () => {
    const drafts = createDrafts(createStore(), createStore(), 'ana');
    const submission = await reopen(drafts);
    const key = submission.key();
    expect(submission.expiredAttempt()).toBeUndefined();
    submission.keep({ ...DRAFT, body: 'c' });
    expect(submission.key()).toBe(key);
    drafts.save({ ...DRAFT, key, pending: 1 });
    const old = createSubmission(
      drafts,
      async () => LOST,
      () => true,
    );
    expect(old.expiredAttempt()).toBe(1);
    old.edit();
    old.keep({ subject: '', body: '' });
    expect(old.key()).not.toBe(key);
  });
});

describe('the list', () => {
  /** @param ids - A digit each. */
  const page = (ids: string, next?: string): Page => ({
    inquiries: Array.from(ids, inquiry),
    next: next === undefined ? undefined : `?before=${next}`,
  });

  it.each([
    [
      'keeps older pages, and what leads on from them',
      page('6543', '3'),
      page('765', '5'),
      page('76543', '3'),
    ],
    [
      'drops them when there may be others in between',
      page('32'),
      page('98', '8'),
      page('98', '8'),
    ],
    ['is the newest page when that is all there is', page('321'), page('31'), page('31')],
    ['is empty when all were removed', page('1'), page(''), page('')],
  ])('%s on a refresh', (_, shown, newest, expected) => {
    expect(mergeNewest(shown, newest)).toEqual(expected);
  });

  it('shows each inquiry once when pages overlap', () => {
    expect(appendOlder(page('32', '2'), page('21'))).toEqual(page('321'));
  });

  it.each([
    ['as the newest', page('32'), '4', page('432')],
    ['once', page('32'), '3', page('32')],
    ['before older ones', page('52', '2'), '3', page('532', '2')],
    ['after newer ones of another tab', page('54'), '3', page('543')],
    ['alone', page(''), '3', page('3')],
    [
      'with the next page, when it is older than what is loaded',
      page('54', '4'),
      '3',
      page('54', '4'),
    ],
  ])('shows an inquiry that was sent %s', (_, shown, id, expected) => {
    expect(addSent(shown, inquiry(id))).toEqual(expected);
  });
});
