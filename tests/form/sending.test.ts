/** Drafts, sending and the list of the contact form, without a browser. */
import { describe, expect, it } from 'vitest';
import type { Api, Failure, Page } from '../../web/src/api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createDrafts, toStore } from '../../web/src/drafts.ts';
import type { DraftStore } from '../../web/src/drafts.ts';
import { appendOlder, mergeNewest, addSent } from '../../web/src/inquiries.ts';
import { send } from '../../web/src/outbox.ts';

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
    const first = createDrafts(createStore(), shared, 'ana');
    const second = createDrafts(createStore(), shared, 'ana');
    first.save({ subject: 'first', body: '', key: 'k1' });
    second.save({ subject: 'second', body: '', key: 'k2' });
    expect(first.load()?.subject).toBe('first');
    first.clear();
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

  it('of an empty inquiry on its way are kept', () => {
    const drafts = createDrafts(createStore(), createStore(), 'ana');
    const draft = { subject: '', body: '', key: 'k', pending: 1 };
    drafts.save(draft);
    expect(drafts.load()).toEqual(draft);
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
    const create = () =>
      createDrafts(
        toStore(() => storage),
        storage,
        'ana',
      );
    const [one, other] = [create(), create()];
    one.save(DRAFT);
    other.save({ ...DRAFT, body: 'other' });
    expect(one.load()).toEqual(DRAFT);
    expect(create().load()?.body).toBe('other');
  });

  it.each(['', 'no JSON', '7', 'null', '{"subject":1,"body":""}', '{"subject":"x"}'])(
    'that cannot be read (%s) are ignored',
    (text) => {
      const own = createStore();
      own.setItem('inquiries.draft.ana', text);
      expect(createDrafts(own, createStore(), 'ana').load()).toBeUndefined();
    },
  );

  it.each([{ newest: '', at: 1 }, 'soon', null])('keep text and key when pending is %j', (pending) => {
    const own = createStore();
    own.setItem('inquiries.draft.ana', JSON.stringify({ ...DRAFT, pending }));
    expect(createDrafts(own, createStore(), 'ana').load()).toEqual(DRAFT);
  });

  it.each([1, 'signed-out'] as const)('come back with pending: %j', (pending) => {
    const drafts = createDrafts(createStore(), createStore(), 'ana');
    drafts.save({ ...DRAFT, pending });
    expect(drafts.load()).toEqual({ ...DRAFT, pending });
  });

  it('without a key, of an older version of the page, get one; their pending attempt had none', () => {
    const own = createStore();
    own.setItem('inquiries.draft.ana', '{"subject":"a","body":"b","pending":7}');
    const load = () => createDrafts(own, createStore(), 'ana').load();
    expect(load()).toEqual({ ...DRAFT, key: expect.stringMatching(/^[\da-f-]{36}$/) });
    expect(load()?.key).not.toBe(load()?.key);
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
  const create: Api['create'] = async (...request) => {
    requests.push(request);
    const answer = answers.shift();
    if (answer === undefined) throw new Error('no more answers');
    return answer;
  };
  const result = await send(create, DRAFT, isRetry, async (seconds) => void waits.push(seconds));
  return { result, requests, waits };
};

describe('sending', () => {
  const stored = inquiry('1');
  const request = [{ subject: 'a', body: 'b' }, 'k'];

  it('is done when the service answers', async () => {
    expect(await attempt([stored])).toEqual({ result: stored, requests: [request], waits: [] });
  });

  it.each([LOST, FAULT])(
    'sends the same request with the same key once more at once: %j',
    async (failure) => {
      expect(await attempt([failure, stored])).toEqual({
        result: stored,
        requests: [request, request],
        waits: [],
      });
    },
  );

  it('ends after the second request whose outcome is unknown', async () => {
    const { result, requests } = await attempt([LOST, FAULT]);
    expect(result).toEqual(FAULT);
    expect(requests).toHaveLength(2);
  });

  it.each<Failure>([
    { kind: 'offline', mayBeDone: true },
    { kind: 'unreachable', mayBeDone: false },
    NO_TOKEN,
    { kind: 'busy', mayBeDone: false },
    { kind: 'limit', mayBeDone: false, retryAfter: 60 },
    { kind: 'reused', mayBeDone: false },
  ])('sends nothing more after %j', async (failure) => {
    expect(await attempt([failure])).toEqual({ result: failure, requests: [request], waits: [] });
  });

  it('waits while another request has the key, as long as Retry-After says', async () => {
    const { result, waits } = await attempt([{ ...CONFLICT, retryAfter: 3 }, CONFLICT, stored]);
    expect(result).toEqual(stored);
    expect(waits).toEqual([3, 1]);
  });

  it('gives up after waiting five times; the outcome is unknown', async () => {
    const { result, requests } = await attempt(Array.from({ length: 6 }, () => CONFLICT));
    expect(result).toEqual(CONFLICT);
    expect(requests).toHaveLength(6);
  });

  it.each([NO_TOKEN, { kind: 'busy', mayBeDone: false }] as const)(
    'is still unknown when only the last request has certainly failed: %j',
    async (failure) => {
      expect((await attempt([LOST, failure])).result).toEqual({ ...failure, mayBeDone: true });
      expect((await attempt([CONFLICT, failure])).result).toEqual({ ...failure, mayBeDone: true });
      expect((await attempt([failure], true)).result).toEqual({ ...failure, mayBeDone: true });
    },
  );

  it.each(['too-large', 'refused', 'limit', 'reused'] as const)(
    'has certainly failed when the service decides about the same request again: %s',
    async (kind) => {
      const failure = { kind, mayBeDone: false };
      expect((await attempt([LOST, failure])).result).toEqual(failure);
      expect((await attempt([failure], true)).result).toEqual(failure);
    },
  );
});

describe('the list', () => {
  const page = (ids: string[], next?: string): Page => ({
    inquiries: ids.map((id) => inquiry(id)),
    next: next === undefined ? undefined : `?before=${next}`,
  });
  const ids = ({ inquiries }: Page) => inquiries.map(({ id }) => id);

  it('keeps the older pages on a refresh, and what leads on from them', () => {
    const shown = page(['6', '5', '4', '3'], '3');
    const result = mergeNewest(shown, page(['7', '6', '5'], '5'));
    expect(ids(result)).toEqual(['7', '6', '5', '4', '3']);
    expect(result.next).toBe('?before=3');
  });

  it('drops them when there may be others in between', () => {
    const result = mergeNewest(page(['3', '2']), page(['9', '8'], '8'));
    expect(ids(result)).toEqual(['9', '8']);
    expect(result.next).toBe('?before=8');
  });

  it('is the newest page when that is all there is, also after others were removed', () => {
    expect(ids(mergeNewest(page(['3', '2', '1']), page(['3', '1'])))).toEqual(['3', '1']);
    expect(ids(mergeNewest(page(['1']), page([])))).toEqual([]);
  });

  it('shows each inquiry once when pages overlap', () => {
    expect(ids(appendOlder(page(['3', '2'], '2'), page(['2', '1'])))).toEqual(['3', '2', '1']);
  });

  it('shows an inquiry that was sent once and at its place, also before newer ones of another tab', () => {
    expect(ids(addSent(page(['3', '2']), inquiry('4')))).toEqual(['4', '3', '2']);
    expect(ids(addSent(page(['3', '2']), inquiry('3')))).toEqual(['3', '2']);
    expect(ids(addSent(page(['5', '2'], '2'), inquiry('3')))).toEqual(['5', '3', '2']);
    expect(ids(addSent(page(['5', '4']), inquiry('3')))).toEqual(['5', '4', '3']);
    expect(ids(addSent(page([]), inquiry('3')))).toEqual(['3']);
  });

  it('leaves an inquiry that is older than the pages that are loaded to the next page', () => {
    const loaded = page(['5', '4'], '4');
    expect(addSent(loaded, inquiry('3'))).toEqual(loaded);
    expect(ids(appendOlder(loaded, page(['3', '2'])))).toEqual(['5', '4', '3', '2']);
  });
});
