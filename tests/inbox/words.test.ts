import { expect, it } from 'vitest';
import { VERBS } from '../../inbox/verbs.ts';
import { nearExpiryOf } from '../../inbox/words.ts';
import { stopClock } from '../helpers/clock.ts';
import { INQUIRY } from '../helpers/events.ts';
import { readText } from '../helpers/repository.ts';

const DAY = 86_400;
const NOW = 1_800_000_000;
it.each<[string, number | undefined, string | undefined, boolean]>([
  ['in less than 7 days', NOW + 7 * DAY - 1, undefined, true],
  ['in 7 days', NOW + 7 * DAY, undefined, false],
  ['never', undefined, undefined, false],
  ['in a day, and is answered', NOW + DAY, INQUIRY.created_at, false],
])(
  'lists say when an inquiry expires that does so %s, or not',
  (_, expires_at, reply_at, isNear) => {
    stopClock(NOW * 1_000);
    const row = {
      ...INQUIRY,
      ...(expires_at !== undefined && { expires_at }),
      ...(reply_at !== undefined && { reply_at }),
    };
    expect(nearExpiryOf(row)).toBe(isNear ? Number(expires_at) * 1_000 : undefined);
  },
);

it.each(Object.entries(VERBS))('docs/inbox.md has the verb %s', (name, { takes }) =>
  expect(readText('docs/inbox.md')).toMatch(
    name.startsWith('--')
      ? `-- ${name}\``
      : `\n| \`${takes === undefined ? name : `${name} ${takes}`}\` `,
  ),
);
