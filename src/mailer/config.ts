import { createReaders, type Environment } from '../config.ts';
import { isLanguage, type Text } from '../text/languages.ts';
import { toMailbox } from '../text/mailbox.ts';

/** Some of the form's settings, which `npm run deploy` has checked. */
interface Company {
  name?: string;
  /** `#rrggbb` */
  accent?: string;
  form?: string;
  home?: string;
  privacy?: string;
  imprint?: string;
  /** When an answer can be expected. */
  expectation?: Text;
}

export type MailerConfig = ReturnType<typeof parseMailerConfig>;

/**
 * Reads the mailer's settings, once, during initialisation. docs/configuration.md has their meaning and defaults.
 *
 * @throws Error naming the first variable that is missing or malformed.
 */
export function parseMailerConfig(env: Environment) {
  const { read, readNumber, readText } = createReaders(env);
  return {
    tableName: readText('TABLE_NAME'),
    stage: read('STAGE', (text) => /^[\w-]+$/.exec(text)?.[0]),
    /** Where new inquiries are sent, and where owners answer. */
    inboxTo: read('INBOX_TO', toMailbox),
    inboxFrom: read('INBOX_FROM', toMailbox),
    /** About new inquiries of one owner, and below, of all. */
    mailsPerHour: readNumber('MAILS_PER_HOUR') ?? 10,
    totalMailsPerHour: readNumber('TOTAL_MAILS_PER_HOUR') ?? 100,
    /** Days after which an unanswered inquiry is in the daily mail; undefined: no such mail. */
    answerWithin: readNumber('ANSWER_WITHIN'),
    /** Language of mails to owners whose inquiries name none. Mails to the team are in English. */
    language: read('MAIL_LANGUAGE', (text) => (isLanguage(text) ? text : undefined), 'en'),
    acknowledge:
      read('ACKNOWLEDGE', (text) => /^(?:true|false)$/.exec(text)?.[0], 'false') === 'true',
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the deployment has checked it
    company: read('COMPANY', (text) => JSON.parse(text) as Company, '{}'),
    timeZone: read(
      'TIME_ZONE',
      (timeZone) => Intl.DateTimeFormat('en', { timeZone }).resolvedOptions() && timeZone,
      'UTC',
    ),
    /** Undefined locally. */
    configurationSet: env['CONFIGURATION_SET'],
  };
}
