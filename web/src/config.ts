/** The settings of a stage, read once at start from config.json next to the page. web/README.md */
import { isLanguage, LANGUAGES, type Language, type Text } from '../../src/languages.ts';

/** A setting is invalid. The message tells the owner of the site why, in one sentence. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const LOOPBACK = /^(localhost|127\.0\.0\.1)$/;
const MAX_TOPICS = 12;
/** Where messages say that a setting is; the custom element passes another place. */
const IN_FILE = 'in config.json';

/** What the company says about itself in the form, with readers as in READERS. */
export const BRANDING = {
  /** The text above the form; replaces the default. */
  introduction: readTexts,
  /** What happens after sending, such as “We answer within two working days.” */
  expectation: readTexts,
  /** Subjects to choose from. */
  topics: readTopics,
  /** The mail address that answers come from. */
  answersFrom: readText,
};

/** The settings with their readers, which throw a ConfigError. */
const READERS = {
  ...BRANDING,
  /** The `iss` of the tokens; discovery is at `<issuer>/.well-known/openid-configuration`. */
  issuer: readUrl,
  clientId: readText,
  /** URL of the API without `/inquiries` and without a slash at the end. */
  apiUrl: readUrl,
  /** Separated by spaces. */
  scopes: readScopes,
  /** The issuer's way to sign out: Cognito's /logout, or OpenID Connect's end_session_endpoint. */
  logout: readLogout,
  /** The name of the company; empty: none. */
  name: readText,
  /** The path of a file next to the page. */
  logo: readPath,
  /** `#rrggbb` */
  accent: readColor,
  home: readUrl,
  privacy: readUrl,
  imprint: readUrl,
  /** The languages that are offered. Not empty. */
  languages: readLanguages,
};

const REQUIRED = ['issuer', 'clientId', 'apiUrl'] as const;
const DEFAULTS = {
  scopes: 'openid email',
  logout: 'cognito',
  name: '',
  topics: [],
  languages: LANGUAGES,
} as const;

type Values = { readonly [Key in keyof typeof READERS]: ReturnType<(typeof READERS)[Key]> };
export type Config = Partial<Values> &
  Pick<Values, (typeof REQUIRED)[number] | keyof typeof DEFAULTS>;
export type Branding = Pick<Config, keyof typeof BRANDING>;

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
  const values: Readonly<Partial<Record<string, unknown>>> = { ...json };
  const unknown = Object.keys(values).find((key) => !Object.hasOwn(READERS, key));
  if (unknown !== undefined) throw new ConfigError(`config.json has an unknown key “${unknown}”.`);
  const missing = REQUIRED.find((key) => values[key] === undefined);
  if (missing !== undefined) throw new ConfigError(`“${missing}” is missing in config.json.`);
  const read = Object.entries(READERS)
    .filter(([key]) => values[key] !== undefined)
    .map(([key, reader]) => [key, reader(values[key], key)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- READERS has the type of each key
  return { ...DEFAULTS, ...(Object.fromEntries(read) as Pick<Config, (typeof REQUIRED)[number]>) };
}

function refuse(key: string, must: string, place = IN_FILE): never {
  throw new ConfigError(`“${key}” ${place} must be ${must}.`);
}

function readText(value: unknown, key: string, place?: string): string {
  return typeof value === 'string' && value.trim() !== ''
    ? value
    : refuse(key, 'a text that is not empty', place);
}

/** Removes a slash at the end: the `iss` claim has none. Plain http is allowed for this machine only. */
export function readUrl(value: unknown, key: string, place?: string): string {
  const text = readText(value, key, place);
  const { protocol, hostname } = URL.canParse(text)
    ? new URL(text)
    : { protocol: '', hostname: '' };
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname))) {
    return refuse(key, `an https address, not “${text}”`, place);
  }
  return text.replace(/\/$/, '');
}

/** Without `openid` the issuer sends no ID token, which the API requires. */
function readScopes(value: unknown, key: string): string {
  const text = readText(value, key);
  return text.split(' ').includes('openid') ? text : refuse(key, 'a list with “openid”');
}

function readLogout(value: unknown, key: string): 'cognito' | 'oidc' {
  return value === 'cognito' || value === 'oidc' ? value : refuse(key, '“cognito” or “oidc”');
}

/** A path on the page's own host: the page's policy allows images from nowhere else. */
function readPath(value: unknown, key: string): string {
  const text = readText(value, key);
  return /^[\w-][\w./-]*$/.test(text) ? text : refuse(key, 'the name of a file next to index.html');
}

export function readColor(value: unknown, key: string, place?: string): string {
  const text = readText(value, key, place);
  return /^#[\da-f]{6}$/i.test(text)
    ? text
    : refuse(key, `a colour such as #3f4fd0, not “${text}”`, place);
}

function readTexts(value: unknown, key: string, place?: string): Text {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return readText(value, key, place);
  }
  const texts = Object.entries(value).map(([language, text]) => [
    isLanguage(language)
      ? language
      : refuse(key, `in languages of the form (${LANGUAGES.join(', ')})`, place),
    readText(text, `${key}.${language}`, place),
  ]);
  if (texts.length === 0) return refuse(key, 'a text that is not empty', place);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys were checked
  return Object.fromEntries(texts) as Text;
}

function readTopics(value: unknown, key: string, place?: string): readonly Text[] {
  if (!Array.isArray(value) || value.length > MAX_TOPICS) {
    return refuse(key, `a list of at most ${MAX_TOPICS} texts`, place);
  }
  return value.map((topic, index) => readTexts(topic, `${key}[${index}]`, place));
}

function readLanguages(value: unknown, key: string): readonly Language[] {
  const isValid =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(isLanguage) &&
    new Set(value).size === value.length;
  return isValid
    ? value
    : refuse(key, `a list of languages of the form (${LANGUAGES.join(', ')}), each once`);
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
  if (!response.ok) {
    throw new ConfigError(`config.json could not be loaded: the site answered ${response.status}.`);
  }
  const json: unknown = await response.json().catch((cause: unknown) => {
    throw new ConfigError('config.json is missing or is not JSON.', { cause });
  });
  return parseConfig(json);
}
