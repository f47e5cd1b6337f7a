import { createReaders, type Environment } from '../../src/config.ts';
import { parseMailerConfig } from '../config.ts';

export type ReceiverConfig = ReturnType<typeof parseReceiverConfig>;

/** docs/configuration.md @throws Error naming the first variable that is missing or malformed. */
export function parseReceiverConfig(env: Environment) {
  const { read, readNumber, readText } = createReaders(env);
  const mailer = parseMailerConfig(env);
  // Otherwise a mail of ours could come back to us for ever.
  const isElsewhere = (domain: string): boolean =>
    [mailer.inboxTo, mailer.inboxFrom].every((one) => !one.toLowerCase().endsWith(`@${domain}`));
  return {
    ...mailer,
    replyDomain: read('REPLY_DOMAIN', () =>
      mailer.replyDomain && isElsewhere(mailer.replyDomain) ? mailer.replyDomain : undefined,
    ),
    replyFrom: readText('REPLY_FROM').toLowerCase().split(','),
    mailBucket: readText('MAIL_BUCKET'),
    retentionDays: readNumber('RETENTION_DAYS'),
    inquiriesPerHour: readNumber('INQUIRIES_PER_HOUR'),
  };
}
