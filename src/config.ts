/** The function's own settings. The SDK reads its `AWS_*` variables itself. */
export interface Config {
  readonly tableName: string;
  /** Value of Access-Control-Allow-Origin. */
  readonly corsOrigin: string;
}

/**
 * Reads the environment once, at initialisation.
 *
 * @throws Error naming every variable that is missing or empty.
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const { TABLE_NAME: tableName, CORS_ORIGIN: corsOrigin } = env;
  if (tableName && corsOrigin) return { tableName, corsOrigin };
  const missing = ['TABLE_NAME', 'CORS_ORIGIN'].filter((name) => !env[name]);
  throw new Error(`Missing environment variables: ${missing.join(', ')}`);
}
