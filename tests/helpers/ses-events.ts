import { randomUUID } from 'node:crypto';

/**
 * The examples of SES’s guide, without the headers of the mail
 * (docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html).
 */
export const SES_EXAMPLES = {
  bounce: String.raw`{"eventType":"Bounce","bounce":{"bounceType":"Permanent","bounceSubType":"General","bouncedRecipients":[{"emailAddress":"recipient@example.com","action":"failed","status":"5.1.1","diagnosticCode":"smtp; 550 5.1.1 user unknown"}],"timestamp":"2017-08-05T00:41:02.669Z","feedbackId":"01000157c44f053b-61b59c11-9236-11e6-8f96-7be8aexample-000000","reportingMTA":"dsn; mta.example.com"},"mail":{"timestamp":"2017-08-05T00:40:02.012Z","source":"Sender Name <sender@example.com>","messageId":"EXAMPLE7c191be45-e9aedb9a-02f9-4d12-a87d-dd0099a07f8a-000000","destination":["recipient@example.com"],"tags":{"ses:configuration-set":["ConfigSet"],"ses:source-ip":["192.0.2.0"],"ses:from-domain":["example.com"],"ses:caller-identity":["ses_user"]}}}`,
  complaint: String.raw`{"eventType":"Complaint","complaint":{"complainedRecipients":[{"emailAddress":"recipient@example.com"}],"timestamp":"2017-08-05T00:41:02.669Z","feedbackId":"01000157c44f053b-61b59c11-9236-11e6-8f96-7be8aexample-000000","userAgent":"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/60.0.3112.90 Safari/537.36","complaintFeedbackType":"abuse","arrivalDate":"2017-08-05T00:41:02.669Z"},"mail":{"timestamp":"2017-08-05T00:40:01.123Z","source":"Sender Name <sender@example.com>","messageId":"EXAMPLE7c191be45-e9aedb9a-02f9-4d12-a87d-dd0099a07f8a-000000","destination":["recipient@example.com"],"tags":{"ses:configuration-set":["ConfigSet"],"ses:source-ip":["192.0.2.0"],"ses:from-domain":["example.com"],"ses:caller-identity":["ses_user"]}}}`,
} as const;

/** Lambda's event for a message of SES with an id of its own, about a mail with these tags, to `to`. */
export function toEvent(message: string, { to, ...tags }: Record<string, string> = {}) {
  const { mail, ...event } = JSON.parse(message) as {
    mail: { destination: string[]; tags: object };
    bounce?: object;
    complaint?: object;
  };
  Object.assign(event.bounce ?? event.complaint ?? {}, { feedbackId: randomUUID() });
  Object.assign(
    mail.tags,
    Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, [value]])),
  );
  if (to !== undefined) mail.destination = [to];
  return {
    Records: [{ EventSource: 'aws:sns', Sns: { Message: JSON.stringify({ ...event, mail }) } }],
  };
}
