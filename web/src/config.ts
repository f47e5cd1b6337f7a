/** The settings of a stage, read once at start from config.json next to the page. web/README.md */

export interface Config {
  /** The `iss` of the tokens; discovery is at `<issuer>/.well-known/openid-configuration`. */
  readonly issuer: string;
  readonly clientId: string;
  /** URL of the API without `/inquiries` and without a slash at the end. */
  readonly apiUrl: string;
  /** Separated by spaces. */
  readonly scopes: string;
  /** The issuer's way to sign out: Cognito's /logout, or OpenID Connect's end_session_endpoint. */
  readonly logout: 'cognito' | 'oidc';
}

/** config.json is invalid. The message tells the owner of the site why, in one sentence. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const KEYS = new Set(['issuer', 'clientId', 'apiUrl', 'scopes', 'logout']);
const LOOPBACK = /^(localhost|127\.0\.0\.1)$/;

/**
 * Validates the content of config.json.
 *
 * @throws ConfigError naming the first key that is missing, invalid or unknown. Unknown keys are rejected because a
 * misspelt optional key would otherwise have no effect.
 */
export function parseConfig(json: unknown): Config {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ConfigError('config.json must hold a JSON object.');
  }
  const values = json as Partial<Record<string, unknown>>;
  const unknown = Object.keys(values).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw new ConfigError(`config.json has an unknown key “${unknown}”.`);
  const scopes = values['scopes'] === undefined ? 'openid email' : readText(values, 'scopes');
  // Without it the issuer sends no ID token, which the API requires.
  if (!scopes.split(' ').includes('openid')) throw new ConfigError('“scopes” in config.json lacks “openid”.');
  const logout = values['logout'] ?? 'cognito';
  if (logout !== 'cognito' && logout !== 'oidc') {
    throw new ConfigError('“logout” in config.json must be “cognito” or “oidc”.');
  }
  return {
    issuer: readUrl(values, 'issuer'),
    clientId: readText(values, 'clientId'),
    apiUrl: readUrl(values, 'apiUrl'),
    scopes,
    logout,
  };
}

function readText(values: Partial<Record<string, unknown>>, key: string): string {
  const value = values[key];
  if (value === undefined) throw new ConfigError(`“${key}” is missing in config.json.`);
  if (typeof value !== 'string' || value.trim() === '') {
    throw new ConfigError(`“${key}” in config.json must be a text that is not empty.`);
  }
  return value;
}

/** Removes a slash at the end: the `iss` claim has none. Plain http is allowed for this machine only. */
function readUrl(values: Partial<Record<string, unknown>>, key: string): string {
  const text = readText(values, key);
  const { protocol, hostname } = URL.canParse(text) ? new URL(text) : { protocol: '', hostname: '' };
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname))) {
    throw new ConfigError(`“${key}” in config.json must be an https address, not “${text}”.`);
  }
  return text.replace(/\/$/, '');
}

/**
 * Fetches and parses config.json.
 *
 * @throws ConfigError also when the file is missing, cannot be loaded or is not JSON, for example because the host
 * serves its start page for every path.
 */
export async function loadConfig(fetchText: (file: string) => Promise<Response>): Promise<Config> {
  const response = await fetchText('config.json').catch((cause: unknown) => {
    throw new ConfigError('config.json could not be loaded: the site does not answer.', { cause });
  });
  if (!response.ok)
    throw new ConfigError(`config.json could not be loaded: the site answered ${response.status}.`);
  const json: unknown = await response.json().catch((cause: unknown) => {
    throw new ConfigError('config.json is missing or is not JSON.', { cause });
  });
  return parseConfig(json);
}
