/** Lambda entry of the mailer. Environment: mail/config.ts and the SDK's `AWS_*`. docs/adr/0080 */
import { openTable } from '../src/entities/table.ts';
import { parseMailerConfig } from './config.ts';
import { logMail } from './log.ts';
import { createMailer } from './mailer.ts';
import { createSendMail } from './ses.ts';
import { createMailerStore } from './store.ts';
import { withTrial } from './trial.ts';

const config = parseMailerConfig(process.env);

/**
 * Handles the stream's batches, SES's events, the timer's `{ digest: true }` and an operator's `{ ids, again }`. Two
 * functions run it; the records decide which mails are sent. A deployment tries a version with an event and `trial:
 * true` (mail/trial.ts).
 */
export const handler = withTrial(createMailer, {
  store: createMailerStore(openTable(config.tableName), config),
  send: createSendMail(config),
  config,
  now: Date.now,
  log: logMail,
});
