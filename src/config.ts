/**
 * Reads the function's settings from the environment, once, during initialisation. The SDK reads the other `AWS_*`
 * variables itself.
 *
 * @returns `corsOrigin`, the value of Access-Control-Allow-Origin; `region`, which Lambda sets: without it every
 * request to the database fails and is logged as `RegionMissing`.
 * @throws Error naming every required variable that is missing or empty.
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>) {
  const { TABLE_NAME: tableName, CORS_ORIGIN: corsOrigin, AWS_REGION: region } = env;
  if (tableName && corsOrigin) return { tableName, corsOrigin, region };
  const missing = ['TABLE_NAME', 'CORS_ORIGIN'].filter((name) => !env[name]);
  throw new Error(`Missing environment variables: ${missing.join(', ')}`);
}
