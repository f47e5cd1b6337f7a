/** Drafts, sending and the list of the contact form, without a browser. */
import { describe, expect, it } from 'vitest';
import type { Api, Failure, Page } from '../../web/src/api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createDrafts } from '../../web/src/drafts.ts';
import type { DraftStore } from '../../web/src/drafts.ts';
import { appendOlder, mergeNewest, prependSent } from '../../web/src/inquiries.ts';
import { find, resend, send } from '../../web/src/outbox.ts';

const createStore = (): DraftStore & { size(): number } => {
  const map = new Map<string, string>();
  return {
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => void map.set(key, value),
    removeItem: (key) => void map.delete(key),
    size: () => map.size,
  };
};
const refusing: DraftStore = {
  getItem: () => {
    throw new Error('SecurityError');
  },
  setItem: () => {
    throw new Error('QuotaExceededError');
  },
  removeItem: () => {
    throw new Error('SecurityError');
  },
};
const DRAFT = { subject: 'a', body: 'b' };

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
    first.save({ subject: 'first', body: '' });
    second.save({ subject: 'second', body: '' });
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
    expect(drafts.save({ subject: '', body: '' })).toBe(true);
    expect(own.size() + shared.size()).toBe(0);
  });

  it('of an empty inquiry on its way are kept', () => {
    const drafts = createDrafts(createStore(), createStore(), 'ana');
    const draft = { subject: '', body: '', pending: { newest: null, at: 1 } };
    drafts.save(draft);
    expect(drafts.load()).toEqual(draft);
  });

  it('are kept by one store when the other refuses; when both do, it is said and nothing breaks', () => {
    const drafts = createDrafts(refusing, createStore(), 'ana');
    expect(drafts.save(DRAFT)).toBe(true);
    expect(drafts.load()).toEqual(DRAFT);
    const none = createDrafts(refusing, refusing, 'ana');
    expect(none.save(DRAFT)).toBe(false);
    expect(none.load()).toBeUndefined();
    expect(() => none.clear()).not.toThrow();
  });

  it.each(['', 'no JSON', '7', 'null', '{"subject":1,"body":""}', '{"subject":"x"}'])(
    'that cannot be read (%s) are none',
    (text) => {
      const own = createStore();
      own.setItem('inquiries.draft.ana', text);
      expect(createDrafts(own, createStore(), 'ana').load()).toBeUndefined();
    },
  );

  it('keep their text when only the mark of sending cannot be read', () => {
    const own = createStore();
    own.setItem('inquiries.draft.ana', '{"subject":"a","body":"b","pending":{"newest":7}}');
    expect(createDrafts(own, createStore(), 'ana').load()).toEqual(DRAFT);
  });
});

const inquiry = (id: string, subject = 'a', created_at = new Date().toISOString()): Inquiry => ({
  id,
  cognito_sub: '',
  email: '',
  subject,
  body: 'b',
  created_at,
});
const LOST: Failure = { kind: 'unreachable', mayBeDone: true };

/** A service that stores, or not, and answers, or not. */
const createService = (options: {
  stores: boolean;
  answers?: Failure;
  lists?: Failure;
  stored?: Inquiry[];
}) => {
  const stored = options.stored ?? [];
  let creates = 0;
  const api: Api = {
    list: async () => options.lists ?? { inquiries: stored.toReversed(), next: undefined },
    create: async ({ subject, body }) => {
      creates++;
      const created = { ...inquiry(String(stored.length + 1).padStart(3, '0'), subject), body };
      if (options.stores) stored.push(created);
      return options.answers ?? created;
    },
  };
  return { api, stored, options, creates: () => creates };
};

describe('sending', () => {
  const pending = { newest: '', at: Date.now() };

  it('is done when the service answers', async () => {
    const { api } = createService({ stores: true });
    expect(await send(api, DRAFT, pending)).toMatchObject({ kind: 'sent', inquiry: { id: '001' } });
  });

  it('is done when the answer is lost and the list has the inquiry', async () => {
    const { api, creates } = createService({ stores: true, answers: LOST });
    expect(await send(api, DRAFT, pending)).toMatchObject({ kind: 'sent', inquiry: { id: '001' } });
    expect(creates()).toBe(1);
  });

  it('has failed for certain when the answer is lost and the list does not have it', async () => {
    const { api } = createService({ stores: false, answers: LOST });
    expect(await send(api, DRAFT, pending)).toEqual({ kind: 'not-sent', failure: LOST });
  });

  it('is open when the list cannot be read either', async () => {
    const { api } = createService({ stores: true, answers: LOST, lists: LOST });
    expect(await send(api, DRAFT, pending)).toEqual({ kind: 'unknown', failure: LOST });
  });

  it('does not look into the list when the service has refused', async () => {
    const failure: Failure = { kind: 'too-large', mayBeDone: false };
    const { api } = createService({ stores: false, answers: failure, lists: LOST });
    expect(await send(api, DRAFT, pending)).toEqual({ kind: 'not-sent', failure });
  });

  it('again after a lost answer sends nothing when it had arrived', async () => {
    const service = createService({ stores: true, answers: LOST, lists: LOST });
    await send(service.api, DRAFT, pending);
    delete service.options.lists;
    expect(await resend(service.api, DRAFT, pending)).toMatchObject({ kind: 'sent', inquiry: { id: '001' } });
    expect(service.creates()).toBe(1);
  });

  it('again sends when it had not arrived, and nothing while the list cannot be read', async () => {
    const service = createService({ stores: true, lists: LOST });
    expect(await resend(service.api, DRAFT, pending)).toEqual({ kind: 'unknown', failure: LOST });
    expect(service.creates()).toBe(0);
    delete service.options.lists;
    expect(await resend(service.api, DRAFT, pending)).toMatchObject({ kind: 'sent' });
    expect(service.creates()).toBe(1);
  });

  it('does not take an older inquiry with the same text for the one just sent', async () => {
    const stored = [inquiry('001')];
    const { api } = createService({ stores: false, stored });
    expect(await find(api, DRAFT, { newest: '001', at: 0 })).toBeUndefined();
    expect(await find(api, DRAFT, { newest: '000', at: 0 })).toMatchObject({ id: '001' });
  });

  it('goes by the time when no list was known: minutes by which clocks differ, not hours', async () => {
    const at = Date.now();
    const hourAgo = inquiry('001', 'a', new Date(at - 3_600_000).toISOString());
    const minuteAgo = inquiry('002', 'a', new Date(at - 60_000).toISOString());
    const find1 = (stored: Inquiry[]) =>
      find(createService({ stores: false, stored }).api, DRAFT, { newest: null, at });
    expect(await find1([hourAgo])).toBeUndefined();
    expect(await find1([minuteAgo])).toMatchObject({ id: '002' });
  });

  it('finds a text with half a surrogate pair as the service stores it', async () => {
    const stored = [inquiry('001', '\uFFFD')];
    const { api } = createService({ stores: false, stored });
    expect(await find(api, { subject: '\ud83c', body: 'b' }, { newest: '', at: 0 })).toMatchObject({
      id: '001',
    });
  });
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

  it('shows each inquiry once when pages overlap, and one just sent on top', () => {
    expect(ids(appendOlder(page(['3', '2'], '2'), page(['2', '1'])))).toEqual(['3', '2', '1']);
    expect(ids(prependSent(page(['3', '2']), inquiry('4')))).toEqual(['4', '3', '2']);
    expect(ids(prependSent(page(['3', '2']), inquiry('3')))).toEqual(['3', '2']);
  });
});
