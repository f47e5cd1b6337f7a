/** Lambda entry of the receiver. Environment: src/receiver/config.ts and the SDK's `AWS_*`. docs/adr/0085 */
import type { SESEvent, SQSEvent } from 'aws-lambda';
import { createDynamoDbClient } from '../entities/client.ts';
import { createInquiryStore } from '../entities/inquiry-store.ts';
import { openTable } from '../entities/table.ts';
import { createInquiries } from '../inquiries.ts';
import { createAttempt, type Invocation } from '../mailer/attempt.ts';
import { logMail } from '../mailer/log.ts';
import { createSendMail } from '../mailer/ses.ts';
import { createMailerStore } from '../mailer/store.ts';
import { parseReceiverConfig } from './config.ts';
import { readEvents } from './events.ts';
import { createRawMails } from './raw-mails.ts';
import { createReceiver } from './receiver.ts';

const config = parseReceiverConfig(process.env);
const { tableName, retentionDays, inquiriesPerHour } = config;
const inquiries = createInquiryStore(createDynamoDbClient(), tableName, { retentionDays });

const receive = createReceiver({
  store: createMailerStore(openTable(tableName), config),
  send: createSendMail(config),
  config,
  now: Date.now,
  attempt: createAttempt(logMail),
  rawMails: createRawMails(config.mailBucket),
  create: createInquiries(inquiries, { inquiriesPerHour }).create,
});

/** A deployment tries a version with `{ "Records": [], "trial": true }`. */
export async function handler(event: SESEvent | SQSEvent, invocation: Invocation) {
  const outcomes: string[] = [];
  for (const { ses, requestId } of readEvents(event, invocation.awsRequestId)) {
    outcomes.push(...(await receive(ses, { ...invocation, awsRequestId: requestId })));
  }
  return { outcomes };
}
