import type { SESMessage, SQSEvent } from 'aws-lambda';

interface Received {
  ses: SESMessage;
  /** The queue's message, also when Lambda repeats it. */
  claimant: string;
}

/**
 * SES's notices of mails. SES may also send a text, such as that it has validated the topic.
 *
 * Source: SES Developer Guide, "Notification contents for Amazon SES email receiving".
 */
export const readEvents = ({ Records }: SQSEvent): Received[] =>
  Records.flatMap(({ messageId: claimant, body }) => {
    if (!body.startsWith('{')) return [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only SES publishes to the topic
    const { mail, receipt } = JSON.parse(body) as Partial<SESMessage>;
    return mail && receipt ? [{ ses: { mail, receipt }, claimant }] : [];
  });
