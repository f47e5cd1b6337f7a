/** SES's events about mails that did not arrive, as SNS passes them to the mailer. */
import type { SNSEvent } from 'aws-lambda';
import { INQUIRY_ID } from '../limits.ts';
import type { Failure } from './mails.ts';

export interface Bounce extends Failure {
  readonly why: 'bounce' | 'maybe' | 'complaint';
  /** The id of the event. */
  readonly id: string;
  /** The id of the inquiry, if it is a mail to its owner. */
  readonly inquiry: string | undefined;
  readonly isToTeam: boolean;
}

/** docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html */
interface SesEvent {
  readonly bounce?: {
    readonly bounceType?: string;
    readonly bounceSubType?: string;
    readonly bouncedRecipients?: readonly { readonly diagnosticCode?: string }[];
    readonly feedbackId?: string;
  };
  readonly complaint?: { readonly complaintFeedbackType?: string; readonly feedbackId?: string };
  readonly mail?: {
    readonly destination?: readonly string[];
    readonly tags?: Readonly<Record<string, readonly string[]>>;
  };
}

export const isSnsEvent = (event: unknown): event is SNSEvent => hasRecords(event, 'Sns');

/** Whether all records of an event, which may have none, are of a source. @param name - Of the field that only it sets. */
export const hasRecords = (event: unknown, name: string): boolean =>
  typeof event === 'object' &&
  event !== null &&
  'Records' in event &&
  Array.isArray(event.Records) &&
  event.Records.every((entry: object) => name in entry);

/**
 * Reads the message of a bounce or a complaint. The tags are those of the mail (src/mailer/ses.ts); a mail without them
 * is one of the user pool. SES reports automatic replies, such as a note of absence, as transient, general bounces.
 *
 * @returns undefined for any other message, such as that with which SES tries the topic.
 */
export function parseBounce(message: string, team: string): Bounce | undefined {
  if (!message.startsWith('{')) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only SES may publish, and every field is optional
  const { bounce, complaint, mail } = JSON.parse(message) as SesEvent;
  const [address] = mail?.destination ?? [];
  if (address === undefined || (bounce ?? complaint) === undefined) return undefined;
  const { mail: [kind] = [], inquiry: [inquiry = ''] = [] } = mail?.tags ?? {};
  const isToOwner = (kind === 'reply' || kind === 'acknowledgement') && INQUIRY_ID.test(inquiry);
  const { bounceType = '', bounceSubType = '', bouncedRecipients = [] } = bounce ?? {};
  const diagnostics = bouncedRecipients.map(({ diagnosticCode = '' }) => diagnosticCode);
  return {
    id: bounce?.feedbackId ?? complaint?.feedbackId ?? '',
    inquiry: isToOwner ? inquiry : undefined,
    mail: isToOwner ? kind : undefined,
    address,
    isToTeam: address.toLowerCase() === team.toLowerCase() || (kind !== undefined && !isToOwner),
    why:
      bounce === undefined
        ? 'complaint'
        : bounceType === 'Transient' && bounceSubType === 'General'
          ? 'maybe'
          : 'bounce',
    reason: [bounceType, bounceSubType, complaint?.complaintFeedbackType ?? '', ...diagnostics]
      .filter((part) => part !== '')
      .join(', '),
  };
}
