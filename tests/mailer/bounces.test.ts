import { anything, assert, oneof, property, string, tuple } from 'fast-check';
import { expect, it } from 'vitest';
import { MalformedEvent, parseBounce } from '../../src/mailer/bounces.ts';
import { SES_EXAMPLES, toBounce, toEvent } from '../helpers/ses-events.ts';

const TEAM = 'support@example.com';
const inquiry = '01a1f794-6f77-70a2-a975-366ad3f1860a';
const parse = (...event: Parameters<typeof toEvent>) =>
  parseBounce(toEvent(...event).Records[0]?.Sns.Message, TEAM);

it.each([
  ['Permanent', 'General', 'bounce'],
  ['Transient', 'MailboxFull', 'bounce'],
  // It may be an automatic reply.
  ['Transient', 'General', 'maybe'],
])('reads a bounce, %s, %s, as %s', (type, cause, why) =>
  expect(parse(toBounce(type, cause), { inquiry, mail: 'reply' })).toEqual({
    id: expect.any(String),
    inquiry,
    mail: 'reply',
    address: 'recipient@example.com',
    isToTeam: false,
    why,
    cause,
    diagnostics: 'smtp; 550 5.1.1 user unknown',
  }),
);

it.each([
  [{ mail: 'inquiry' }, true],
  [{ mail: 'notice', to: 'list-member@example.com' }, true],
  [{ to: TEAM.toUpperCase() }, true],
  [{ mail: 'reply', inquiry: 'x' }, true],
  [{}, false],
])('knows by %j whether the mail was to the team: %s', (tags, isToTeam) =>
  expect(parse(SES_EXAMPLES.complaint, tags)).toMatchObject({ isToTeam, why: 'complaint' }),
);

it.each(['Successfully validated SNS topic.', '{}', '{"eventType":"Delivery"}'])(
  'has nothing to say about %s',
  (message) => expect(parseBounce(message, TEAM)).toBeUndefined(),
);

it('finds an event without an id malformed', () =>
  expect(parse({ ...toBounce('Permanent', 'General'), bounce: {} })).toBeInstanceOf(
    MalformedEvent,
  ));

it('parses any text, or finds it malformed', () => {
  const values = anything({ withNullPrototype: false });
  const events = tuple(values, values, values).map(([destination, tags, bounce]) =>
    JSON.stringify({ mail: { destination, tags }, bounce }, (_, value: unknown) =>
      typeof value === 'bigint' ? 0 : value,
    ),
  );
  const texts = string().map((text) => `{${text}`);
  const parses = (message: unknown): boolean => {
    const bounce = parseBounce(message, TEAM);
    return bounce instanceof MalformedEvent || typeof (bounce?.address ?? '') === 'string';
  };
  expect(() =>
    assert(property(oneof(values, events, texts), parses), { numRuns: 2_000 }),
  ).not.toThrow();
});
