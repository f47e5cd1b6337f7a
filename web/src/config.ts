/** web/README.md */
import { isLanguage, LANGUAGES, type Language, type Text } from '../../text/languages.ts';

/** For the site's owner. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Throws a ConfigError. @param part - Such as `[1]`. */
type Refuse = (must: string, part?: string) => never;
type Reader<Value> = (value: unknown, refuse: Refuse) => Value;

const MAX_TOPICS = 12;
/** Plain http is allowed for this machine only. */
const ADDRESS = /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)(:\d+)?(\/|$))/i;

const readText: Reader<string> = (value, refuse) =>
  typeof value === 'string' && value.trim() !== '' ? value : refuse('a text that is not empty');

const readValid =
  (isValid: (text: string) => boolean, must: string): Reader<string> =>
  (value, refuse) => {
    const text = readText(value, refuse);
    return isValid(text) ? text : refuse(`${must}, not “${text}”`);
  };

const readAddress = readValid(
  (text) => ADDRESS.test(text) && URL.canParse(text),
  'an https address',
);
/** Without a slash at the end, as in the `iss` claim. */
export const readUrl: Reader<string> = (value, refuse) =>
  readAddress(value, refuse).replace(/\/$/, '');

export const readApiUrl: Reader<string> = (value, refuse) =>
  readUrl(value, refuse).replace(/\/inquiries$/, '');

export const readColor = readValid(
  (text) => /^#[\da-f]{6}$/i.test(text),
  'a colour such as #3f4fd0',
);

const readTexts: Reader<Text> = (value, refuse) => {
  if (typeof value !== 'object' || value === null) return readText(value, refuse);
  const texts = Object.entries(value).map(([language, text]) => [
    isLanguage(language) ? language : refuse(`in languages of the form (${LANGUAGES.join(', ')})`),
    readText(text, (must) => refuse(must, `.${language}`)),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys were checked
  return texts.length === 0 ? readText('', refuse) : (Object.fromEntries(texts) as Text);
};

const readTopics: Reader<readonly Text[]> = (value, refuse) =>
  Array.isArray(value) && value.length <= MAX_TOPICS
    ? value.map((topic, index) =>
        readTexts(topic, (must, part = '') => refuse(must, `[${index}]${part}`)),
      )
    : refuse(`a list of at most ${MAX_TOPICS} texts`);

const readLanguages: Reader<readonly Language[]> = (value, refuse) =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(isLanguage) &&
  new Set(value).size === value.length
    ? value
    : refuse(`a list of languages of the form (${LANGUAGES.join(', ')}), each once`);

/** Also taken by the element. */
export const BRANDING = {
  introduction: readTexts,
  expectation: readTexts,
  topics: readTopics,
  answersFrom: readText,
  privacy: readUrl,
};

const READERS = {
  ...BRANDING,
  issuer: readUrl,
  clientId: readText,
  apiUrl: readApiUrl,
  /** Without `openid` the issuer sends no ID token. */
  scopes: readValid((text) => text.split(' ').includes('openid'), 'a list with “openid”'),
  logout: readValid((text) => text === 'cognito' || text === 'oidc', '“cognito” or “oidc”'),
  name: readText,
  /** The page's policy allows no other images. */
  logo: readValid((text) => /^[\w-][\w./-]*$/.test(text), 'the name of a file next to index.html'),
  accent: readColor,
  home: readUrl,
  imprint: readUrl,
  languages: readLanguages,
};

const REQUIRED = ['issuer', 'clientId', 'apiUrl'] as const;
const DEFAULTS = {
  scopes: 'openid email',
  name: '',
  topics: [],
  languages: LANGUAGES,
};

type Values = { readonly [Key in keyof typeof READERS]: ReturnType<(typeof READERS)[Key]> };
export type Config = Partial<Values> &
  Pick<Values, (typeof REQUIRED)[number] | keyof typeof DEFAULTS>;
export type Branding = Pick<Config, keyof typeof BRANDING>;

/** @param place - Such as `in config.json`. */
export const refuseAs =
  (key: string, place: string): Refuse =>
  (must, part = '') => {
    throw new ConfigError(`“${key}${part}” ${place} must be ${must}.`);
  };

/** @throws ConfigError naming the first missing, invalid or unknown key. */
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
    .map(([key, reader]) => [key, reader(values[key], refuseAs(key, 'in config.json'))]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- READERS has the type of each key
  return { ...DEFAULTS, ...(Object.fromEntries(read) as Pick<Config, (typeof REQUIRED)[number]>) };
}

/** @throws ConfigError also for a missing file or other text than JSON. */
export async function loadConfig(answer: Promise<Response>): Promise<Config> {
  const response = await answer.catch((cause: unknown) => {
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
