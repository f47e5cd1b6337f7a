/** What differs between stages: read once, at start, from config.json beside the page. web/README.md */

export interface Config {
  /** The `iss` of the tokens; discovery is at `<issuer>/.well-known/openid-configuration`. */
  readonly issuer: string;
  readonly clientId: string;
  /** The address of the API without the path of an operation, and without a slash at its end. */
  readonly apiUrl: string;
  /** Separated by spaces. */
  readonly scopes: string;
  /** How the issuer signs out: Cognito's /logout, or OpenID Connect's end_session_endpoint. */
  readonly logout: 'cognito' | 'oidc';
}

/** Says in one sentence for the owner of the site what is wrong with config.json. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const KEYS = new Set(['issuer', 'clientId', 'apiUrl', 'scopes', 'logout']);
const LOOPBACK = /^(localhost|127\.0\.0\.1)$/;

/**
 * Narrows what config.json holds.
 *
 * @throws ConfigError naming the first key that is missing, wrong or unknown: a misspelt optional key would
 * otherwise be overlooked.
 */
export function parseConfig(json: unknown): Config {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ConfigError('config.json must hold a JSON object.');
  }
  const values = json as Partial<Record<string, unknown>>;
  const unknown = Object.keys(values).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw new ConfigError(`config.json has an unknown key “${unknown}”.`);
  const scopes = values['scopes'] === undefined ? 'openid email' : readText(values, 'scopes');
  // Without it the issuer sends no ID token, which is what the API takes.
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

/** Without a slash at its end, as issuers write themselves. Plain http is for this machine alone. */
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
 * @throws ConfigError also when it is missing, unreachable or no JSON, as where a host answers every address
 * with its start page.
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
