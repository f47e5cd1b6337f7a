/** Lambda entry of the mailer. Environment: src/mailer/config.ts, and the SDK's own `AWS_*`. docs/adr/0080 */
import { openTable } from '../entities/table.ts';
import type { Invocation } from './attempt.ts';
import { parseMailerConfig } from './config.ts';
import { logMail } from './log.ts';
import { createMailer } from './mailer.ts';
import { createSendMail } from './ses.ts';
import { createMailerStore } from './store.ts';
import { createTrial } from './trial.ts';

const config = parseMailerConfig(process.env);

/**
 * Handles batches of the stream, SES's events, the timer's `{ digest: true }`, and `{ ids, again }` from an operator.
 * Two functions run it, one for new inquiries and one for replies: which mails are sent follows from the records.
 *
 * A deployment tries a version with `{ "trial": event }` (src/mailer/trial.ts).
 */
const parts = {
  store: createMailerStore(openTable(config.tableName), config),
  send: createSendMail(config),
  config,
  now: Date.now,
};
const handle = createMailer({ ...parts, log: logMail });
const tryEvent = createTrial(parts);

export const handler = (event: object, invocation: Invocation): Promise<unknown> =>
  'trial' in event ? tryEvent(event.trial, invocation) : handle(event, invocation);
