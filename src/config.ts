import MAXIMA from './maxima.json' with { type: 'json' };

export type Environment = Record<string, string | undefined>;

/** Maxima of whole-number settings, by variable. Terraform reads the same file. */
export { MAXIMA };

export const isSettingOf = (name: keyof typeof MAXIMA, text: string): boolean =>
  /^[1-9]\d*$/.test(text) && Number(text) <= MAXIMA[name];

/** @throws Error naming the variable that is missing or malformed. */
export function createReaders(env: Environment) {
  /** @param parse - Throws or returns undefined if the text is malformed. */
  function read<Value>(
    name: string,
    parse: (text: string) => Value | undefined,
    byDefault = '',
  ): Value {
    try {
      const value = parse(env[name] ?? byDefault);
      if (value !== undefined) return value;
    } catch {}
    throw new Error(`Missing or malformed environment variable: ${name}`);
  }
  return {
    read,
    readText: (name: string) => read(name, (text) => text || undefined),
    /** A whole number from 1 to its maximum; undefined when absent. */
    readNumber: (name: keyof typeof MAXIMA) =>
      env[name]
        ? read(name, (text) => (isSettingOf(name, text) ? Number(text) : undefined))
        : undefined,
  };
}

/** @throws Error naming the first variable that is missing or malformed. */
export function parseConfig(env: Environment) {
  const { read, readNumber, readText } = createReaders(env);
  return {
    tableName: readText('TABLE_NAME'),
    hashKey: env['HASH_KEY'],
    storedForMail: read('STORED_FOR_MAIL', (text) => text.split(',')),
    corsOrigin: readText('CORS_ORIGIN'),
    /** Default: inquiries never expire. */
    retentionDays: readNumber('RETENTION_DAYS'),
    /** Default: no limit. */
    inquiriesPerHour: readNumber('INQUIRIES_PER_HOUR'),
  };
}
