/** SES's events about mails that did not arrive, as SNS passes them to the mailer. */
import { isInquiryId } from './rows.ts';

export interface Bounce {
  /** The id of the event. */
  id: string;
  /** Undefined, as `mail`: the mail is not to the owner of an inquiry. */
  inquiry: string | undefined;
  mail: 'reply' | 'acknowledgement' | undefined;
  address: string;
  isToTeam: boolean;
  /** `maybe`: it may be an automatic reply, such as a note of absence. */
  why: 'bounce' | 'maybe' | 'complaint';
  /** The subtype, as SES names it. */
  cause: string | undefined;
  /** What the recipient's server said. */
  diagnostics: string | undefined;
}

/** As far as it is read. */
interface SesEvent {
  mail: { destination: string[]; tags: Partial<Record<string, string[]>> };
  complaint?: { feedbackId: unknown };
  bounce?: {
    feedbackId: unknown;
    bounceType: string;
    bounceSubType: string;
    bouncedRecipients: { diagnosticCode?: string }[];
  };
}

/** SNS has passed something that is not an event of SES. It would fail again. */
export class MalformedEvent extends Error {
  override readonly name = 'MalformedEvent';
}

/**
 * Reads the message of a bounce or a complaint
 * (docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html). The tags are those of the mail
 * (src/mailer/ses.ts); a mail without them is one of the user pool. SES reports automatic replies as transient, general
 * bounces.
 *
 * @returns undefined for an event or a text of another kind, such as that with which SES tries the topic.
 */
export function parseBounce(message: unknown, team: string): Bounce | MalformedEvent | undefined {
  try {
    const text = String(message);
    if (!text.startsWith('{')) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what differs is found malformed, or not read
    const { bounce, complaint, mail } = JSON.parse(text) as SesEvent;
    const report = bounce ?? complaint;
    if (report === undefined) return undefined;
    // Events with the same id are one.
    const { feedbackId: id } = report;
    if (typeof id !== 'string') throw new TypeError('An event of SES has no id.');
    const [address = ''] = mail.destination;
    const [kind] = mail.tags['mail'] ?? [];
    const [inquiry] = mail.tags['inquiry'] ?? [];
    const isToOwner = (kind === 'reply' || kind === 'acknowledgement') && isInquiryId(inquiry);
    const isToTeam =
      address.toLowerCase() === team.toLowerCase() || (kind !== undefined && !isToOwner);
    const isMaybe = bounce?.bounceType === 'Transient' && bounce.bounceSubType === 'General';
    return {
      id,
      inquiry: isToOwner ? inquiry : undefined,
      mail: isToOwner ? kind : undefined,
      address,
      isToTeam,
      why: bounce === undefined ? 'complaint' : isMaybe ? 'maybe' : 'bounce',
      cause: bounce?.bounceSubType,
      diagnostics: bounce?.bouncedRecipients.map((one) => one.diagnosticCode).join('\n'),
    };
  } catch (cause) {
    return new MalformedEvent('A message of SNS is not an event of SES.', { cause });
  }
}
