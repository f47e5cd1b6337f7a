import type { SESEvent, SESMessage, SQSEvent } from 'aws-lambda';

/** What Lambda keeps of an event on which a function has failed (docs/aws-evidence.md). */
interface FailedEvent {
  requestContext: { requestId: string };
  requestPayload: SESEvent;
}

interface Received {
  ses: SESMessage;
  /** The first invocation's, which may have claimed what it could not send. */
  requestId: string;
}

/** From SES, or from the queue of failed invocations. */
export type ReceiverEvent = SESEvent | SQSEvent;

export const readEvents = ({ Records }: ReceiverEvent, requestId: string): Received[] =>
  Records.flatMap((record) => {
    if ('ses' in record) return { ses: record.ses, requestId };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only Lambda writes to the queue
    const { requestContext, requestPayload } = JSON.parse(record.body) as FailedEvent;
    const { requestId: first } = requestContext;
    return requestPayload.Records.map(({ ses }) => ({ ses, requestId: first }));
  });
