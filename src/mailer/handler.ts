/** Lambda entry of the mailer. Environment: src/mailer/config.ts, and the SDK's own `AWS_*`. docs/adr/0080 */
import { openTable } from '../entities/table.ts';
import { parseMailerConfig } from './config.ts';
import { logMail } from './log.ts';
import { createMailer } from './mailer.ts';
import { createSendMail } from './ses.ts';
import { createMailerStore } from './store.ts';

const config = parseMailerConfig(process.env);

/**
 * Handles batches of the stream, SES's events, the timer's `{ digest: true }`, and `{ ids, again }` from an operator.
 * Two functions run it, one for new inquiries and one for replies: which mails are sent follows from the records.
 *
 * A deployment tries a version with `{ "trial": true, "Records": [record] }`. Everything is done but the sending, also
 * for an inquiry that is not in the table; whatever goes wrong ends the invocation with an error.
 */
export const handler = createMailer({
  store: createMailerStore(openTable(config.tableName), config),
  send: createSendMail(config),
  config,
  now: Date.now,
  log: logMail,
});
