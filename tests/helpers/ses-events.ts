import { randomUUID } from 'node:crypto';

/**
 * What is read of the examples of SES’s guide
 * (docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html).
 */
export const toBounce = (bounceType: string, bounceSubType: string) => ({
  bounce: {
    bounceType,
    bounceSubType,
    bouncedRecipients: [{ diagnosticCode: 'smtp; 550 5.1.1 user unknown' }],
  },
});
export const SES_EXAMPLES = {
  bounce: toBounce('Permanent', 'General'),
  complaint: { complaint: { complaintFeedbackType: 'abuse' } },
};

/** Lambda's event for an event of SES with an id of its own, about a mail with these tags, to `to`. */
export function toEvent(
  example: Record<string, object>,
  { to = 'recipient@example.com', ...own }: Record<string, string> = {},
) {
  const feedbackId = randomUUID();
  const reports = Object.entries(example).map(([kind, one]) => [kind, { feedbackId, ...one }]);
  const tags = Object.entries(own).map(([name, value]) => [name, [value]]);
  const mail = { destination: [to], tags: Object.fromEntries(tags) as object };
  const message = { ...Object.fromEntries(reports), mail } as object;
  return { Records: [{ EventSource: 'aws:sns', Sns: { Message: JSON.stringify(message) } }] };
}
