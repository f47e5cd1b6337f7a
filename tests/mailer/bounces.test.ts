import { assert, jsonValue, oneof, property, record, string } from 'fast-check';
import { expect, it } from 'vitest';
import { MalformedEvent, parseBounce } from '../../src/mailer/bounces.ts';
import { INQUIRY } from '../helpers/events.ts';
import { SES_EXAMPLES, toBounce, toEvent } from '../helpers/ses-events.ts';

const TEAM = 'support@example.com';
const { id: inquiry } = INQUIRY;
const parse = (...event: Parameters<typeof toEvent>) =>
  parseBounce(toEvent(...event).Records[0]?.body, TEAM);

it.each([
  ['Permanent', 'General', 'bounce'],
  ['Transient', 'MailboxFull', 'bounce'],
  // Maybe an automatic reply.
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

it.each(['{}', '{"eventType":"Delivery"}'])('has nothing to say about %s', (message) =>
  expect(parseBounce(message, TEAM)).toBeUndefined(),
);

it('finds an event without an id malformed', () =>
  expect(parse({ bounce: { feedbackId: undefined } })).toBeInstanceOf(MalformedEvent));

it('parses any text, or finds it malformed', () => {
  const value = jsonValue();
  const mail = oneof(value, record({ destination: value, tags: value }));
  const events = record({ mail, bounce: value }).map((event) => JSON.stringify(event));
  const messages = oneof(
    events,
    string().map((text) => `{${text}`),
  );
  const parses = property(messages, (message) => {
    const bounce = parseBounce(message, TEAM);
    return bounce instanceof MalformedEvent || typeof (bounce?.address ?? '') === 'string';
  });
  expect(() => assert(parses, { numRuns: 2_000 })).not.toThrow();
});
