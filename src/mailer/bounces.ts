/** SES's events about mails that did not arrive, as SNS passes them to the mailer. */
import { isInquiryId } from './rows.ts';

/** A message of SNS, unchecked. */
export type SnsMessage = Readonly<Partial<Record<'Message' | 'MessageId', unknown>>>;

export interface Bounce {
  /** The id of the event, or of the message when SES names none. */
  readonly id: string;
  /** Undefined: the mail is not to the owner of an inquiry. */
  readonly inquiry: string | undefined;
  readonly mail: 'reply' | 'acknowledgement' | undefined;
  readonly address: string;
  readonly isToTeam: boolean;
  /** `maybe`: it may be an automatic reply, such as a note of absence. */
  readonly why: 'bounce' | 'maybe' | 'complaint';
  /** The subtype, as SES names it; may be empty. */
  readonly cause: string;
  /** What the recipient's server said; may be empty. */
  readonly diagnostics: string;
}

/** SNS has passed something that is not an event of SES. It would fail again. */
export class MalformedEvent extends Error {
  override readonly name = 'MalformedEvent';
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the message of a bounce or a complaint
 * (docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html). The tags are those of the mail
 * (src/mailer/ses.ts); a mail without them is one of the user pool. SES reports automatic replies as transient, general
 * bounces.
 *
 * @returns undefined for an event or a text of another kind, such as that with which SES tries the topic.
 * @throws MalformedEvent
 */
export function parseBounce(sns: SnsMessage | null | undefined, team: string): Bounce | undefined {
  const message = sns?.Message;
  if (typeof message !== 'string') throw new MalformedEvent('A message of SNS is not a text.');
  if (!message.startsWith('{')) return undefined;
  const { bounce, complaint, mail } = parseJson(message);
  if (bounce === undefined && complaint === undefined) return undefined;
  const { destination, tags } = toFields(mail);
  const address = textOf(toList(destination)[0]);
  if (address === '') throw new MalformedEvent('An event of SES names no recipient.');
  const kind = textOf(toList(toFields(tags)['mail'])[0]);
  const inquiry = toList(toFields(tags)['inquiry'])[0];
  const isToOwner = (kind === 'reply' || kind === 'acknowledgement') && isInquiryId(inquiry);
  const details = toFields(bounce ?? complaint);
  const cause = textOf(details['bounceSubType']);
  const isMaybe = details['bounceType'] === 'Transient' && cause === 'General';
  return {
    id: textOf(details['feedbackId']) || textOf(sns?.MessageId),
    inquiry: isToOwner ? inquiry : undefined,
    mail: isToOwner ? kind : undefined,
    address,
    isToTeam: address.toLowerCase() === team.toLowerCase() || (kind !== '' && !isToOwner),
    why: bounce === undefined ? 'complaint' : isMaybe ? 'maybe' : 'bounce',
    cause,
    diagnostics: toList(details['bouncedRecipients'])
      .map((recipient) => textOf(toFields(recipient)['diagnosticCode']))
      .filter(Boolean)
      .join('\n'),
  };
}

function parseJson(text: string): Fields {
  try {
    return toFields(JSON.parse(text));
  } catch {
    throw new MalformedEvent('A message of SNS is not JSON.');
  }
}

const toFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
