import { randomUUID } from 'node:crypto';

/** As far as it is read (docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html). */
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

export function toEvent(
  example: Record<string, object>,
  { to = 'recipient@example.com', ...own }: Record<string, string> = {},
  times = 2,
) {
  const feedbackId = randomUUID();
  const reports = Object.entries(example).map(([kind, one]) => [kind, { feedbackId, ...one }]);
  const tags = Object.entries(own).map(([name, value]) => [name, [value]]);
  const mail = { destination: [to], tags: Object.fromEntries(tags) as object };
  const message = { ...Object.fromEntries(reports), mail } as object;
  const attributes = { ApproximateReceiveCount: String(times) };
  return { Records: [{ body: JSON.stringify(message), attributes }] };
}
