/**
 * Lambda entry and composition root of the mailer, which sends the mails of a stage. docs/adr/0080
 *
 * Environment: `TABLE_NAME`, `STAGE`, `INBOX_TO` and `INBOX_FROM`, all required, `MAILS_PER_HOUR`,
 * `TOTAL_MAILS_PER_HOUR`, `ANSWER_WITHIN`, `MAIL_LANGUAGE`, `ACKNOWLEDGE`, `COMPANY`, `TIME_ZONE`,
 * `CONFIGURATION_SET`, and the SDK's own `AWS_*` variables. A variable that is missing or malformed fails initialisation with a message that names it.
 */
import { openTable } from '../entities/table.ts';
import { parseMailerConfig } from './config.ts';
import { logMail } from './log.ts';
import { createMailer } from './mailer.ts';
import { createSendMail } from './ses.ts';
import { createMailerStore } from './store.ts';

const config = parseMailerConfig(process.env);

/**
 * Handles batches of the stream, SES's events, the timer's `{ digest: true }`, and `{ ids, again }` from an operator. Two
 * functions run it, one for new inquiries and one for replies: which mails are sent follows from the records alone.
 *
 * A deployment tries a version with `{ "trial": true, "Records": [record] }`, a record of the stream as any other, of an
 * inquiry that need not be in the table. Of a trial, everything is done but the sending: the row is read, the mail is built,
 * the records of the table are read and written. The answer is `{ "batchItemFailures": [] }`; whatever goes wrong, also what is
 * only logged for other records, ends the invocation with an error.
 */
export const handler = createMailer({
  store: createMailerStore(openTable(config.tableName), config),
  send: createSendMail(config),
  config,
  now: Date.now,
  log: logMail,
});
