/** The function's settings. */
export interface Config {
  readonly tableName: string;
  /** Value of Access-Control-Allow-Origin. */
  readonly corsOrigin: string;
  /** Lambda sets it. Without it every request to the database fails and is logged as `RegionMissing`. */
  readonly region: string | undefined;
}

/**
 * Reads the environment once, during initialisation. The SDK reads the other `AWS_*` variables itself.
 *
 * @throws Error naming every required variable that is missing or empty.
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const { TABLE_NAME: tableName, CORS_ORIGIN: corsOrigin, AWS_REGION: region } = env;
  if (tableName && corsOrigin) return { tableName, corsOrigin, region };
  const missing = ['TABLE_NAME', 'CORS_ORIGIN'].filter((name) => !env[name]);
  throw new Error(`Missing environment variables: ${missing.join(', ')}`);
}
