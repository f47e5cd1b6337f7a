import { describe, expect, it } from 'vitest';
import { formatAge } from '../../inbox/page/age.ts';
import { createDrafts } from '../../inbox/page/drafts.ts';

it.each([
  ['2026-11-21T12:00:00Z', 'now'],
  ['2026-11-21T11:59:01Z', 'now'],
  ['2026-11-21T11:59:00Z', '1 minute ago'],
  ['2026-11-21T11:00:01Z', '59 minutes ago'],
  ['2026-11-20T12:00:01Z', '23 hours ago'],
  ['2026-11-19T12:00:01Z', '1 day ago'],
  ['2026-11-07T12:00:00Z', '2 weeks ago'],
  ['2026-08-21T12:00:00Z', '3 months ago'],
  ['2024-11-20T12:00:00Z', '2 years ago'],
  ['2026-11-21T12:00:59Z', 'now'],
  ['2026-11-24T11:59:59Z', 'in 2 days'],
])('the age of %s is %s', (time, age) => {
  expect(formatAge(Date.parse(time), Date.parse('2026-11-21T12:00:00Z'))).toBe(age);
});

describe('drafts of replies', () => {
  const createStorage = (value: string | null = null) => {
    let stored = value;
    return {
      getItem: () => stored,
      setItem: (_key: string, text: string) => void (stored = text),
    };
  };

  it('stay in memory where the storage is full or forbidden', () => {
    const refuse = () => {
      throw new Error('QuotaExceededError');
    };
    const drafts = createDrafts({ getItem: refuse, setItem: refuse });
    drafts.set('a', 'one');
    expect(drafts.get('a')).toBe('one');
  });

  it.each(['', '{', '{}', 'null', '[1]'])('%j in the storage is no draft', (value) => {
    expect(createDrafts(createStorage(value)).isEmpty()).toBe(true);
  });
});
