/** Lambda entry of the receiver. Environment: mail/received/config.ts and the SDK's `AWS_*`. docs/adr/0085 */
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { openTable } from '../../src/entities/table.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { logMail } from '../log.ts';
import { createSendMail } from '../ses.ts';
import { createMailerStore } from '../store.ts';
import { withTrial } from '../trial.ts';
import { parseReceiverConfig } from './config.ts';
import { createRawMails } from './raw-mails.ts';
import { createReceiver } from './receiver.ts';
import { toTrialMails } from './trial.ts';

const config = parseReceiverConfig(process.env);
const { tableName, inquiriesPerHour } = config;
const inquiries = createInquiryStore(createDynamoDbClient(), tableName, config);
const rawMails = createRawMails(config.mailBucket);
const parts = {
  store: createMailerStore(openTable(tableName), config),
  send: createSendMail(config),
  config,
  now: Date.now,
  rawMails,
  create: createInquiries(inquiries, { inquiriesPerHour }).create,
  log: logMail,
};

/** A deployment tries a version with an event and `trial: true` (mail/trial.ts). */
export const handler = withTrial(createReceiver, parts, { rawMails: toTrialMails(rawMails) });
