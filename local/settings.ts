/** The settings of `npm start`: options and environment variables. */
import { resolve } from 'node:path';
import { isSettingOf, MAXIMA, settingNames } from '../src/limits.ts';
import { isLanguage, LANGUAGES } from '../src/languages.ts';
import { parseOptions, UsageError } from '../lib/command-line.ts';
import { DATA_FOLDER } from '../lib/paths.ts';
import { engineNames } from './database/engines.ts';

const USAGE = `
Usage: npm start -- [options]

  --port N           the gateway's port; issuer, docs, contact form, mailbox and demo take the next five; 0 =
                     any free ports (default: PORT or 3000)
  --engine NAME      ${engineNames.join(' or ')} (default: dynamodb-local if there is a JDK 17 or newer)
  --data FOLDER      where inquiries and the issuer's key are kept (default: .data)
  --in-memory        keep nothing
  --reset            delete the inquiries kept so far
  --seed N           fill a table without inquiries with N from the last six weeks, up to 5,000, in six languages:
                     answered, dismissed and waiting ones, also of ana@example.com; no mails are sent about them
  --inspect[=PORT]   debug the function: Node's inspector on 127.0.0.1 (default: 9229), one sandbox, no timeout
  --cors-origin URL  the origin of a page of yours, such as http://localhost:5173, that may sign in and call the
                     API from a browser, as the contact form may; repeatable
  --watch            reload function and mailer when src/ changes, and apply changes of web/ in the open form
                     (npm run dev)

Limits, retention and mail are set with variables of the environment: docs/configuration.md. An owner with the address
bounce@simulator.amazonses.com or complaint@simulator.amazonses.com is one whose mails bounce or are reported as spam.
`;
const OPTIONS = {
  port: { type: 'string' },
  engine: { type: 'string' },
  data: { type: 'string' },
  'in-memory': { type: 'boolean', default: false },
  inspect: { type: 'string' },
  reset: { type: 'boolean', default: false },
  seed: { type: 'string' },
  watch: { type: 'boolean', default: false },
  'cors-origin': { type: 'string', multiple: true },
} as const;

export type Settings = ReturnType<typeof readSettings>;

/** @throws UsageError for a wrong option or variable. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv) {
  refuseOptionsOfNpm(args, env);
  // parseArgs has no optional values.
  const options = parseOptions(
    USAGE,
    OPTIONS,
    args.map((arg) => (arg === '--inspect' ? '--inspect=9229' : arg)),
  );
  // Issuer, docs, contact form, mailbox and demo take the next five.
  const port = parseNumber('The port', options.port ?? (env['PORT'] || '3000'), 0, 65_530);
  const inspect =
    options.inspect === undefined
      ? undefined
      : parseNumber("The inspector's port", options.inspect, 1, 65_535);
  const engine = engineNames.find((name) => name === options.engine);
  if (options.engine !== undefined && engine === undefined) {
    throw new UsageError(
      `The engine must be ${engineNames.join(' or ')}, not "${options.engine}".`,
    );
  }
  const { 'in-memory': inMemory, reset, data } = options;
  if (inMemory && (reset || data !== undefined)) {
    throw new UsageError(`--in-memory excludes --${reset ? 'reset' : 'data'}.`);
  }
  return {
    port,
    engine,
    /** The data folder; undefined to keep nothing. */
    folder: inMemory ? undefined : resolve(data ?? DATA_FOLDER),
    reset,
    /** How many inquiries to begin with. */
    seed: options.seed === undefined ? undefined : parseNumber('--seed', options.seed, 1, 5_000),
    liveForm: options.watch,
    corsOrigins: (options['cors-origin'] ?? []).map(parseOrigin),
    inspect,
    /** Variables of the function and the mailer. */
    settings: readVariables(env),
  };
}

/** @throws UsageError for anything but a number in the range. */
function parseNumber(name: string, text: string, minimum: number, maximum: number): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= minimum && value <= maximum) return value;
  throw new UsageError(`${name} must be a number from ${minimum} to ${maximum}, not "${text}".`);
}

/** Reads a value of --cors-origin. @throws UsageError unless it is an origin as browsers send it. */
function parseOrigin(text: string): string {
  const url = URL.parse(text);
  const isPage = (url?.protocol === 'http:' || url?.protocol === 'https:') && !/[*,]/.test(text);
  if (isPage && url.origin === text) return text;
  const example = isPage ? url.origin : 'http://localhost:5173';
  throw new UsageError(
    `--cors-origin must be one origin as browsers send it, such as ${example}, not "${text}".`,
  );
}

/** Reads the variables of the functions that are set. @throws UsageError for a value that a stage would not take. */
function readVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const variables: Record<string, string> = {};
  const readVariable = (
    name: string,
    isValid: (value: string) => boolean,
    expected: string,
  ): void => {
    const value = env[name];
    if (!value) return;
    if (!isValid(value)) throw new UsageError(`${name} must be ${expected}, not "${value}".`);
    variables[name] = value;
  };
  for (const name of settingNames) {
    readVariable(name, (value) => isSettingOf(name, value), `a number from 1 to ${MAXIMA[name]}`);
  }
  readVariable('ACKNOWLEDGE', (value) => value === 'true' || value === 'false', 'true or false');
  readVariable('MAIL_LANGUAGE', isLanguage, `one of ${LANGUAGES.join(', ')}`);
  return variables;
}

/**
 * npm takes options before `--` for its own, leaves them in the environment and passes their values as arguments.
 *
 * @throws UsageError with the command to write.
 */
function refuseOptionsOfNpm([first]: readonly string[], env: NodeJS.ProcessEnv): void {
  const names = Object.keys(OPTIONS).filter((name) => env[`npm_config_${name.replace('-', '_')}`]);
  // npm takes --engine for its --engine-strict.
  if (engineNames.some((name) => name === first)) names.push('engine');
  if (names.length === 0) return;
  const command = env['npm_lifecycle_event'] === 'dev' ? 'npm run dev' : 'npm start';
  const rest = names.map((name) =>
    ['port', 'engine', 'data', 'seed', 'cors-origin'].includes(name)
      ? `--${name} <value>`
      : `--${name}`,
  );
  throw new UsageError(
    `npm took --${names.join(' and --')} for itself; write: ${command} -- ${rest.join(' ')}`,
  );
}
