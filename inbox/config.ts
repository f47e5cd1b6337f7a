import { createReaders, type Environment } from '../src/config.ts';
import { toMailbox } from '../text/mailbox.ts';
import type { MailState } from './connect.ts';

const toOrigin = (text: string): string | undefined =>
  URL.parse(text)?.origin === text ? text : undefined;

/** docs/configuration.md @throws Error naming the first variable that is missing or malformed. */
export function parseInboxConfig(env: Environment) {
  const { read, readText } = createReaders(env);
  return {
    tableName: readText('TABLE_NAME'),
    stage: readText('STAGE'),
    origin: read('ORIGIN', toOrigin),
    issuer: readText('ISSUER'),
    signInOrigin: read('SIGN_IN_ORIGIN', toOrigin),
    clientId: readText('CLIENT_ID'),
    team: read('TEAM', (text) => {
      const team = text.toLowerCase().split(',');
      return team.every(toMailbox) ? team : undefined;
    }),
    mail: read('MAIL', (text): MailState | undefined =>
      text === 'sent' || text === 'none' ? text : undefined,
    ),
    timeZone: read(
      'TIME_ZONE',
      (timeZone) => Intl.DateTimeFormat('en', { timeZone }).resolvedOptions() && timeZone,
      'UTC',
    ),
  };
}
