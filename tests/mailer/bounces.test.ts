import { anything, assert, oneof, property, string, tuple } from 'fast-check';
import { expect, it } from 'vitest';
import { MalformedEvent, parseBounce } from '../../src/mailer/bounces.ts';
import { SES_EXAMPLES, toEvent } from '../helpers/ses-events.ts';

const TEAM = 'support@example.com';
const inquiry = '01a1f794-6f77-70a2-a975-366ad3f1860a';
const parse = (message: string, tags?: Record<string, string>) =>
  parseBounce(toEvent(message, tags).Records[0]?.Sns, TEAM);

it.each([
  ['Permanent', 'General', 'bounce'],
  ['Permanent', 'NoEmail', 'bounce'],
  ['Transient', 'MailboxFull', 'bounce'],
  // It may be an automatic reply.
  ['Transient', 'General', 'maybe'],
])('reads a bounce, %s, %s, as %s', (type, subtype, why) => {
  const message = SES_EXAMPLES.bounce
    .replace('"Permanent"', `"${type}"`)
    .replace('"General"', `"${subtype}"`);
  expect(parse(message, { inquiry, mail: 'reply' })).toEqual({
    id: expect.any(String),
    inquiry,
    mail: 'reply',
    address: 'recipient@example.com',
    isToTeam: false,
    why,
    cause: subtype,
    diagnostics: 'smtp; 550 5.1.1 user unknown',
  });
});

it.each([
  [{ mail: 'inquiry' }, true],
  [{ mail: 'notice', to: 'list-member@example.com' }, true],
  [{ to: TEAM.toUpperCase() }, true],
  [{ mail: 'reply', inquiry: 'x' }, true],
  [{}, false],
])('knows by %j whether the mail was to the team: %s', (tags, isToTeam) => {
  expect(parse(SES_EXAMPLES.complaint, tags)).toMatchObject({ isToTeam, why: 'complaint' });
});

it('takes the id of the message where SES names none', () => {
  const Message = SES_EXAMPLES.complaint.replaceAll('feedbackId', 'x');
  expect(parseBounce({ Message, MessageId: 'm' }, TEAM)).toMatchObject({ id: 'm' });
});

it.each(['Successfully validated SNS topic.', '{}', '{"eventType":"Delivery"}'])(
  'has nothing to say about %s',
  (Message) => expect(parseBounce({ Message }, TEAM)).toBeUndefined(),
);

it.each([5, '{', '{"bounce":{}}'])('refuses %j as malformed', (Message) =>
  expect(() => parseBounce({ Message }, TEAM)).toThrow(MalformedEvent),
);

it('parses any text, or refuses it as malformed', () => {
  const values = anything({ withNullPrototype: false });
  const events = tuple(values, values, values).map(([destination, tags, bounce]) =>
    JSON.stringify({ mail: { destination, tags }, bounce }, (_, value: unknown) =>
      typeof value === 'bigint' ? 0 : value,
    ),
  );
  const messages = oneof(
    values,
    events,
    string().map((text) => `{${text}`),
  );
  const parses = (Message: unknown): boolean => {
    try {
      return parseBounce({ Message }, TEAM)?.address !== '';
    } catch (error) {
      return error instanceof MalformedEvent;
    }
  };
  expect(() => assert(property(messages, parses), { numRuns: 2_000 })).not.toThrow();
});
