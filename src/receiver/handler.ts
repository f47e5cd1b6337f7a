/** Lambda entry of the receiver. Environment: src/receiver/config.ts and the SDK's `AWS_*`. docs/adr/0085 */
import type { SQSEvent } from 'aws-lambda';
import { createDynamoDbClient } from '../entities/client.ts';
import { createInquiryStore } from '../entities/inquiry-store.ts';
import { openTable } from '../entities/table.ts';
import { createInquiries } from '../inquiries.ts';
import type { Invocation } from '../mailer/attempt.ts';
import { logMail } from '../mailer/log.ts';
import { createSendMail } from '../mailer/ses.ts';
import { createMailerStore } from '../mailer/store.ts';
import { parseReceiverConfig } from './config.ts';
import { createRawMails } from './raw-mails.ts';
import { createReceiver } from './receiver.ts';
import { createReceiverTrial } from './trial.ts';

const config = parseReceiverConfig(process.env);
const { tableName, retentionDays, inquiriesPerHour } = config;
const inquiries = createInquiryStore(createDynamoDbClient(), tableName, { retentionDays });

const parts = {
  store: createMailerStore(openTable(tableName), config),
  send: createSendMail(config),
  config,
  now: Date.now,
  rawMails: createRawMails(config.mailBucket),
  create: createInquiries(inquiries, { inquiriesPerHour }).create,
  log: logMail,
};
const handle = createReceiver(parts);
const tryEvent = createReceiverTrial(parts);

/** A deployment tries a version with an event and `trial: true` (src/receiver/trial.ts). */
export const handler = (event: SQSEvent, invocation: Invocation): Promise<unknown> =>
  ('trial' in event ? tryEvent : handle)(event, invocation);
