import { isSettingOf } from '../limits.ts';
import { isLanguage, type Language } from '../languages.ts';
import { toMailbox } from '../mailbox.ts';
import { parseCompany, type Company } from './company.ts';

export interface MailerConfig {
  readonly tableName: string;
  readonly region: string | undefined;
  /** The stage's name, or `local`. */
  readonly stage: string;
  /** Where new inquiries are sent, and where owners answer. */
  readonly inboxTo: string;
  /** The sender of every mail. */
  readonly inboxFrom: string;
  /** Mails about new inquiries of one owner. */
  readonly mailsPerHour: number;
  /** Mails about new inquiries of all owners. */
  readonly totalMailsPerHour: number;
  /** Days after which an unanswered inquiry is in the daily mail; undefined: no such mail. */
  readonly answerWithin?: number | undefined;
  /** Language of mails to owners whose inquiries name none. Mails to the team are in English. */
  readonly language: Language;
  /** Whether owners get a mail that their inquiry has arrived. */
  readonly acknowledge: boolean;
  readonly company: Company;
  /** Time zone of the times in mails to the team. */
  readonly timeZone: string;
  /** SES's configuration set, which reports what becomes of the mails; undefined locally. */
  readonly configurationSet?: string | undefined;
}

/**
 * Reads the mailer's settings from the environment, once, during initialisation.
 *
 * @throws Error naming the variables that are missing or malformed: `INBOX_TO` and `INBOX_FROM` are addresses without a
 * name, `MAILS_PER_HOUR` (default: 10), `TOTAL_MAILS_PER_HOUR` (100) and `ANSWER_WITHIN` (none) are whole numbers
 * from 1 to their maxima (src/limits.ts), `MAIL_LANGUAGE` is one of src/languages.ts (default: en), `ACKNOWLEDGE` is `true`
 * or `false` (default), `COMPANY` is JSON (default: `{}`), `TIME_ZONE` is a name of the IANA database (default: UTC).
 */
export function parseMailerConfig(env: Readonly<Record<string, string | undefined>>): MailerConfig {
  const { TABLE_NAME, AWS_REGION, STAGE, INBOX_TO, INBOX_FROM, CONFIGURATION_SET } = env;
  const { MAILS_PER_HOUR: mailsPerHour = '10', TOTAL_MAILS_PER_HOUR: totalMailsPerHour = '100' } =
    env;
  const { ANSWER_WITHIN: answerWithin = '', MAIL_LANGUAGE: language = 'en' } = env;
  const {
    ACKNOWLEDGE: acknowledge = 'false',
    COMPANY: companyJson,
    TIME_ZONE: timeZone = 'UTC',
  } = env;
  const company = parseCompany(companyJson ?? '{}');
  const valid = {
    TABLE_NAME: Boolean(TABLE_NAME),
    STAGE: /^[\w-]+$/.test(STAGE ?? ''),
    INBOX_TO: toMailbox(INBOX_TO ?? '') !== undefined,
    INBOX_FROM: toMailbox(INBOX_FROM ?? '') !== undefined,
    MAILS_PER_HOUR: isSettingOf('MAILS_PER_HOUR', mailsPerHour),
    TOTAL_MAILS_PER_HOUR: isSettingOf('TOTAL_MAILS_PER_HOUR', totalMailsPerHour),
    ANSWER_WITHIN: answerWithin === '' || isSettingOf('ANSWER_WITHIN', answerWithin),
    MAIL_LANGUAGE: isLanguage(language),
    ACKNOWLEDGE: acknowledge === 'true' || acknowledge === 'false',
    COMPANY: company !== undefined,
    TIME_ZONE: isTimeZone(timeZone),
  };
  const wrong = Object.entries(valid).flatMap(([name, isValid]) => (isValid ? [] : [name]));
  if (wrong.length > 0 || !isLanguage(language) || company === undefined) {
    throw new Error(`Missing or malformed environment variables: ${wrong.join(', ')}`);
  }
  return {
    tableName: TABLE_NAME ?? '',
    region: AWS_REGION,
    stage: STAGE ?? '',
    inboxTo: INBOX_TO ?? '',
    inboxFrom: INBOX_FROM ?? '',
    mailsPerHour: Number(mailsPerHour),
    totalMailsPerHour: Number(totalMailsPerHour),
    answerWithin: answerWithin === '' ? undefined : Number(answerWithin),
    language,
    acknowledge: acknowledge === 'true',
    company,
    timeZone,
    configurationSet: CONFIGURATION_SET,
  };
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}
