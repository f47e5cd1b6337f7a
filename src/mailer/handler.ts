/**
 * Lambda entry and composition root of the mailer, which sends the mails of a stage. docs/adr/0080
 *
 * Environment: `TABLE_NAME`, `STAGE`, `INBOX_TO` and `INBOX_FROM`, all required, `MAILS_PER_HOUR`,
 * `TOTAL_MAILS_PER_HOUR`, `ANSWER_WITHIN`, `MAIL_LANGUAGE`, `ACKNOWLEDGE`, `COMPANY`, `CONFIGURATION_SET`, and the SDK's
 * own `AWS_*` variables. A variable that is missing or malformed fails initialisation with a message that names it.
 */
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoDbClient } from '../entities/client.ts';
import { parseMailerConfig } from './config.ts';
import { logMail } from './log.ts';
import { createMailer } from './mailer.ts';
import { createSendMail } from './ses.ts';
import { createMailerStore } from './store.ts';

const config = parseMailerConfig(process.env);
const { region } = config;
const client = DynamoDBDocumentClient.from(createDynamoDbClient({ region }));

/** Handles batches of the stream, SES's events, the timer's `{ digest: true }`, and `{ ids, again }` from an operator. */
export const handler = createMailer({
  store: createMailerStore(client, config),
  send: createSendMail(config),
  config,
  // Metrics bypass the console, whose JSON format would wrap the line.
  log: (mail) => logMail(mail, (line) => void process.stdout.write(line)),
});
