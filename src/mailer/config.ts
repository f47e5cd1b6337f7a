import { createReaders, type Environment } from '../config.ts';
import { isLanguage, type Text } from '../text/languages.ts';
import { toMailbox } from '../text/mailbox.ts';

/** What the mails to owners show of the company: some of the form's settings, which `npm run deploy` has checked. */
interface Company {
  name?: string;
  /** `#rrggbb` */
  accent?: string;
  /** The address of the form, which shows an inquiry by its id. */
  form?: string;
  home?: string;
  privacy?: string;
  imprint?: string;
  /** When an answer can be expected. */
  expectation?: Text;
}

export type MailerConfig = ReturnType<typeof parseMailerConfig>;

/**
 * Reads the mailer's settings from the environment, once, during initialisation.
 *
 * @throws Error naming the first variable that is missing or malformed: `INBOX_TO` and `INBOX_FROM` are addresses without a
 * name, `MAILS_PER_HOUR` (default: 10), `TOTAL_MAILS_PER_HOUR` (100) and `ANSWER_WITHIN` (none) are whole numbers
 * from 1 to their maxima (src/limits.ts), `MAIL_LANGUAGE` is one of src/text/languages.ts (default: en), `ACKNOWLEDGE` is `true`
 * or `false` (default), `COMPANY` is JSON (default: `{}`), `TIME_ZONE` is a name of the IANA database (default: UTC).
 */
export function parseMailerConfig(env: Environment) {
  const { read, readNumber, readText } = createReaders(env);
  return {
    tableName: readText('TABLE_NAME'),
    /** The stage's name, or `local`. */
    stage: read('STAGE', (text) => /^[\w-]+$/.exec(text)?.[0]),
    /** Where new inquiries are sent, and where owners answer. */
    inboxTo: read('INBOX_TO', toMailbox),
    /** The sender of every mail. */
    inboxFrom: read('INBOX_FROM', toMailbox),
    /** Mails about new inquiries of one owner. */
    mailsPerHour: readNumber('MAILS_PER_HOUR') ?? 10,
    /** Mails about new inquiries of all owners. */
    totalMailsPerHour: readNumber('TOTAL_MAILS_PER_HOUR') ?? 100,
    /** Days after which an unanswered inquiry is in the daily mail; undefined: no such mail. */
    answerWithin: readNumber('ANSWER_WITHIN'),
    /** Language of mails to owners whose inquiries name none. Mails to the team are in English. */
    language: read('MAIL_LANGUAGE', (text) => (isLanguage(text) ? text : undefined), 'en'),
    /** Whether owners get a mail that their inquiry has arrived. */
    acknowledge:
      read('ACKNOWLEDGE', (text) => /^(?:true|false)$/.exec(text)?.[0], 'false') === 'true',
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the deployment has checked it
    company: read('COMPANY', (text) => JSON.parse(text) as Company, '{}'),
    /** Of the times in mails. */
    timeZone: read(
      'TIME_ZONE',
      (timeZone) => Intl.DateTimeFormat('en', { timeZone }).resolvedOptions() && timeZone,
      'UTC',
    ),
    /** SES's configuration set, which reports what becomes of the mails; undefined locally. */
    configurationSet: env['CONFIGURATION_SET'],
  };
}
