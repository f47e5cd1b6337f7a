import { createReaders, type Environment } from '../src/config.ts';
import { isLanguage, type Text } from '../text/languages.ts';
import { toMailbox } from '../text/mailbox.ts';

interface Company {
  name?: string;
  accent?: string;
  form?: string;
  home?: string;
  privacy?: string;
  imprint?: string;
  expectation?: Text;
}

export type MailerConfig = ReturnType<typeof parseMailerConfig>;

/** docs/configuration.md @throws Error naming the first variable that is missing or malformed. */
export function parseMailerConfig(env: Environment) {
  const { read, readNumber, readText } = createReaders(env);
  const readBoolean = (name: string): boolean =>
    read(name, (text) => /^(?:true|false)$/.exec(text)?.[0], 'false') === 'true';
  return {
    tableName: readText('TABLE_NAME'),
    hashKey: env['HASH_KEY'],
    stage: read('STAGE', (text) => /^[\w-]+$/.exec(text)?.[0]),
    inboxTo: read('INBOX_TO', toMailbox),
    inboxFrom: read('INBOX_FROM', toMailbox),
    /** Mails about new inquiries of one person. */
    mailsPerHour: readNumber('MAILS_PER_HOUR') ?? 10,
    totalMailsPerHour: readNumber('TOTAL_MAILS_PER_HOUR') ?? 100,
    /** Days until an inquiry is in the daily mail; undefined: no such mail. */
    answerWithin: readNumber('ANSWER_WITHIN'),
    /** Of mails to owners whose inquiries have no language. The team's mails are English. */
    language: read('MAIL_LANGUAGE', (text) => (isLanguage(text) ? text : undefined), 'en'),
    acknowledge: readBoolean('ACKNOWLEDGE'),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the deployment has checked it
    company: read('COMPANY', (text) => JSON.parse(text) as Company, '{}'),
    timeZone: read(
      'TIME_ZONE',
      (timeZone) => Intl.DateTimeFormat('en', { timeZone }).resolvedOptions() && timeZone,
      'UTC',
    ),
    /** Domain of the addresses for answers, in lower case; undefined: no answers by mail. docs/adr/0085 */
    replyDomain:
      read('REPLY_DOMAIN', (text) => /^(?:[a-z\d-]+\.)+[a-z\d-]+$|^$/.exec(text)?.[0]) || undefined,
    followUps: readBoolean('FOLLOW_UPS'),
    /** Of the team's page, with a slash at its end. Undefined: the stage has none. */
    inboxUrl: read('INBOX_URL', (text) => /^(?:https?:\/\/.+\/)?$/.exec(text)?.[0]) || undefined,
    /** Whether mails to the team have a link to the team's page instead of texts. */
    linksOnly: readBoolean('LINKS_ONLY'),
    files: readBoolean('FILES'),
    /** Undefined locally. The team's requires TLS. */
    configurationSet: env['CONFIGURATION_SET'],
    teamConfigurationSet: env['TEAM_CONFIGURATION_SET'],
  };
}
