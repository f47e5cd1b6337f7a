/**
 * Reads the function's settings from the environment, once, during initialisation. The SDK reads the other `AWS_*`
 * variables itself.
 *
 * @returns `corsOrigin`, the value of Access-Control-Allow-Origin; `region`, which Lambda sets: without it every
 * request to the database fails and is logged as `RegionMissing`; `retentionDays`, after which a new inquiry expires,
 * or undefined for never.
 * @throws Error naming every required variable that is missing or empty, or RETENTION_DAYS when it is not a whole
 * number from 1 to 36,500 (100 years).
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>) {
  const { TABLE_NAME: tableName, CORS_ORIGIN: corsOrigin, AWS_REGION: region, RETENTION_DAYS: days } = env;
  if (days && !(/^[1-9]\d*$/.test(days) && Number(days) <= 36_500))
    throw new Error(`RETENTION_DAYS is not a whole number from 1 to 36500: ${days}`);
  if (tableName && corsOrigin)
    return { tableName, corsOrigin, region, retentionDays: days ? Number(days) : undefined };
  const missing = ['TABLE_NAME', 'CORS_ORIGIN'].filter((name) => !env[name]);
  throw new Error(`Missing environment variables: ${missing.join(', ')}`);
}
