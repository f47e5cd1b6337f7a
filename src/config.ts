import { isSettingOf, MAXIMA } from './limits.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the function's settings from the environment, once, during initialisation. The SDK reads the other `AWS_*`
 * variables itself.
 *
 * @returns `corsOrigin`, the value of Access-Control-Allow-Origin; `region`, which Lambda sets; `retentionDays`, after
 * which a new inquiry expires, or undefined for never; `inquiriesPerHour`, the most that one owner may send, or undefined for any number.
 * @throws Error naming every required variable that is missing or empty, or the number that is not a whole one from 1
 * to its maximum (src/limits.ts).
 */
export function parseConfig(env: Environment) {
  const { TABLE_NAME: tableName, CORS_ORIGIN: corsOrigin, AWS_REGION: region } = env;
  const retentionDays = readNumber(env, 'RETENTION_DAYS');
  const inquiriesPerHour = readNumber(env, 'INQUIRIES_PER_HOUR');
  if (tableName && corsOrigin) {
    return { tableName, corsOrigin, region, retentionDays, inquiriesPerHour };
  }
  const missing = ['TABLE_NAME', 'CORS_ORIGIN'].filter((name) => !env[name]);
  throw new Error(`Missing environment variables: ${missing.join(', ')}`);
}

function readNumber(env: Environment, name: keyof typeof MAXIMA): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (isSettingOf(name, text)) return Number(text);
  throw new Error(`${name} is not a whole number from 1 to ${MAXIMA[name]}: ${text}`);
}
