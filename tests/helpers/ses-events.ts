import { randomUUID } from 'node:crypto';

/**
 * The examples of SES’s guide, with what is read of them
 * (docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html).
 */
const destination = ['recipient@example.com'];
const feedbackId = '01000157c44f053b-61b59c11-9236-11e6-8f96-7be8aexample-000000';
const diagnosticCode = 'smtp; 550 5.1.1 user unknown';
const tags = { 'ses:configuration-set': ['ConfigSet'] };
export const SES_EXAMPLES = {
  bounce: {
    eventType: 'Bounce',
    bounce: {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      bouncedRecipients: [{ emailAddress: destination[0], action: 'failed', diagnosticCode }],
      feedbackId,
    },
    mail: { destination, tags },
  },
  complaint: {
    eventType: 'Complaint',
    complaint: { complaintFeedbackType: 'abuse', feedbackId },
    mail: { destination, tags },
  },
};

/** The bounce with another type and subtype. */
export const toBounce = (bounceType: string, bounceSubType: string) => {
  const { bounce, ...event } = SES_EXAMPLES.bounce;
  return { ...event, bounce: { ...bounce, bounceType, bounceSubType } };
};

/** Lambda's event for an event of SES with an id of its own, about a mail with these tags, to `to`. */
export function toEvent(
  { mail, ...event }: { mail: object; bounce?: object; complaint?: object },
  { to, ...own }: Record<string, string> = {},
) {
  const id = { feedbackId: randomUUID() };
  const message = {
    ...event,
    ...(event.bounce && { bounce: { ...event.bounce, ...id } }),
    ...(event.complaint && { complaint: { ...event.complaint, ...id } }),
    mail: {
      ...mail,
      ...(to !== undefined && { destination: [to] }),
      tags: Object.fromEntries(Object.entries(own).map(([name, value]) => [name, [value]])),
    },
  };
  return { Records: [{ EventSource: 'aws:sns', Sns: { Message: JSON.stringify(message) } }] };
}
