import { assert, jsonValue, oneof, property, record, string } from 'fast-check';
import { expect, it } from 'vitest';
import { MalformedEvent, parseBounce } from '../../mail/bounces.ts';
import { INQUIRY } from '../helpers/events.ts';
import { SES_EXAMPLES, toBounce, toEvent } from './ses-events.ts';

const TEAM = 'support@example.com';
const { bounce, complaint } = SES_EXAMPLES;
const REPLY = { inquiry: INQUIRY.id, mail: 'reply' };
const EVENTS: Parameters<typeof toEvent>[] = [
  [bounce, REPLY],
  [toBounce('Transient', 'MailboxFull'), REPLY],
  // Maybe an automatic reply.
  [toBounce('Transient', 'General'), REPLY],
  [complaint, { mail: 'inquiry' }],
  [complaint, { mail: 'notice', to: 'list-member@example.com' }],
  [complaint, { to: TEAM.toUpperCase() }],
  [complaint, { ...REPLY, inquiry: 'x' }],
  [complaint, {}],
  [{}, {}],
];
const parse = (...event: Parameters<typeof toEvent>) =>
  parseBounce(toEvent(...event).Records[0]?.body, TEAM);

it('reads of each event what golden has', async () => {
  const read = EVENTS.map((event) => JSON.stringify([event, parse(...event)])).join('\n');
  const shown = read.replaceAll(/(?<="id":")[^"]*/g, '…');
  expect(shown).toMatchSnapshot();
});

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
    const read = parseBounce(message, TEAM);
    return read instanceof MalformedEvent || typeof (read?.address ?? '') === 'string';
  });
  expect(() => assert(parses, { numRuns: 2_000 })).not.toThrow();
});
