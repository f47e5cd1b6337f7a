import { isInquiryId } from './rows.ts';

export interface Bounce {
  id: string;
  /** Undefined, like `mail`, if the mail is not to an owner. */
  inquiry: string | undefined;
  mail: 'reply' | 'acknowledgement' | undefined;
  address: string;
  isToTeam: boolean;
  /** `maybe`: SES reports an automatic reply in the same way. */
  why: 'bounce' | 'maybe' | 'complaint';
  cause: string | undefined;
  diagnostics: string | undefined;
}

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

/** A message is no event of SES, so a retry would fail. */
export class MalformedEvent extends Error {
  override readonly name = 'MalformedEvent';
}

/**
 * Reads a bounce or complaint (docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html). A mail
 * without tags is the user pool's. SES reports automatic replies as transient, general bounces.
 *
 * @returns undefined for other events, such as SES's test of the topic.
 */
export function parseBounce(message: unknown, team: string): Bounce | MalformedEvent | undefined {
  try {
    const text = String(message);
    if (!text.startsWith('{')) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what differs is found malformed, or not read
    const { bounce, complaint, mail } = JSON.parse(text) as SesEvent;
    const report = bounce ?? complaint;
    if (report === undefined) return undefined;
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
    return new MalformedEvent('A message is not an event of SES.', { cause });
  }
}
